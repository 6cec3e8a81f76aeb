import ConnectionFSM
import NetSim
import Testing
import Transports

/// Counts heartbeat lines, and sends every other line back.
private final class LineServer: ServerProgram, Sendable {
  let beats = Tally()

  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    if message.text == "longConnect" {
      beats.add("#\(client)")
      return []
    }
    return [.send(message, to: client)]
  }
}

@Suite("Preset: lines with a heartbeat")
struct LineHeartbeatPresetTests {
  @Test("F09, F35, F42: value by value")
  func values() throws {
    let preset = try Preset.lineHeartbeat(interval: .seconds(30))
    let policy = preset.policy
    #expect(policy.connectDeadline == .seconds(20))
    #expect(
      (0..<4).map { policy.backoff.ceiling(afterFailures: $0) } == Array(repeating: .zero, count: 4)
    )
    #expect(policy.backoff.jitter == .none && policy.backoff.attemptLimit == nil)
    #expect(policy.heartbeat == nil)
    #expect(policy.beat == Beat(interval: .seconds(30), isImmediate: false))
    #expect(preset.beat?.payload() == Message("longConnect"))
    #expect(preset.beat?.isAnswer == nil)
    #expect(policy.path.onLoss == .close)
    #expect(policy.lanes == [Lane(.atMostOnce, timeToLive: nil, admission: .whileOpen)])
    #expect(policy.overrides == VerdictOverride.notWithoutNetwork)
    let waiting = try Preset.lineHeartbeat(interval: .seconds(30), networkLoss: .waits)
    #expect(waiting.policy.overrides.isEmpty)
  }

  @Test("F42, B3.13: an answer to the heartbeat is a policy's wait and the beat's look")
  func answer() throws {
    let preset = try Preset.lineHeartbeat(
      interval: .seconds(30), answer: (line: "yes", within: .seconds(5)))
    #expect(preset.policy.beat?.answerTimeout == .seconds(5))
    #expect(preset.beat?.isAnswer?(Message("yes")) == true)
    #expect(preset.beat?.isAnswer?(Message("yes!")) == false)
  }

  @Test("I16: an interval or a text that cannot be is refused with its place")
  func refused() {
    #expect(throws: PolicyError.self) { try Preset.lineHeartbeat(interval: .zero) }
    #expect(throws: PolicyError.self) {
      try Preset.lineHeartbeat(interval: .seconds(1), text: "two\r\nlines")
    }
    #expect(throws: PolicyError.self) {
      try Preset.lineHeartbeat(interval: .seconds(1), answer: (line: "y", within: .seconds(1)))
    }
    #expect(throws: PolicyError.self) {
      try Preset.lineHeartbeat(interval: .seconds(9), answer: (line: "y\r\n", within: .seconds(1)))
    }
  }

  /// The article's whole life of a connection.
  fileprivate static func live<World: LifeWorld>(_ world: World, beats: Tally) async throws {
    let app = try LifeApp(world, try .lineHeartbeat(interval: .milliseconds(40)))
    app.post(Message("too early"))
    app.connect()
    app.connect()
    await app.passes(.connecting, .open)
    app.post(Message("hello"))
    await app.reads("hello")
    await world.loop.until { beats.count(of: "#1") == 3 }
    // A drop by the server is followed by a dial without a wish, and by one heartbeat of the new
    // link.
    await world.serverDropsAll()
    await app.passes(.open, .backingOff, .connecting, .open)
    await world.loop.until { beats.count(of: "#2") == 2 }
    #expect(beats.count(of: "#1") < 100)
    // The Wi-Fi is cut: no dial until the user wants it.
    app.connection.pathChanged(to: .down)
    await app.passes(.open, .closed)
    app.connection.pathChanged(to: .up)
    app.post(Message("too late"))
    await world.loop.pause(.milliseconds(100))
    #expect(app.journal.dials == 2)
    // The user: connects, and leaves for good.
    app.connect()
    await app.passes(.closed, .connecting, .open)
    await app.connection.close()
    await app.passes(.closing, .closed)
    await world.loop.pause(.milliseconds(100))
    #expect(app.journal.dials == 3)
    #expect(app.journal.causes == [.closedByPeer(nil), .pathLost, .closedByUser])
    #expect(
      app.journal.outcomes == [
        "too early rejected(notOpen)", "hello written", "too late rejected(closed)",
      ])
    #expect(await app.takeRead() == ["hello"])
    app.end()
  }

  @Test(
    """
    F01, F02, F05, F09, F42, B3.1–B3.3, B3.5–B3.7, B3.10–B3.12, B3.14: the article's life in \
    simulation
    """)
  func simulated() throws {
    let server = LineServer()
    try SimulatedLife.run(try DelimiterFraming(delimiter: .crlf), server) { world in
      try await Self.live(world, beats: server.beats)
    }
  }
}

extension RealSockets {
  @Suite("Preset: lines with a heartbeat, over loopback")
  struct LineHeartbeatLoopbackTests {
    @Test("F05, F35, F42, F60, F61: the article's life over loopback")
    func real() async throws {
      let server = LineServer()
      try await LoopbackLife.run(try DelimiterFraming(delimiter: .crlf), server) { world in
        try await LineHeartbeatPresetTests.live(world, beats: server.beats)
      }
    }
  }
}
