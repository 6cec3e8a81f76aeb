import ConnectionFSM
import NetSim
import Testing

@Suite struct ConservationTests {
  @Test(
    "F59: a chat client under random weather keeps every invariant and conserves its messages",
    arguments: 0..<20)
  func chat(_ block: UInt64) throws {
    for seed in block * 50..<(block + 1) * 50 {
      let run = try ChatRun(seed: seed)
      let report: ChatRun.Report
      do { report = try run.run() } catch {
        Issue.record("seed \(seed): \(error)")
        continue
      }
      try Self.check(report, run)
    }
  }

  private static func check(_ report: ChatRun.Report, _ run: ChatRun) throws {
    let context = "seed \(run.seed), \(report.families)"
    var judge = TraceJudge(policy: run.policy, seed: run.seed)
    do {
      for record in report.records { try judge.judge(record) }
    } catch {
      Issue.record("\(context): \(error)")
    }
    #expect(judge.liveTransports == 0, "\(context)")
    let healthy = report.healthyAt.map { $0 - .origin }
    let bound = ChatWeather.healedAt + ChatRun.bound
    #expect(healthy.map { $0 <= bound } == true, "\(context): healthy at \(healthy as Any)")
    checkConservation(report, context)
  }

  /// Every message has one end, and the server has read what that end says.
  private static func checkConservation(_ report: ChatRun.Report, _ context: String) {
    #expect(report.ends.count == 60, "\(context)")
    var times: [String: Int] = [:]
    for (_, label) in report.received { times[label, default: 0] += 1 }
    for end in report.ends {
      let count = times[end.label] ?? 0
      switch end.result {
      case .failure, .success(.expired), .success(.evicted), .success(.cancelled):
        #expect(count == 0, "\(context): \(end) and was read")
      case .success(.written), .success(.inDoubt):
        if end.lane == 0 { #expect(count <= 1, "\(context): \(end) and was read \(count) times") }
      case .success(.acknowledged):
        #expect(count >= 1, "\(context): \(end) and was never read")
      }
    }
    // On one connection the messages of a lane come in the order in which they were given.
    for lane in ["0-", "1-"] {
      var last: [Int: Int] = [:]
      for (connection, label) in report.received where label.hasPrefix(lane) {
        guard let number = Int(label.dropFirst(2)) else { continue }
        #expect(number > last[connection] ?? 0, "\(context): \(label) on \(connection)")
        last[connection] = number
      }
    }
  }
}
