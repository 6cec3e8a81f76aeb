import ConnectionFSM
import Testing
import Transports

@Suite("Preset: objects in frames")
struct WGPresetTests {
  @Test("F05, F29: value by value")
  func values() throws {
    let preset = Preset.wg(try SevenByteFraming())
    #expect(preset.policy.overrides == VerdictOverride.never)
    #expect(preset.policy.heartbeat == nil && preset.policy.beat == nil && preset.beat == nil)
    #expect(
      preset.policy.lanes == [Lane(.atMostOnce, timeToLive: nil, admission: .whileOpen)])
    #expect(preset.policy.sessionDeadline == nil)
    #expect(preset.policy.connectDeadline == .seconds(10))
  }

  /// The article's whole life of a connection.
  fileprivate static func live<World: LifeWorld>(
    _ world: World, _ framing: SevenByteFraming
  ) async throws {
    let app = try LifeApp(world, .wg(framing))
    let hello = try Message(encoding: ["name": "Veeco"])
    app.post(hello)
    app.connect()
    // While it is on its way, nothing new is dialled (B1.8).
    app.connect()
    await app.passes(.connecting, .open)
    app.post(hello)
    app.post(Message(bytes: Array("no object".utf8), kind: .object))
    app.post(Message("no object either"))
    // Longer than what the article's reader could put together (B1.1).
    let large = try Message(encoding: ["text": String(repeating: "0123456789", count: 7000)])
    app.post(large)
    await app.reads(hello.text, large.text)
    #expect(await app.takeRead() == [hello.text, large.text])
    // An orderly end by the server is told as that (B1.13), once (B1.10), and nothing dials.
    await world.serverDropsAll()
    await app.passes(.open, .closed)
    app.post(hello)
    await world.loop.pause(.milliseconds(50))
    #expect(app.journal.dials == 1)
    #expect(app.journal.causes == [.closedByPeer(nil)])
    app.connect()
    await app.passes(.closed, .connecting, .open)
    app.post(hello)
    await app.reads(hello.text)
    await app.connection.close()
    await app.passes(.closing, .closed)
    #expect(app.journal.causes == [.closedByPeer(nil), .closedByUser])
    #expect(
      app.journal.outcomes.map { String($0.split(separator: " ").last ?? "") } == [
        "rejected(notOpen)", "rejected(notEncodable)", "rejected(notEncodable)", "written",
        "written", "rejected(closed)", "written",
      ])
    app.end()
  }

  fileprivate static let framings: [SevenByteFraming] = {
    do {
      return [
        try SevenByteFraming(),
        try SevenByteFraming(encoding: .xor(key: "Veeco"), compression: .gzip),
      ]
    } catch { return [] }
  }()

  @Test(
    "F29–F32, F34, B1.1, B1.3–B1.5, B1.8, B1.10, B1.13: the article's life in simulation",
    arguments: [0, 1])
  func simulated(which: Int) throws {
    let framing = Self.framings[which]
    try SimulatedLife.run(framing, Echo()) { try await Self.live($0, framing) }
  }
}

extension RealSockets {
  @Suite("Preset: objects in frames, over loopback")
  struct WGPresetLoopbackTests {
    @Test("F29–F32, F34, F60, F61: the article's life over loopback", arguments: [0, 1])
    func real(which: Int) async throws {
      let framing = WGPresetTests.framings[which]
      try await LoopbackLife.run(framing, Echo()) { try await WGPresetTests.live($0, framing) }
    }
  }
}

/// Sends everything back.
private final class Echo: ServerProgram, Sendable {
  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    [.send(message, to: client)]
  }
}
