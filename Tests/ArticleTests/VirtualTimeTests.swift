// Blocks of the article “Testing your app in virtual time”; `BlocksTests` checks that the page
// shows them.

import ConnectionFSM
import NetSim
import Testing
import Transports

/// A device that reports what it measures, and keeps what it could not report.
final class Reporter: Sendable {
  private let connection: Connection

  init(_ transport: sending some Transport) throws {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(5), base: .seconds(5), cap: .seconds(300)),
      heartbeat: Heartbeat(interval: .seconds(60), timeout: .seconds(10)),
      lanes: [Lane(.atLeastOnce, timeToLive: nil)])
    connection = try Connection(transport, policy: policy, seed: 1)
  }

  func start(_ server: Endpoint) { connection.connect(to: server) }
  func report(_ value: Int) { connection.post(Message("\(value)")) }
  func stop() async { await connection.close(draining: true) }
}

@Test("a day of reports arrives in order, whatever the server does meanwhile")
func day() throws {
  try VirtualTime.run(limit: .seconds(100_000)) { loop in
    var world = Internet(seed: 3)
    let (device, server) = (world.addHost("device", link: .wptLTE), world.addHost("server"))
    for hour in stride(from: Int64(1), to: 24, by: 3) {
      world.inject(.crash(server), at: .origin + .seconds(hour * 3600))
      world.inject(.restart(server), at: .origin + .seconds(hour * 3600 + 900))
    }
    let internet = SimulatedInternet(world, on: loop)
    var arrived: [Int] = []
    let program = SimulatedServer(
      internet, host: server, port: 7000, engine: { SimulatedProtocol() }
    ) { message, client in arrived.append(Int(message.text) ?? -1) }

    let reporter = try Reporter(internet.transport(from: device))
    reporter.start(Endpoint(host: "server", port: 7000))
    for minute in 0..<24 * 60 {
      reporter.report(minute)
      try await loop.clock.sleep(for: .seconds(60))
    }
    await reporter.stop()
    #expect(program.acceptedCount > 8)
    #expect(arrived == Array(0..<24 * 60))
  }
}

/// What the server's machine has seen in ten minutes of a condition, by name.
func minutes(of condition: String, seed: UInt64) throws -> Int {
  try VirtualTime.run { loop in
    let stage = try #require(Condition.named(condition)).stage(seed: seed)
    let internet = SimulatedInternet(stage.internet, on: loop)
    let server = SimulatedServer(
      internet, host: stage.server, port: stage.port, engine: { SimulatedProtocol() }
    ) { message, client in  // what arrives is acknowledged
    }
    let reporter = try Reporter(internet.transport(from: stage.client))
    reporter.start(Endpoint(host: "server", port: stage.port))
    for minute in 0..<10 {
      reporter.report(minute)
      try await loop.clock.sleep(for: .seconds(60))
    }
    await reporter.stop()
    return server.acceptedCount
  }
}

@Suite("Article: Testing your app in virtual time")
struct VirtualTimeTests {
  @Test("the same seed gives the same run")
  func repeats() throws {
    let first = try minutes(of: "commuter", seed: 5)
    #expect(first > 1)
    #expect(try minutes(of: "commuter", seed: 5) == first)
  }
}
