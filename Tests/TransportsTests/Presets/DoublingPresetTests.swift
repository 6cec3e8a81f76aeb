import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports
import WireSupport

/// Sends everything back.
private final class Mirror: ServerProgram, Sendable {
  let arrivals = Tally()

  func arrived(_ client: Int) { arrivals.add("\(client)") }

  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    [.send(message, to: client)]
  }
}

@Suite("Preset: a WebSocket that doubles its waits")
struct DoublingPresetTests {
  @Test("F10: value by value")
  func values() throws {
    let preset = try Preset.doubling(WebSocketURL("wss://quotes.example/v1"))
    let policy = preset.policy
    #expect(policy.connectDeadline == .seconds(10))
    #expect(
      (0..<7).map { policy.backoff.ceiling(afterFailures: $0) }
        == [2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    #expect(policy.backoff.jitter == .none && policy.backoff.attemptLimit == nil)
    #expect(policy.backoff.stability == .seconds(10))
    #expect(policy.heartbeat == nil && policy.beat == nil && preset.beat == nil)
    #expect(policy.lanes == [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
    #expect(policy.overrides.isEmpty)
    #expect(throws: PolicyError.self) {
      try Preset.doubling(
        WebSocketURL("ws://h"), heartbeat: Heartbeat(interval: .zero, timeout: .seconds(1)))
    }
  }

  @Test(
    "B4.11: binary that is text is text only where that is asked for", arguments: [false, true])
  func binary(readsBinaryAsText: Bool) throws {
    let url = try WebSocketURL("ws://quotes.example/v1")
    var client = EngineTrial(
      try Preset.doubling(url, readsBinaryAsText: readsBinaryAsText).framing)
    var server = EngineTrial(WebSocketServerEngine())
    client.start()
    server.receive(client.output.bytes)
    server.send(Message(bytes: Array("tick".utf8)))
    client.receive(server.output.bytes)
    #expect(client.messages.map(\.kind) == [readsBinaryAsText ? .text : .binary])
  }

  /// The article's whole life of a connection.
  fileprivate static func live<World: LifeWorld>(_ world: World, _ server: Mirror) async throws {
    let url = try WebSocketURL("ws://\(world.endpoint.host):\(world.endpoint.port)/quotes")
    let app = try LifeApp(world, try .doubling(url, readsBinaryAsText: true))
    app.post(Message("early"))
    app.connect()
    app.connect()
    await app.passes(.connecting, .open)
    await app.reads("early")
    await world.serverSends(Message(bytes: Array("tick".utf8)))
    await world.serverSends(Message(bytes: [0xFF]))
    await app.readsInAll(3)
    // A lost link comes back after 2 s, with one dial (B4.2 to B4.5).
    await world.serverDropsAll()
    await app.passes(.open, .backingOff)
    app.post(Message("between"))
    await app.passes(.open, .backingOff, .connecting, .open)
    await app.readsInAll(4)
    // The user leaves, and is not fetched back (B4.1).
    await app.connection.close()
    await app.passes(.closing, .closed)
    await world.loop.pause(.milliseconds(2500))
    #expect(app.journal.dials == 2)
    #expect(server.arrivals.all == ["1", "2"])
    #expect(app.journal.causes == [.closedByPeer(CloseCode(1000)), .closedByUser])
    #expect(app.journal.outcomes == ["early written", "between written"])
    #expect(await app.takeRead() == ["early", "tick", "\u{FFFD}", "between"])
    app.end()
  }

  @Test("F01, F02, F10, F46, F48, B4.1–B4.5, B4.11: the article's life in simulation")
  func simulated() throws {
    let server = Mirror()
    try SimulatedLife.run(WebSocketServerEngine(), server) { try await Self.live($0, server) }
  }

  @Test("the example of the documentation is the one that is compiled")
  func shown() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: tests.appendingPathComponent(path), encoding: .utf8)
    }
    let example = try text("DoublingExample.swift")
    let start = try #require(example.range(of: "  // begin\n"))
    let end = try #require(example.range(of: "  // end"))
    let shown = example[start.upperBound..<end.lowerBound].split(separator: "\n")
      .map { "  /// \($0.dropFirst(2))\n" }.joined()
    let documented = try text("../../../Sources/Transports/Presets/Preset+Doubling.swift")
    #expect(documented.contains("  /// ```swift\n\(shown)  /// ```\n"))
  }
}

extension RealSockets {
  @Suite("Preset: a WebSocket that doubles its waits, over loopback")
  struct DoublingPresetLoopbackTests {
    @Test("F10, F60, F61: the article's life over loopback")
    func real() async throws {
      let server = Mirror()
      try await LoopbackLife.run(WebSocketServerEngine(), server) { world in
        try await DoublingPresetTests.live(world, server)
      }
    }

    @Test("F21, I16: a preset takes a provider of credentials, if its policy has the time for it")
    func credentials() throws {
      let loop = try SocketEventLoop()
      defer { loop.stop() }
      let url = try WebSocketURL("ws://127.0.0.1:1/quotes")
      var preset = try Preset.doubling(url)
      let provider = CredentialsProvider { _ in nil }
      #expect(throws: ConnectionError.providerNeedsDeadline) {
        try Connection(preset, over: TCPDialer(loop: loop), credentials: provider)
      }
      preset.policy = try Policy(heartbeat: nil, credentialsDeadline: .seconds(5))
      preset.framing = WebSocketEngine(try WebSocketOptions(url, authorization: .header()))
      #expect(throws: Never.self) {
        try Connection(preset, over: TCPDialer(loop: loop), credentials: provider)
      }
    }

    @Test("F48, B4.10: the two callbacks hear texts, and when the link opens and ends, in order")
    func callbacks() async throws {
      let server = Mirror()
      try await LoopbackLife.run(WebSocketServerEngine(), server) { world in
        let loop = try #require(world.loop as? SocketEventLoop)
        let url = try WebSocketURL("ws://127.0.0.1:\(world.endpoint.port)/quotes")
        let (texts, states) = (Tally(), Tally())
        let connection = try doublingExample(
          url, on: loop, onMessageReceived: { texts.add($0) },
          onConnectionStateChanged: { states.add($0 ? "connected" : "disconnected") })
        connection.post(Message("text"))
        connection.post(Message(bytes: [0xFF]))
        connection.post(Message("more"))
        await loop.until { texts.all == ["text", "more"] }
        await connection.close()
        await loop.until { states.all == ["connected", "disconnected"] }
      }
    }
  }
}
