import ConnectionFSM
import Dispatch
import NetSim
import Testing
import Transports

@Suite("F56: the recording of a whole connection")
struct RecordedConnectionTests {
  private static let policy: Policy = {
    do {
      return try Policy(
        backoff: Backoff(
          first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .full,
          stability: .seconds(10)),
        heartbeat: nil,
        lanes: [Lane(.atMostOnce, timeToLive: .seconds(60), countLimit: 10, window: 4)])
    } catch { fatalError("\(error)") }
  }()

  /// A chat that is joined with a password, spoken in and cut: all of it over simulated bytes.
  private func chat(_ recorder: TraceRecorder) throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      var world = Internet(seed: 4)
      let client = world.addHost("client17", link: .constant(.milliseconds(10)))
      let host = world.addHost("vault17")
      let internet = SimulatedInternet(world, on: loop)
      let rounds = try ChatServerFraming()
      let server = SimulatedServer(internet, host: host, port: 1, engine: { rounds }) { _, client in
        client.send(Message("swordfish too"))
      }
      let framing = try ChatFraming(ChatLogin(name: "carol17", password: "opensesame"))
      nonisolated(unsafe) let transport = StreamTransport(internet.dialer(from: client)) { framing }
      let connection = try Connection(
        transport, policy: Self.policy, seed: 3, monitors: [recorder])
      connection.connect(to: Endpoint(host: "vault17", port: 1))
      var heard = connection.messages().makeAsyncIterator()
      for _ in 1...5 {
        #expect(try await connection.send(Message("swordfish")) == .written)
        _ = try await heard.next()
      }
      try connection.update(
        policy: Policy(
          connectDeadline: .seconds(7), backoff: Self.policy.backoff, heartbeat: nil,
          lanes: Self.policy.lanes))
      connection.reconnectNow()
      #expect(try await connection.send(Message("swordfish")) == .written)
      await connection.close()
      try await loop.clock.sleep(for: .seconds(5))
      #expect(server.connectionCount == 0)
    }
  }

  @Test("a recording of a connection replays, and has no host, name, password or payload in it")
  func recorded() async throws {
    let store = MemorySegments()
    do {
      let recorder = try TraceRecorder(
        store, segmentBytes: 4 << 10, segmentCount: 50, waitingLimit: 1_000,
        onFailure: { Issue.record($0) })
      try chat(recorder)
    }
    store.ended.wait()
    let texts = store.texts.map(\.text)
    for secret in ["vault17", "client17", "carol17", "opensesame", "swordfish", "://"] {
      #expect(!texts.contains { $0.contains(secret) }, "\(secret)")
    }
    let segments = try texts.map { try ReadSegment($0) }
    #expect(segments.count > 1)
    var replay = try Replay(segments[0].header)
    var statistics = Statistics()
    for (place, segment) in segments.enumerated() {
      if place > 0 { #expect(try replay.goOn(with: segment.header) == 0) }
      for line in segment.lines { statistics.add(try replay.next(line)) }
    }
    #expect(statistics.opens == 2 && statistics.taken == 6 && statistics.phase == .closed)
  }
}
