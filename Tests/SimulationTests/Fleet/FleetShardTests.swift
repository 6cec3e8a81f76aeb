import ConnectionFSM
import NetSim
import Testing

/// What a fleet does must not depend on how many threads it is cut over.
@Suite("fleets in shards")
struct FleetShardTests {
  private static let outages: [FleetServer.Outage] = [
    .restart(down: .seconds(2)), .silence(.seconds(3)), .drain(over: .seconds(4)),
    .zoneLoss(percent: 60),
  ]
  private static let backoffs = [Backoff(.xt), Backoff(.socketIO), Backoff(.nats)]

  @Test("any number of shards gives the very same report", arguments: outages)
  func sameReport(outage: FleetServer.Outage) throws {
    for backoff in Self.backoffs {
      for latency in [
        LatencyRange(.zero, .zero), LatencyRange(.milliseconds(5), .milliseconds(90)),
      ] {
        let whole = try Self.run(outage, backoff, latency, shards: 1)
        #expect(whole.dials >= whole.clients)
        for shards in [2, 3, 7] {
          let cut = try Self.run(outage, backoff, latency, shards: shards)
          #expect(cut == whole, "\(shards) shards, \(backoff), \(latency)")
        }
      }
    }
  }

  @Test("a fleet that is still on its way at the limit is the same in shards, too")
  func sameAtTheLimit() throws {
    let reports = try [1, 4].map { shards in
      try Self.run(
        .restart(down: .seconds(2)), Backoff(.xt),
        LatencyRange(.milliseconds(25), .milliseconds(25)),
        shards: shards, limit: .seconds(4))
    }
    #expect(reports[0].connected < reports[0].clients)
    #expect(reports[0] == reports[1])
  }

  @Test("more shards than clients are as many as there are clients")
  func few() throws {
    let policy = try Policy(backoff: Backoff(.nats), heartbeat: nil)
    let server = FleetServer(
      serviceTime: .milliseconds(1), backlog: 10, outage: .restart(down: .seconds(1)))
    let report = try FleetSimulation(clients: 3, policy: policy, server: server, shards: 8).run()
    #expect(report.connected == 3)
  }

  @Test("no shard at all is refused, and the error says what would do")
  func none() throws {
    let server = FleetServer(
      serviceTime: .milliseconds(1), backlog: 10, outage: .restart(down: .seconds(1)))
    let error = #expect(throws: FleetError.self) {
      _ = try FleetSimulation(clients: 3, policy: Policy(), server: server, shards: 0)
    }
    #expect(error?.description == "fleet: shards: must be 1 to 1,024")
  }

  /// With a line that is short, clients that give up, and a rate at which they meet.
  private static func run(
    _ outage: FleetServer.Outage, _ backoff: Backoff, _ latency: LatencyRange, shards: Int,
    limit: TimeSpan = .seconds(60)
  ) throws -> FleetReport {
    let policy = try Policy(
      connectDeadline: .seconds(1), backoff: backoff, minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(5), timeout: .seconds(2)))
    let server = FleetServer(
      serviceTime: .milliseconds(2), backlog: 700, outage: outage,
      shedding: FleetServer.Shedding(queueLimit: 600, retryAfter: 1), latency: latency)
    return try FleetSimulation(
      clients: 1_000, policy: policy, server: server, seed: 3, limit: limit, shards: shards
    ).run()
  }
}
