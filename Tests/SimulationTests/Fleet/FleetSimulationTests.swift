import ConnectionFSM
import NetSim
import Testing

/// Fleets that come back to a server with a line, against figures that another program computed.
@Suite("fleets and a server with a line")
struct FleetSimulationTests {
  @Test(
    "clients without jitter come back as the reference says, to its last digit",
    arguments: FleetReference.Scenario.patient, FleetReference.Client.unjittered)
  func agreesToTheDigit(
    scenario: FleetReference.Scenario, client: FleetReference.Client
  ) throws {
    let row = try FleetReference.row(scenario, client)
    for (name, value) in FleetReference.measures(try FleetReference.run(scenario, client)) {
      let expected = try #require(row["\(name)_mean"])
      // Half a unit of the last of the three printed digits.
      #expect(abs(value - expected) <= 0.000_501, "\(name): \(value), not \(expected)")
    }
  }

  /// The reference counts in floating seconds, whose rounding decides whether a handshake that ends
  /// at the instant of an arrival has left the line: a dial in each round, where clients give up in
  /// line and come back to it. A plain loop in whole microseconds has no such ties to lose.
  @Test(
    "clients that give up in line come back as a plain loop says, exactly, and as the reference",
    arguments: FleetReference.Client.unjittered)
  func agreesWhereClientsGiveUp(client: FleetReference.Client) throws {
    let scenario = FleetReference.Scenario.giveUp
    let report = try FleetReference.run(scenario, client)
    let naive = NaiveFleet(
      clients: 10_000, server: scenario.server, connectDeadline: scenario.connectDeadline,
      backoff: client.backoff)
    #expect(report.dials == naive.dials)
    #expect(report.refused == naive.refused)
    #expect(report.dropped == naive.dropped)
    #expect(report.wasted == naive.wasted)
    #expect(report.served == naive.served)
    for (percent, place) in [(50, 5_000), (95, 9_500), (99, 9_900), (100, 9_999)] {
      #expect(report.time(percent: percent) == .microseconds(Int64(naive.connections[place])))
    }
    let row = try FleetReference.row(scenario, client)
    let rounds = Double(naive.rounds)
    for (name, value) in FleetReference.measures(report) {
      let expected = try #require(row["\(name)_mean"])
      let isTime = name.hasPrefix("t")
      let moved = isTime ? 0.002 * rounds : name == "att" ? rounds / 10_000 : rounds
      #expect(abs(value - expected) <= moved + 0.000_501, "\(name): \(value), not \(expected)")
    }
  }

  @Test(
    "clients with jitter come back within four standard deviations of the reference",
    arguments: FleetReference.Scenario.patient, FleetReference.Client.jittered)
  func agreesWithinDeviations(
    scenario: FleetReference.Scenario, client: FleetReference.Client
  ) throws {
    let row = try FleetReference.row(scenario, client)
    for (name, value) in FleetReference.measures(try FleetReference.run(scenario, client)) {
      let expected = try #require(row["\(name)_mean"])
      let deviation = try #require(row["\(name)_sd"])
      #expect(
        abs(value - expected) <= 4 * deviation + 0.000_501,
        "\(name): \(value), not \(expected) ± 4 · \(deviation)")
    }
  }

  @Test("a server that sheds load answers instead of letting dials vanish")
  func sheds() throws {
    let report = try Self.run(outage: .restart(down: .seconds(1))) {
      $0.shedding = FleetServer.Shedding(queueLimit: 64, retryAfter: 2)
    }
    #expect(report.shed > 0)
    #expect(report.dropped == 0)
    #expect(report.connected == 1_000)
    #expect(report.series.allSatisfy { $0.queue <= 64 })
  }

  @Test("in a silent outage no dial is refused and some vanish")
  func staysSilent() throws {
    let report = try Self.run(outage: .silence(.seconds(5)))
    #expect(report.refused == 0)
    #expect(report.dropped > 0)
    #expect(report.connected == 1_000)
  }

  @Test("a zone's loss takes its share of the clients alone")
  func losesAZone() throws {
    let report = try Self.run(outage: .zoneLoss(percent: 17))
    #expect(report.clients == 170)
    #expect(report.connected == 170)
  }

  @Test("a drain spreads the dials that a restart brings at once")
  func drains() throws {
    let drained = try Self.run(outage: .drain(over: .seconds(60)))
    let restarted = try Self.run(outage: .restart(down: .zero))
    #expect(drained.connected == 1_000)
    #expect(drained.peak * 10 < restarted.peak)
  }

  @Test("a lost link was open for so long that the dial before it holds nobody back")
  func forgetsTheDialBefore() throws {
    let server = FleetServer(
      serviceTime: .milliseconds(2), backlog: 4_096, outage: .restart(down: .zero))
    let policy = try Policy(
      connectDeadline: .seconds(10),
      backoff: Backoff(
        first: .seconds(1), base: .seconds(2), cap: .seconds(60), stability: .seconds(10)),
      minimumDialSpacing: .seconds(5), heartbeat: nil)
    let report = try FleetSimulation(clients: 1_000, policy: policy, server: server, seed: 1).run()
    // All within their first wait, and not all of them at the end of the spacing.
    #expect(report.series.prefix(11).reduce(0) { $0 + Int($1.dials) } == 1_000)
    #expect(report.peak < 150)
  }

  @Test("every client-second is spent waiting, at a dial or open")
  func accountsForTime() throws {
    let report = try Self.run(outage: .restart(down: .seconds(5)))
    let all = Double(report.duration.nanoseconds) / 1e9 * 1_000
    #expect(abs(report.waiting + report.dialling + report.open - all) < 1e-6 * all)
    #expect(report.waiting > 0 && report.dialling > 0 && report.open > 0)
    #expect(report.series.reduce(0) { $0 + Int($1.dials) } == report.dials)
  }

  @Test("the same arguments give the same report, and another seed another")
  func isDeterministic() throws {
    let report = try Self.run(outage: .restart(down: .seconds(5)))
    #expect(try Self.run(outage: .restart(down: .seconds(5))) == report)
    #expect(try Self.run(outage: .restart(down: .seconds(5)), seed: 2) != report)
  }

  @Test("a server that cannot be is refused by the name of its setting")
  func refusesBadServers() throws {
    let bad: [(String, (inout FleetServer) -> Void)] = [
      ("server.serviceTime", { $0.serviceTime = .zero }),
      ("server.backlog", { $0.backlog = 0 }),
      ("server.outage", { $0.outage = .zoneLoss(percent: 101) }),
      ("server.shedding.queueLimit", { $0.shedding = FleetServer.Shedding(queueLimit: 0) }),
      ("latency", { $0.latency = LatencyRange(.seconds(2), .seconds(1)) }),
      ("policy.connectDeadline", { $0.latency = LatencyRange(.seconds(9), .seconds(9)) }),
    ]
    for (setting, change) in bad {
      let error = #expect(throws: FleetError.self) {
        try Self.run(outage: .restart(down: .zero), change: change)
      }
      #expect(error?.setting == setting)
    }
  }

  private static func run(
    outage: FleetServer.Outage, seed: UInt64 = 1, change: (inout FleetServer) -> Void = { _ in }
  ) throws -> FleetReport {
    var server = FleetServer(serviceTime: .milliseconds(2), backlog: 4_096, outage: outage)
    change(&server)
    let policy = try Policy(
      connectDeadline: .seconds(10),
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30), jitter: .equal),
      minimumDialSpacing: .zero, heartbeat: nil)
    return try FleetSimulation(clients: 1_000, policy: policy, server: server, seed: seed).run()
  }
}
