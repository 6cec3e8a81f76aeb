import ConnectionFSM
import NetSim
import Testing
import Transports
import WireSupport

private let sid = "13b313a3-fea9-4e28-9e56-352458f7007f"
private let login = "{\"sid\": \"13b313a3-fea9-4e28-9e56-352458f7007f\"}"

/// Writes down what it hears, and sends all but logins and beats back.
private final class IMServer: ServerProgram, Sendable {
  let heard = Tally()

  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    heard.add("#\(client) \(message.text)")
    return message.text == "heart" || message.text == login ? [] : [.send(message, to: client)]
  }

  func heard(from client: Int) -> [String] {
    heard.all.filter { $0.hasPrefix("#\(client) ") }.map { String($0.dropFirst(3)) }
  }
}

@Suite("Preset: a WebSocket with a login and a beat")
struct XTPresetTests {
  private static let url = Result { try WebSocketURL("ws://im.example:8080/chat") }

  @Test("F09, F42: value by value")
  func values() throws {
    let preset = try Preset.xt(Self.url.get(), sid: sid)
    let policy = preset.policy
    #expect(policy.connectDeadline == .seconds(10))
    #expect(
      (0..<9).map { policy.backoff.ceiling(afterFailures: $0) }
        == [0, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    #expect(policy.backoff.jitter == .none && policy.backoff.attemptLimit == nil)
    #expect(policy.backoff.stability == .seconds(10))
    #expect(policy.minimumDialSpacing == .seconds(1))
    #expect(policy.heartbeat == nil)
    #expect(policy.beat == Beat(interval: .seconds(180), isImmediate: true))
    #expect(preset.beat?.payload() == Message("heart"))
    #expect(preset.beat?.isAnswer == nil)
    #expect(policy.path.onLoss == .close)
    #expect(policy.lanes == [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
    #expect(policy.overrides.isEmpty)
    let heartbeat = Heartbeat(interval: .seconds(25), timeout: .seconds(10))
    #expect(
      try Preset.xt(Self.url.get(), sid: sid, heartbeat: heartbeat).policy.heartbeat == heartbeat)
  }

  @Test(
    "I14, B0.17: the login is the first message of a link, as JSON whatever the session is called",
    arguments: [
      (sid, login), ("a\"\\\u{1}\u{1F}\né", "{\"sid\": \"a\\\"\\\\\\u0001\\u001f\\u000aé\"}"),
    ])
  func loginText(sid: String, text: String) throws {
    var client = EngineTrial(try Preset.xt(Self.url.get(), sid: sid).framing)
    var server = EngineTrial(WebSocketServerEngine())
    client.start()
    server.receive(client.output.bytes)
    client.output = EngineOutput()
    client.receive(server.output.bytes)
    client.send(Message("hello"))
    server.receive(client.output.bytes)
    #expect(server.messages == [Message(text), Message("hello")])
    #expect(try server.messages[0].decoded(as: [String: String].self) == ["sid": sid])
  }

  @Test("I16, B0.19: a URL without a host, or a heartbeat that cannot be, is refused")
  func refused() throws {
    #expect(throws: WebSocketURLError.self) { try WebSocketURL("ws://") }
    #expect(throws: PolicyError.self) {
      try Preset.xt(
        Self.url.get(), sid: sid, heartbeat: Heartbeat(interval: .zero, timeout: .seconds(1)))
    }
  }

  /// The article's whole life of a connection.
  fileprivate static func live<World: LifeWorld>(
    _ world: World, _ server: IMServer, waitsForBeats: Bool
  ) async throws {
    let url = try WebSocketURL("ws://\(world.endpoint.host):\(world.endpoint.port)/im")
    let app = try LifeApp(world, try .xt(url, sid: sid))
    app.post(Message("early"))
    app.connect()
    app.connect()
    await app.passes(.connecting, .open)
    await app.reads("early")
    app.post(Message(bytes: [1, 2, 0xFF]))
    await app.readsInAll(2)
    #expect(server.heard(from: 1) == [login, "heart", "early", "\u{1}\u{2}\u{FFFD}"])
    // Closed by the server, in order: back after a second, though the table's first wait is 0 s.
    await world.serverDropsAll()
    await app.passes(.open, .backingOff)
    app.post(Message("between"))
    await app.passes(.open, .backingOff, .connecting, .open)
    await app.readsInAll(3)
    #expect(server.heard(from: 2) == [login, "heart", "between"])
    // The network is lost: closed at once, and dialled when it is back.
    app.connection.pathChanged(to: .down)
    await app.passes(.open, .offline)
    app.post(Message("away"))
    app.connection.pathChanged(to: .up)
    await app.readsInAll(4)
    if waitsForBeats { await world.loop.pause(.seconds(361)) }
    let beats = waitsForBeats ? ["heart", "heart"] : []
    #expect(server.heard(from: 3) == [login, "heart", "away"] + beats)
    // The user leaves, and nothing follows: no dial, no beat.
    await app.connection.close()
    await app.passes(.closing, .closed)
    await world.loop.pause(waitsForBeats ? .seconds(600) : .milliseconds(1500))
    #expect(app.journal.dials == 3)
    #expect(server.heard.all.count == 10 + beats.count)
    #expect(app.journal.causes == [.closedByPeer(CloseCode(1000)), .pathLost, .closedByUser])
    #expect(
      app.journal.outcomes == [
        "early written", "\u{1}\u{2}\u{FFFD} written", "between written", "away written",
      ])
    app.end()
  }

  @Test(
    """
    F01, F02, F07, F09, F42, F46, F49, B0.1–B0.6, B0.9, B0.12, B0.15, B0.17, B0.18: the article's \
    life in simulation
    """)
  func simulated() throws {
    let server = IMServer()
    try SimulatedLife.run(WebSocketServerEngine(), server) { world in
      try await Self.live(world, server, waitsForBeats: true)
    }
  }
}

extension RealSockets {
  @Suite("Preset: a WebSocket with a login and a beat, over loopback")
  struct XTPresetLoopbackTests {
    @Test("F09, F42, F49, F60, F61: the article's life over loopback")
    func real() async throws {
      let server = IMServer()
      try await LoopbackLife.run(WebSocketServerEngine(), server) { world in
        try await XTPresetTests.live(world, server, waitsForBeats: false)
      }
    }
  }
}
