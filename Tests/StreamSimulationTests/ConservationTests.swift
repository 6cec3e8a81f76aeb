import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite struct ConservationTests {
  /// One digest a line, of the seeds from 0. A run with `DIGESTS=FILE` in its environment writes
  /// them to the file instead of comparing, where a change is meant.
  private static let golden: [String] = {
    let url = Bundle.module.url(forResource: "Fixtures/digests", withExtension: "txt")
    let text = url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    return text.split(separator: "\n").map(String.init)
  }()

  private static let blockSize = 50

  @Test(
    "F59: a chat client in 1,000 kinds of weather keeps its promises and is the same as ever",
    arguments: 0..<20)
  func chat(_ block: Int) throws {
    var digests: [String] = []
    for seed in block * Self.blockSize..<(block + 1) * Self.blockSize {
      let run = try ChatRun(seed: UInt64(seed))
      let report: ChatRun.Report
      do { report = try run.run() } catch {
        Issue.record("seed \(seed): \(error)")
        continue
      }
      Self.check(report, run)
      digests.append(report.digest)
    }
    let expected = Self.golden.dropFirst(block * Self.blockSize).prefix(Self.blockSize)
    if let file = ProcessInfo.processInfo.environment["DIGESTS"] {
      try digests.joined(separator: "\n").write(
        toFile: "\(file).\(block)", atomically: true, encoding: .utf8)
    } else {
      let different = zip(digests, expected).enumerated().filter { $0.element.0 != $0.element.1 }
        .map { block * Self.blockSize + $0.offset }
      #expect(different == [], "seeds whose trace has changed")
      #expect(digests.count == expected.count)
    }
  }

  @Test("F59: two runs of one seed are equal in every event", arguments: 0..<20)
  func twice(_ seed: UInt64) throws {
    try Determinism.check(seed: seed) { seed, log in
      let report = try ChatRun(seed: seed).run()
      for record in report.records {
        log.record("\(record.input): \(record.disposition), \(record.to)", at: record.instant)
      }
      for (connection, label) in report.received {
        log.record("\(connection) \(label)", at: .origin)
      }
    }
  }

  private static func check(_ report: ChatRun.Report, _ run: ChatRun) {
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
    let heard = Set(report.delivered)
    for end in report.ends {
      let count = times[end.label] ?? 0
      switch end.result {
      case .failure, .success(.expired), .success(.evicted), .success(.cancelled):
        #expect(count == 0, "\(context): \(end) and was read")
      case .success(.written), .success(.inDoubt):
        if end.lane == 0 { #expect(count <= 1, "\(context): \(end) and was read \(count) times") }
      case .success(.acknowledged):
        #expect(count >= 1, "\(context): \(end) and was never read")
        // The acknowledgement is an echo, which the application is to read.
        #expect(heard.contains(end.label), "\(context): \(end) and its echo was lost")
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
