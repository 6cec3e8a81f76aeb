import ConnectionFSM
import Testing
import Transports

@Suite("Preset: a chat")
struct StreamChatPresetTests {
  @Test("F05, F41: value by value")
  func values() throws {
    let preset = try Preset.streamChat(ChatLogin(name: "ann"))
    #expect(preset.policy.overrides == VerdictOverride.never)
    #expect(preset.policy.heartbeat == nil && preset.policy.beat == nil && preset.beat == nil)
    #expect(
      preset.policy.lanes == [Lane(.atMostOnce, timeToLive: nil, admission: .whileOpen)])
    #expect(preset.policy.connectDeadline == .seconds(10))
  }

  /// The article's whole life of a connection.
  fileprivate static func live<World: LifeWorld>(_ world: World, isBare: Bool) async throws {
    func app(_ name: String) throws -> LifeApp<World> {
      try LifeApp(world, try .streamChat(ChatLogin(name: name), isBare: isBare))
    }
    let ann = try app("ann")
    ann.post(Message("before the login"))
    ann.connect()
    ann.connect()
    await ann.passes(.connecting, .open)
    await ann.reads("ann has joined")
    let ben = try app("ben")
    ben.connect()
    await ben.reads("ben has joined")
    let eve = try app("eve")
    eve.connect()
    await eve.reads("eve has joined")
    await ann.reads("ann has joined", "ben has joined", "eve has joined")
    await ben.reads("ben has joined", "eve has joined")
    // One after the other, since a bare server takes what it reads at once for one message.
    for (place, app) in [ann, ben, eve].enumerated() {
      app.post(Message(isBare ? "hello" : "hello: all"))
      let count = place + 4
      await ann.readsInAll(count)
      await ben.readsInAll(count - 1)
      await eve.readsInAll(count - 2)
    }
    let said = ["ann", "ben", "eve"].map { isBare ? "\($0): hello" : "\($0): hello: all" }
    let heard = await ann.takeRead()
    #expect(heard == ["ann has joined", "ben has joined", "eve has joined"] + said)
    #expect(await ben.takeRead() == ["ben has joined", "eve has joined"] + said)
    #expect(await eve.takeRead() == ["eve has joined"] + said)
    // What comes back of one's own is told from what others said (B2.7).
    let own = heard.map { ChatLine(Message($0)).isFrom("ann") }
    #expect(own == [true, false, false, true, false, false])
    await world.serverDropsAll()
    for app in [ann, ben, eve] { await app.passes(.open, .closed) }
    await world.loop.pause(.milliseconds(50))
    #expect(ann.journal.dials == 1)
    #expect(ann.journal.causes == [.closedByPeer(nil)])
    #expect(ann.journal.outcomes.first == "before the login rejected(notOpen)")
    ann.connect()
    await ann.reads("ann has joined")
    await ann.connection.close()
    #expect(ann.journal.causes == [.closedByPeer(nil), .closedByUser])
    for app in [ann, ben, eve] { app.end() }
  }

  @Test(
    "F41, I14, I22, B2.1–B2.7, B2.9: the article's life in simulation", arguments: [false, true])
  func simulated(isBare: Bool) throws {
    try SimulatedLife.run(try ChatServerFraming(isBare: isBare), Chat(isBare: isBare)) { world in
      try await Self.live(world, isBare: isBare)
    }
  }
}

extension RealSockets {
  @Suite("Preset: a chat, over loopback")
  struct StreamChatPresetLoopbackTests {
    @Test(
      "F41, F60, F61: three people hear the same in the same order, over loopback",
      arguments: [false, true])
    func real(isBare: Bool) async throws {
      try await LoopbackLife.run(
        try ChatServerFraming(isBare: isBare), Chat(isBare: isBare)
      ) { world in
        try await StreamChatPresetTests.live(world, isBare: isBare)
      }
    }
  }
}

/// Runs a chat; on its server's loop alone.
private final class Chat: ServerProgram, @unchecked Sendable {
  private let program: ChatProgram

  init(isBare: Bool) { program = ChatProgram(isBare: isBare) }

  func arrived(_ client: Int) { program.arrived(client) }
  func left(_ client: Int) { program.left(client) }

  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    program.received(message, from: client)
  }
}
