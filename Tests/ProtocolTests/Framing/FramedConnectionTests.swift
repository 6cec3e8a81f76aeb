import ConnectionFSM
import NetSim
import Synchronization
import Testing
import Transports

/// Connections as they ship, over simulated bytes that are cut anywhere.
@Suite("F29, F35, F41: framings on a simulated link")
struct FramedConnectionTests {
  private static let policy: Policy = {
    do {
      return try Policy(
        backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
        heartbeat: nil)
    } catch { fatalError("\(error)") }
  }()

  /// A host that dials, one that serves, and what the first has seen.
  private final class Rig: ConnectionMonitor, @unchecked Sendable {
    let internet: SimulatedInternet
    let loop: SimulatedEventLoop
    let client: HostID
    let host: HostID
    var ends: [Cause] = []
    var diagnoses: [any Error] = []

    init(_ loop: SimulatedEventLoop, chunking: Chunking = .atMost(5)) {
      self.loop = loop
      var world = Internet(seed: 29)
      world.chunking = chunking
      client = world.addHost("client", link: .constant(.milliseconds(10)))
      host = world.addHost("server")
      internet = SimulatedInternet(world, on: loop)
    }

    func connection(linkOf epoch: Epoch, failedWith error: any Error) { diagnoses.append(error) }

    func serve<Engine: ProtocolEngine>(
      _ engine: Engine,
      _ respond: @escaping (Message, SimulatedServer<Engine>.Client) -> Void
    ) -> SimulatedServer<Engine> {
      SimulatedServer(internet, host: host, port: 1, engine: { engine }, respond: respond)
    }

    func transport<Engine: ProtocolEngine & Sendable>(
      _ engine: Engine
    ) -> StreamTransport<SimulatedDialer, Engine> {
      StreamTransport(internet.dialer(from: client)) { engine }
    }

    func connection(_ transport: some Transport) throws -> Connection {
      // The loops of a simulation share one thread.
      nonisolated(unsafe) let transport = transport
      let connection = try Connection(transport, policy: policy, seed: 1, monitors: [self]) {
        record in
        for case .ended(_, let cause) in record.effects { self.ends.append(cause) }
      }
      connection.connect(to: Endpoint(host: "server", port: 1))
      return connection
    }
  }

