import ConnectionFSM
import NetSim
import Transports

/// A chat client that ships, on a simulated internet: `Connection` over a line framing, several
/// tasks, an actor, a task group and streams, under the weather of its seed.
struct ChatRun {
  static let port: UInt16 = 4000
  /// After the healing: a dead peer is found out (10 + 5 s, and 5 s for the fresh probe), a path
  /// said to be down is probed (20 s), a wait of the backoff (8 s), a look-up without an answer
  /// that was under way (10 s), two dials (5 s each).
  static let bound = TimeSpan.seconds(68)

  let seed: UInt64
  let policy: Policy

  init(seed: UInt64) throws {
    self.seed = seed
    policy = try Policy(
      connectDeadline: .seconds(5), closeDeadline: .seconds(3), drainDeadline: .seconds(3),
      backoff: Backoff(
        first: .seconds(1), base: .seconds(1), cap: .seconds(8), jitter: .full,
        stability: .seconds(10)),
      minimumDialSpacing: .milliseconds(500),
      heartbeat: Heartbeat(interval: .seconds(10), timeout: .seconds(5)),
      path: PathPolicy(
        suspectTimeout: .seconds(3), probeInterval: .seconds(20), returnJitter: .milliseconds(500)),
      lanes: [
        Lane(.atMostOnce, timeToLive: .seconds(15), countLimit: 30, overflow: .dropOldest),
        Lane(.atLeastOnce, timeToLive: nil, countLimit: 1000),
      ])
  }

  /// What a message came to.
  struct End: Sendable {
    let label: String
    let lane: UInt8
    let result: Result<Outcome, Rejection>
  }

  struct Report {
    var records: [TraceRecord] = []
    var families: [ChatWeather.Family] = []
    var ends: [End] = []
    /// The labels that the server read, by connection.
    var received: [(connection: Int, label: String)] = []
    /// What the client's application read.
    var delivered: [String] = []
    var liveSockets = 0
    /// When the last message, offered after the healing, was acknowledged.
    var healthyAt: Instant?

    /// What the trace, the server and the application saw, in one number.
    var digest: String {
      var digest = Digest()
      let text = TraceText(colour: false)
      for record in records { digest.add(text.line(record)) }
      for (connection, label) in received { digest.add("\(connection) \(label)") }
      for label in delivered { digest.add(label) }
      return String(digest.value, radix: 16)
    }
  }

  /// What the run's tasks tell.
  private actor Ledger {
    private(set) var ends: [End] = []
    private(set) var delivered: [String] = []

    func ended(_ end: End) { ends.append(end) }
    func read(_ text: String) { delivered.append(text) }
  }

  /// What is noted on the loops, all of them on the simulation's thread.
  private final class Notes: @unchecked Sendable {
    var report = Report()
  }

  func run() throws -> Report {
    let (seed, policy) = (seed, policy)
    return try VirtualTime.run(limit: .seconds(600)) { loop in
      var internet = Internet(seed: seed)
      let client = internet.addHost("client")
      let server = internet.addHost("server")
      let cell = internet.addInterface("cell", to: client, link: .constant(.milliseconds(80)))
      let weather = ChatWeather(
        seed: seed, client: client, server: server, cell: cell, port: Self.port)
      internet.inject(.link(client, weather.link), at: .origin)
      internet.chunking = weather.chunking
      let notes = Notes()
      notes.report.families = weather.families
      let world = SimulatedInternet(internet, on: loop)
      let framing = try DelimiterFraming(delimiter: .lf)
      let echo = SimulatedServer(world, host: server, port: Self.port, engine: { framing }) {
        message, peer in
        notes.report.received.append((peer.number, message.text.label))
        peer.send(message)
      }
      try await Self.client(loop, world, client, policy, seed, weather, notes)
      withExtendedLifetime(echo) {}
      notes.report.liveSockets = world.liveSockets
      return notes.report
    }
  }

  private static func client(
    _ loop: SimulatedEventLoop, _ world: SimulatedInternet, _ host: HostID, _ policy: Policy,
    _ seed: UInt64, _ weather: ChatWeather, _ notes: Notes
  ) async throws {
    let framing = try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("PING".utf8))
    let connection = try Connection(
      world.transport(from: host) { framing }, policy: policy, seed: seed
    ) {
      notes.report.records.append($0)
    }
    world.observePath(of: host) { [weak connection] in connection?.pathChanged(to: $0) }
    let ledger = Ledger()
    let messages = connection.messages(bufferingUpTo: 10_000)
    let reader = loop.task("reader") {
      do {
        for try await message in messages { await ledger.read(message.text.label) }
      } catch {}
    }
    connection.connect(to: Endpoint(host: "server", port: port))
    await withDiscardingTaskGroup { group in
      group.addTask { await play(weather, loop, world, connection) }
      for lane: UInt8 in 0...1 {
        group.addTask { await talk(lane, seed, weather.padding, loop, connection, ledger) }
      }
      group.addTask {
        for await state in connection.states() where state.phase == .closed { return }
      }
      group.addTask {
        try? await loop.clock.sleep(until: .origin + ChatWeather.healedAt + .seconds(1))
        _ = try? await connection.send(Message("last"), in: LaneID(1))
        notes.report.healthyAt = loop.now
        await connection.close()
      }
    }
    notes.report.ends = await ledger.ends
    reader.cancel()
    notes.report.delivered = await ledger.delivered
  }

  private static func play(
    _ weather: ChatWeather, _ loop: SimulatedEventLoop, _ world: SimulatedInternet,
    _ connection: Connection
  ) async {
    for (at, event) in weather.events {
      try? await loop.clock.sleep(until: .origin + at)
      switch event {
      case .fault(let fault): world.inject(fault)
      case .lifecycle(let lifecycle): connection.lifecycleChanged(to: lifecycle)
      }
    }
  }

  /// Sends now and then, each message from a task of its own; some of them from tasks that nobody
  /// keeps.
  private static func talk(
    _ lane: UInt8, _ seed: UInt64, _ padding: Int, _ loop: SimulatedEventLoop,
    _ connection: Connection,
    _ ledger: Ledger
  ) async {
    var draws = RandomStream(seed: seed, name: "chat/talk/\(lane)")
    await withDiscardingTaskGroup { group in
      for number in 1...30 {
        try? await loop.clock.sleep(for: Duration(draws.span(through: .seconds(7))))
        let label = "\(lane)-\(number)"
        let padding = String(repeating: "x", count: Int(draws.next(through: UInt64(padding))))
        let send: @Sendable () async -> Void = {
          let result: Result<Outcome, Rejection>
          do throws(Rejection) {
            result = .success(
              try await connection.send(Message(label + " " + padding), in: LaneID(lane)))
          } catch {
            result = .failure(error)
          }
          await ledger.ended(End(label: label, lane: lane, result: result))
        }
        switch draws.next(through: 9) {
        case 0: await Task { await send() }.value
        case 1: await Task.detached { await send() }.value
        default: group.addTask { await send() }
        }
      }
    }
  }
}

extension String {
  /// The first word: what a message is known by.
  fileprivate var label: String { String(prefix { $0 != " " }) }
}
