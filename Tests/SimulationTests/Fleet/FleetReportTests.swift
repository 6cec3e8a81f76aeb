import ConnectionFSM
import NetSim
import Testing

/// What a report says of a fleet so small that it can be reckoned by hand: messages take 25 ms, a
/// handshake 2 ms.
@Suite("reports on fleets")
struct FleetReportTests {
  @Test("a wait counts from the loss to the dial, a dial to its answer, and then it is open")
  func reckonsPhases() throws {
    // Refused from 3 s to 3.05 s, and let in from 6.05 s to 6.102 s.
    let one = try Self.run(clients: 1, waits: [.seconds(3)], outage: .restart(down: .seconds(5)))
    #expect(one.dials == 2 && one.refused == 1)
    Self.expect(one, waiting: 6, dialling: 0.102, open: 0, duration: 6.102)
    // One after the other from 3.025 s, and home at 3.052 s and 3.054 s.
    let two = try Self.run(clients: 2, waits: [.seconds(3)], outage: .restart(down: .zero))
    Self.expect(two, waiting: 6, dialling: 0.106, open: 0.002, duration: 3.054)
  }

  @Test("a client that a drain has not reached is in no phase")
  func reckonsDrains() throws {
    // Lost at 0 s and 5 s, back at 3.052 s and 8.052 s.
    let report = try Self.run(clients: 2, waits: [.seconds(3)], outage: .drain(over: .seconds(10)))
    Self.expect(report, waiting: 6, dialling: 0.104, open: 5, duration: 8.052)
  }

  @Test("the radio wakes for a dial that comes more than ten seconds after the last answer")
  func countsRadioWakeUps() throws {
    for (wait, wakeUps) in [
      (TimeSpan.seconds(3), 1), (.seconds(10), 1), (.nanoseconds(10_000_000_001), 2),
    ] {
      let report = try Self.run(
        clients: 1, waits: [.seconds(10), wait], outage: .restart(down: .seconds(11)))
      #expect(report.dials == 2 && report.refused == 1)
      #expect(report.radioWakeUps == wakeUps, "a wait of \(wait)")
    }
  }

  @Test("the radio wakes for an answer that comes more than ten seconds after the dial")
  func countsAnswers() throws {
    let report = try Self.run(
      clients: 1, waits: [.seconds(3)], outage: .restart(down: .zero), serviceTime: .seconds(11))
    #expect(report.dials == 1 && report.connected == 1)
    #expect(report.radioWakeUps == 2)
  }

  @Test("F13: whoever a server sends away for half a minute does not come back earlier")
  func staysAway() throws {
    let report = try Self.run(clients: 50, waits: [.seconds(1)], outage: .restart(down: .zero)) {
      $0.shedding = FleetServer.Shedding(queueLimit: 10, retryAfter: 30)
    }
    #expect(report.shed >= 40 && report.connected == 50)
    // All dial at once, and the last of the forty hears of it at 1.05 s.
    #expect(report.series[10].dials == 50)
    #expect(report.series[11..<310].allSatisfy { $0.dials == 0 })
  }

  private static func run(
    clients: Int, waits: [TimeSpan], outage: FleetServer.Outage,
    serviceTime: TimeSpan = .milliseconds(2), change: (inout FleetServer) -> Void = { _ in }
  ) throws -> FleetReport {
    let policy = try Policy(
      connectDeadline: .seconds(20),
      backoff: Backoff(
        strategy: .table(Backoff.Table(waits)), cap: .seconds(60), jitter: .none),
      minimumDialSpacing: .zero, heartbeat: nil)
    var server = FleetServer(serviceTime: serviceTime, backlog: 100, outage: outage)
    change(&server)
    return try FleetSimulation(clients: clients, policy: policy, server: server).run()
  }

  private static func expect(
    _ report: FleetReport, waiting: Double, dialling: Double, open: Double, duration: Double
  ) {
    #expect(abs(report.waiting - waiting) < 1e-9)
    #expect(abs(report.dialling - dialling) < 1e-9)
    #expect(abs(report.open - open) < 1e-9)
    #expect(abs(Double(report.duration.nanoseconds) / 1e9 - duration) < 1e-9)
  }
}
