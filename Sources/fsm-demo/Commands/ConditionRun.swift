import ConnectionFSM
import NetSim

/// Runs a connection under a condition, on a simulated internet in virtual time, and writes its
/// trace: the code that ships, over bytes.
struct ConditionRun {
  let condition: Condition
  let seed: UInt64
  let options: RunOptions
  /// The heartbeat's interval; nil is the default.
  let ping: TimeSpan?

  /// When the application has something to say, in twentieths of the time: seldom, so that boxes
  /// meet silence.
  private static let moments: [Int64] = [0, 10, 19]

  /// The condition of that name, or the bare link.
  static func condition(named name: String) -> Condition? {
    Condition.named(name) ?? LinkProfile.named(name).map(Condition.init(link:))
  }

  /// What is told while it runs, all on the simulation's one thread.
  private final class Telling: @unchecked Sendable {
    var writer: RunWriter
    var statistics = Statistics()

    init(_ writer: RunWriter) { self.writer = writer }
  }

  /// - Throws: A bug of this package, named by the simulation.
  func run() throws(Failure) -> Statistics {
    let telling = Telling(try RunWriter(options, title: condition.name, seed: seed))
    // Whatever happened: what was told so far is worth most where something went wrong.
    defer { telling.writer.finish() }
    do {
      return try VirtualTime.run(limit: condition.duration + .seconds(60)) { loop in
        try await live(on: loop, telling)
      }
    } catch {
      throw Failure(
        .failed,
        "\(condition.name): \(error); a bug of this package, which --seed \(seed) replays: please "
          + "report it")
    }
  }

  private func live(
    on loop: SimulatedEventLoop, _ telling: Telling
  ) async throws -> Statistics {
    let policy = try Policy(heartbeat: ping.map { Heartbeat(interval: $0) } ?? Heartbeat())
    let stage = condition.stage(seed: seed)
    let internet = SimulatedInternet(stage.internet, on: loop)
    let server = SimulatedServer(
      internet, host: stage.server, port: stage.port, service: stage.service,
      engine: { SimulatedProtocol() }, respond: { _, _ in })
    telling.writer.begin(policy: policy, seed: seed)
    internet.observeFaults { [weak internet] fault in
      guard let internet else { return }
      telling.writer.note(internet.snapshot.words(for: fault), at: loop.now)
    }
    if telling.writer.captures {
      internet.observeSegments(of: stage.client) { telling.writer.packet($0) }
    }
    let connection = try Connection(
      internet.transport(from: stage.client), policy: policy, seed: seed
    ) {
      telling.statistics.add($0)
      telling.writer.step($0)
    }
    internet.observePath(of: stage.client) { [weak connection] in connection?.pathChanged(to: $0) }
    connection.connect(to: Endpoint(host: "server", port: stage.port))
    for moment in Self.moments {
      let instant = Instant.origin + .nanoseconds(condition.duration.nanoseconds / 20 * moment)
      try await loop.clock.sleep(until: instant)
      connection.post(Message("message at \(instant)"), in: LaneID(1))
    }
    try await loop.clock.sleep(until: .origin + condition.duration)
    await connection.close()
    withExtendedLifetime(server) {}
    return telling.statistics
  }
}