  /// Sends each message and has it sent back, then closes; the counts of both ends agree.
  private func talk<Engine: ProtocolEngine & Sendable>(
    _ engine: Engine, _ messages: [Message], chunking: Chunking = .atMost(5)
  ) throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop, chunking: chunking)
      let server = rig.serve(engine) { message, client in client.send(message) }
      let transport = rig.transport(engine)
      let connection = try rig.connection(transport)
      var heard = connection.messages().makeAsyncIterator()
      for message in messages {
        #expect(try await connection.send(message) == .written)
        let echo = try await heard.next()
        #expect(echo == message)
      }
      let link = rig.internet.snapshot.bytesOfClients
      let mine = transport.traffic
      #expect(await connection.traffic() == mine)
      #expect(mine.bytesSent == UInt64(link.written) && mine.bytesReceived == UInt64(link.read))
      await connection.close()
      try await loop.clock.sleep(for: .seconds(5))
      expect(mine, server.traffic, messages)
      #expect(transport.traffic == mine)
      #expect(rig.ends == [.closedByUser] && rig.diagnoses.isEmpty)
      #expect(server.connectionCount == 0 && rig.internet.liveSockets == 0)
    }
  }

  private func expect(_ mine: Traffic, _ other: Traffic, _ messages: [Message]) {
    let payload = UInt64(messages.reduce(0) { $0 + $1.bytes.count })
    #expect(mine.bytesSent == other.bytesReceived && mine.bytesReceived == other.bytesSent)
    #expect(mine.payloadBytesSent == payload && mine.payloadBytesReceived == payload)
    #expect(other.payloadBytesSent == payload && other.payloadBytesReceived == payload)
    #expect(mine.messagesSent == UInt64(messages.count))
    #expect(mine.messagesReceived == mine.messagesSent && other.messagesSent == mine.messagesSent)
    #expect(mine.megabytesSent == Double(mine.bytesSent) / 1_048_576)
    #expect(mine.megabytesReceived == Double(mine.bytesReceived) / 1_048_576)
  }

  @Test("F29, F33, I12, I23: objects are sent and come back in 7-byte frames, all bytes counted")
  func sevenBytes() throws {
    let messages = try [
      Message(encoding: ["name": "Veeco"]), Message(encoding: [1, 2, 3]),
      Message(encoding: ["text": String(repeating: "ä", count: 3000)]),
    ]
    for compression in [SevenByteFraming.Compression.none, .gzip] {
      let engine = try SevenByteFraming(
        encoding: .xor(key: "Veeco"), compression: compression, maximumFrame: 1 << 20)
      try talk(engine, messages)
      try talk(engine, messages, chunking: .single)
    }
  }

  @Test("F33, I12, I23, B1.3, B1.14: a megabyte in partial writes arrives whole and counted")
  func partialWrites() throws {
    let engine = try SevenByteFraming(maximumFrame: 2 << 20)
    try talk(
      engine, [Message(encoding: [String(repeating: "x", count: 1 << 20)])],
      chunking: .atMost(4000))
  }

  @Test("B1.3, I12: messages sent while others are half written follow them, each whole")
  func burst() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop, chunking: .atMost(700))
      let engine = try SevenByteFraming(compression: .gzip, maximumFrame: 1 << 20)
      let server = rig.serve(engine) { message, client in client.send(message) }
      let connection = try rig.connection(rig.transport(engine))
      var heard = connection.messages().makeAsyncIterator()
      var random = SplitMix64(seed: 3)
      let messages = try (0..<40).map { index in
        let noise = (0..<random.next(through: 2000)).map { _ in "\(random.next(through: 99))" }
        return try Message(encoding: ["\(index)", noise.joined()])
      }
      for message in messages { connection.post(message) }
      for message in messages {
        let echo = try await heard.next()
        #expect(echo == message)
      }
      #expect(server.traffic.messagesReceived == 40)
      await connection.close()
    }
  }

  @Test("F33, I23: binary messages are sent and come back behind their lengths, all counted")
  func lengths() throws {
    let messages = [[], [0], [UInt8](repeating: 0xFF, count: 255)].map { Message(bytes: $0) }
    for width in LengthFraming.Width.allCases {
      for order in LengthFraming.ByteOrder.allCases {
        try talk(try LengthFraming(width: width, byteOrder: order), messages)
      }
    }
  }

  @Test("F35, F33, I23: lines are sent and come back, all counted")
  func lines() throws {
    try talk(
      try DelimiterFraming(delimiter: .crlf, maximumLength: 100),
      ["one", "", "two words"].map { Message($0) })
  }

  @Test("F33, I23: the counts go on over a lost link, and hold what was read and written of it")
  func countsOverLinks() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop)
      let engine = try LengthFraming(width: .two)
      let server = rig.serve(engine) { message, client in
        if message.text == "reset" { client.reset() } else { client.send(message) }
      }
      let transport = rig.transport(engine)
      let connection = try rig.connection(transport)
      var heard = connection.messages().makeAsyncIterator()
      for round in UInt64(1)...3 {
        try await connection.send(Message("hello"))
        _ = try await heard.next()
        try await connection.send(Message("reset"))
        #expect(transport.traffic.bytesSent == round * 14)
        #expect(transport.traffic.bytesReceived == round * 7)
        try await loop.clock.sleep(for: .seconds(30))
      }
      #expect(rig.ends.count == 3 && server.acceptedCount == 4)
      #expect(server.traffic.bytesReceived == 42 && server.traffic.messagesReceived == 6)
      #expect(transport.traffic.messagesSent == 6 && transport.traffic.payloadBytesSent == 30)
      await connection.close()
    }
  }

  @Test("F34, B1.2, B1.6: poison ends the link as a protocol error, with its place to show")
  func poison() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop)
      rig.internet.change { world in
        let bytes = SevenByteFramingTests.plain + [0, 0, 0, 3]
        world.listen(rig.host, port: 1, Service(script: [.send(bytes), .wait(.seconds(60))]))
      }
      let connection = try rig.connection(rig.transport(try SevenByteFraming()))
      var heard = connection.messages().makeAsyncIterator()
      #expect(try await heard.next()?.wireLength == 29)
      try await loop.clock.sleep(for: .milliseconds(100))
      #expect(rig.ends == [.protocolError])
      let error = rig.diagnoses.first as? FrameError
      #expect(error?.offset == 29 && error?.problem == .lengthTooSmall(3, least: 7))
      await connection.close()
    }
  }

  @Test("B1.5, B1.4: a message that cannot be framed is turned away at the door")
  func turnedAway() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop)
      let engine = try SevenByteFraming()
      let server = rig.serve(engine) { message, client in client.send(message) }
      let connection = try rig.connection(rig.transport(engine))
      await #expect(throws: Rejection.self) { try await connection.send(Message("text")) }
      var heard = connection.messages().makeAsyncIterator()
      try await connection.send(Message(encoding: ["a": 1]))
      #expect(try await heard.next()?.decoded(as: [String: Int].self) == ["a": 1])
      #expect(server.traffic.messagesReceived == 1)
      await connection.close()
    }
  }

  @Test("F41, I14, I22, B2.7: three people chat; each hears all in one order, their own among it")
  func chat() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop)
      let hall = try ChatHall(rig.internet, rig.host)
      var people: [(Connection, Heard)] = []
      var listeners: [Task<Void, any Error>] = []
      for name in ["ann", "bob", "cy"] {
        let login = try ChatLogin(name: name, password: "pass:word")
        let engine = try ChatFraming(login, maximumLength: 100)
        let connection = try rig.connection(rig.transport(engine))
        let heard = Heard()
        listeners.append(
          loop.task("listening") {
            for try await message in connection.messages() { heard.lines.append(ChatLine(message)) }
          })
        people.append((connection, heard))
        try await loop.clock.sleep(for: .seconds(1))
      }
      #expect(try await people[1].0.send(Message("hi: all")) == .written)
      #expect(try await people[0].0.send(Message("hello")) == .written)
      try await loop.clock.sleep(for: .seconds(1))
      let said: [ChatLine] = [
        .said(name: "bob", text: "hi: all"), .said(name: "ann", text: "hello"),
      ]
      let joined = ["ann", "bob", "cy"].map { ChatLine.joined(name: $0) }
      for (index, person) in people.enumerated() {
        #expect(person.1.lines == joined[index...] + said)
      }
      #expect(people[1].1.lines.filter { $0.isFrom("bob") } == [joined[1], said[0]])
      #expect(hall.names == ["ann", "bob", "cy"])
      for person in people { await person.0.close() }
      for listener in listeners {
        listener.cancel()
        _ = await listener.result
      }
      try await loop.clock.sleep(for: .seconds(1))
      #expect(rig.ends == [.closedByUser, .closedByUser, .closedByUser])
    }
  }

  @Test("B2.2, F41: at a bare server, two sends that merge lose the second, and apart both arrive")
  func bareChat() throws {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let rig = Rig(loop, chunking: .whole)
      let hall = try ChatHall(rig.internet, rig.host, isBare: true)
      let engine = try ChatFraming(ChatLogin(name: "ann"), isBare: true, maximumLength: 100)
      let connection = try rig.connection(rig.transport(engine))
      let heard = Heard()
      let listener = loop.task("listening") {
        for try await message in connection.messages() { heard.lines.append(ChatLine(message)) }
      }
      try await loop.clock.sleep(for: .seconds(1))
      for text in ["one", "two"] {
        try await connection.send(Message(text))
        try await loop.clock.sleep(for: .seconds(1))
      }
      connection.post(Message("three"))
      connection.post(Message("four"))
      try await loop.clock.sleep(for: .seconds(1))
      #expect(
        heard.lines == [
          .joined(name: "ann"), .said(name: "ann", text: "one"), .said(name: "ann", text: "two"),
          .said(name: "ann", text: "threemsg"),
        ])
      await connection.close()
      listener.cancel()
      _ = await listener.result
      withExtendedLifetime(hall) {}
    }
  }
}

private final class Heard: @unchecked Sendable {
  var lines: [ChatLine] = []
}

/// A chat's server on a simulated host.
private final class ChatHall {
  private typealias Server = SimulatedServer<ChatServerFraming>

  private var room = ChatRoom<Int>(maximumLength: 100)
  private var clients: [Int: Server.Client] = [:]
  private var server: Server?

  init(_ internet: SimulatedInternet, _ host: HostID, isBare: Bool = false) throws {
    let engine = try ChatServerFraming(isBare: isBare, maximumLength: 100)
    server = SimulatedServer(
      internet, host: host, port: 1, engine: { engine },
      respond: { [unowned self] message, client in
        take(ChatCommand(message.text, isBare: isBare), from: client)
      })
  }

  var names: [String] { room.names }

  private func take(_ command: ChatCommand, from client: Server.Client) {
    if clients.updateValue(client, forKey: client.number) == nil { room.arrived(client.number) }
    var effects: [ChatRoom<Int>.Effect] = []
    room.handle(command, from: client.number, into: &effects)
    for effect in effects {
      switch effect {
      case .send(let line, let client): clients[client]?.send(Message(line))
      case .drop(let client): clients[client]?.close()
      }
    }
  }
}
