import ConnectionFSM
import NetSim
import Testing

@Suite struct SimulatedServerTests {
  /// A client of a simulated server, and what it has read.
  private final class Rig: @unchecked Sendable {
    let internet: SimulatedInternet
    let loop: SimulatedEventLoop
    let client: HostID
    let host: HostID
    private(set) var server: SimulatedServer<SimulatedProtocol>?
    private(set) var ends: [Cause] = []

    init(_ loop: SimulatedEventLoop, service: Service = Service()) {
      self.loop = loop
      var world = Internet(seed: 1)
      client = world.addHost("client", link: .constant(.milliseconds(10)))
      host = world.addHost("server")
      internet = SimulatedInternet(world, on: loop)
      server = SimulatedServer(
        internet, host: host, port: 1, service: service, engine: { SimulatedProtocol() },
        respond: Self.respond)
    }

    private static func respond(
      to message: Message, of client: SimulatedServer<SimulatedProtocol>.Client
    ) {
      switch message.text {
      case "reset": client.reset()
      case "close": client.close()
      default: client.send(Message("\(client.number) \(message.text)"))
      }
    }

    func connection() throws -> Connection {
      let policy = try Policy(
        backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
        heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)))
      let connection = try Connection(
        internet.transport(from: client), policy: policy, seed: 1
      ) { record in
        for case .ended(_, let cause) in record.effects { self.ends.append(cause) }
      }
      connection.connect(to: Endpoint(host: "server", port: 1))
      return connection
    }
  }

  @Test("it answers each client by its number, and all of them at once")
  func answers() throws {
    let heard = try VirtualTime.run { loop in
      let rig = Rig(loop)
      let one = try rig.connection()
      try await loop.clock.sleep(for: .seconds(1))
      let two = try rig.connection()
      try await loop.clock.sleep(for: .seconds(1))
      #expect(rig.server?.connectionCount == 2)
      var messages = one.messages().makeAsyncIterator()
      var others = two.messages().makeAsyncIterator()
      one.post(Message("a"))
      two.post(Message("b"))
      var heard = [try await messages.next()?.text, try await others.next()?.text]
      rig.server?.broadcast(Message("all"))
      heard += [try await messages.next()?.text, try await others.next()?.text]
      await one.close()
      await two.close()
      try await loop.clock.sleep(for: .seconds(1))
      #expect(rig.server?.connectionCount == 0)
      #expect(rig.internet.liveSockets == 0)
      return heard
    }
    #expect(heard == ["1 a", "2 b", "all", "all"])
  }

  @Test("a client that it resets or closes is told so, and is a connection of its no more")
  func ends() throws {
    let ends = try VirtualTime.run { loop in
      let rig = Rig(loop)
      let connection = try rig.connection()
      for word in ["reset", "close"] {
        try await loop.clock.sleep(for: .seconds(20))
        #expect(rig.server?.connectionCount == 1)
        connection.post(Message(word))
        try await loop.clock.sleep(for: .milliseconds(100))
        #expect(rig.server?.connectionCount == 0)
      }
      await connection.close()
      return rig.ends
    }
    #expect(ends == [.system(.connectionReset), .closedByPeer(nil)])
  }

  @Test("a port that is served by nobody any more is refused to the next dial, not to who is there")
  func refusal() throws {
    try VirtualTime.run { loop in
      let rig = Rig(loop)
      let connection = try rig.connection()
      try await loop.clock.sleep(for: .seconds(1))
      rig.internet.inject(.refuse(rig.host, port: 1))
      #expect(try await connection.send(Message("still there"), in: LaneID(1)) == .acknowledged)
      connection.post(Message("reset"))
      try await loop.clock.sleep(for: .seconds(2))
      #expect(rig.ends == [.system(.connectionReset), .system(.connectionRefused)])
      await connection.close()
    }
  }
}
