import ConnectionFSM
import NetSim
import Testing
import Transports

@Suite("WebSocket: bytes cut anywhere")
struct WebSocketSplitTests {
  /// Of each kind of length, and a ping inside a message.
  private static let frames: [WireFrame] = [
    WireFrame(0x81, "one".utf8), WireFrame(0x01, "t".utf8), WireFrame(0x89, "p".utf8),
    WireFrame(0x80, "wo".utf8), WireFrame(0x81, []),
    WireFrame(0x82, (0..<126).map { UInt8($0) }), WireFrame(0x81, [0xF0, 0x9F, 0x98, 0x80]),
  ]

  private static let messages = [
    Message("one"), Message("two"), Message(""), Message(bytes: (0..<126).map { UInt8($0) }),
    Message("😀"),
  ]

  /// What a client reads of the answer and the first frames, and what it writes.
  private static func answered(
    cutAt cut: Int, chunking: Chunking = .whole
  ) throws -> (messages: [Message], written: [UInt8], length: Int) {
    try WebSocketWorld.run(chunking: chunking) { world in
      var length = 0
      let server = RawServer(world.internet, host: world.server, port: WebSocketWorld.port) {
        peer, head in
        let bytes = head + frames.flatMap(\.bytes)
        length = bytes.count
        peer.write(bytes.prefix(cut))
        world.loop.task("rest") {
          try? await world.sleep(.milliseconds(5))
          peer.write(bytes.dropFirst(cut))
        }
      }
      try world.connect()
      try await world.sleep(.seconds(5))
      #expect(world.phase == .open && world.ends == [])
      server.peers[0].close()
      return (world.messages, server.peers[0].received, length)
    }
  }

  @Test("F20 F22: an answer and the frames behind it mean the same wherever they are cut")
  func answer() throws {
    let whole = try Self.answered(cutAt: 0)
    #expect(whole.messages == Self.messages)
    // A masked pong at its end, of one byte.
    #expect(whole.written.suffix(7).prefix(2) == [0x8A, 0x81])
    for cut in 1..<whole.length {
      let split = try Self.answered(cutAt: cut)
      guard split == whole else {
        Issue.record("cut at \(cut): \(split)")
        return
      }
    }
    let bytewise = try Self.answered(cutAt: 0, chunking: .single)
    #expect(bytewise == whole)
  }

  private struct Asked: Equatable {
    var messages: [Message] = []
    var head: [UInt8] = []
    var echoes: [WireFrame] = []
    /// A pong finds its way between echoes wherever it is made.
    var pongs: [WireFrame] = []
    var length = 0
  }

  /// What a server reads of the request and the first frames, and what it writes.
  private static func asked(cutAt cut: Int, chunking: Chunking = .whole) throws -> Asked {
    try WebSocketWorld.run(chunking: chunking) { world in
      var heard: [Message] = []
      let server = world.serve { message, client in
        heard.append(message)
        client.send(message)
      }
      let options = try WebSocketOptions(WebSocketURL("ws://server/"), random: .seeded(7))
      var engine = WebSocketEngine(options)
      var output = EngineOutput()
      engine.start(at: .origin, into: &output)
      let bytes =
        output.bytes
        + frames.flatMap { frame in
          // Longer ones are masked alike; here there are lengths of one byte.
          WireFrame(frame.first, frame.payload.prefix(125)).masked
        }
      let client = RawPeer()
      client.dial(
        world.internet.dialer(from: world.client), Endpoint(host: "server", port: 80))
      client.write(bytes.prefix(cut))
      try await world.sleep(.milliseconds(100))
      client.write(bytes.dropFirst(cut))
      try await world.sleep(.seconds(5))
      #expect(server.connectionCount == 1)
      client.close()
      try await world.sleep(.seconds(1))
      let end = client.received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
      let written = WireFrame.read(Array(client.received[end...])) ?? []
      return Asked(
        messages: heard, head: Array(client.received[..<end]),
        echoes: written.filter { $0.first < 0x88 }, pongs: written.filter { $0.first >= 0x88 },
        length: bytes.count)
    }
  }

  @Test("F20 F22: a request and the frames behind it mean the same wherever they are cut")
  func request() throws {
    let whole = try Self.asked(cutAt: 0)
    var expected = Self.messages
    expected[3].bytes.removeLast()
    #expect(whole.messages == expected)
    #expect(whole.echoes.count == 5 && whole.pongs == [WireFrame(0x8A, "p".utf8)])
    for cut in 1..<whole.length {
      let split = try Self.asked(cutAt: cut)
      guard split == whole else {
        Issue.record("cut at \(cut): \(split)")
        return
      }
    }
    let bytewise = try Self.asked(cutAt: 0, chunking: .single)
    #expect(bytewise == whole)
  }

  @Test(
    "F22: messages arrive and return whole, a byte at a time, through buffers of a byte",
    arguments: [(Chunking.single, nil), (.whole, 1), (.atMost(3), 64)] as [(Chunking, Int?)])
  func trickle(_ chunking: Chunking, _ buffer: Int?) throws {
    let limits = try WebSocketLimits(fragmentLength: 125)
    let (sent, echoed) = try WebSocketWorld.run(
      latency: .milliseconds(1), buffer: buffer, chunking: chunking
    ) { world in
      let server = world.serve(limits: limits)
      let connection = try world.connect(limits: limits)
      let messages = [0, 1, 125, 126, 600].map { count in
        Message(bytes: (0..<count).map { UInt8($0 % 251) })
      }
      for message in messages {
        #expect(try await connection.send(message) == .written)
      }
      try await world.sleep(.seconds(30))
      await connection.close()
      // A server ends the stream with the close, whatever of that its system did not take.
      #expect(world.closes.first == "client 1000")
      #expect(server.connectionCount == 0)
      return (messages, world.messages)
    }
    #expect(echoed == sent)
  }
}
