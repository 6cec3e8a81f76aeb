import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite struct FrameTests {
  @Test("F22: the examples of RFC 6455 section 5.7 are read as what they are")
  func vectorsRead() throws {
    var client = try WebSocketTrial()
    client.trial.receive([UInt8](hex: "810548656c6c6f"))
    client.trial.receive([UInt8](hex: "010348656c 80026c6f"))
    #expect(client.takeEvents() == [.message(Message("Hello")), .message(Message("Hello"))])
    client.trial.receive([UInt8](hex: "890548656c6c6f"))
    #expect(client.takeUnmasked() == [.pong([UInt8]("Hello".utf8))])
    client.trial.receive([UInt8](hex: "827E0100") + [UInt8](repeating: 9, count: 256))
    client.trial.receive(
      [UInt8](hex: "827F0000000000010000") + [UInt8](repeating: 8, count: 65_536))
    #expect(
      client.takeEvents() == [
        .message(Message(bytes: [UInt8](repeating: 9, count: 256))),
        .message(Message(bytes: [UInt8](repeating: 8, count: 65_536))),
      ])
  }

  @Test("F22: a server reads the masked example of RFC 6455 section 5.7, and writes the plain ones")
  func vectorsAtServer() throws {
    var server = try OpenServer()
    server.trial.receive([UInt8](hex: "818537fa213d7f9f4d5158"))
    #expect(server.trial.messages == [Message("Hello")])
    server.trial.send(Message("Hello"))
    #expect(server.trial.output.bytes == [UInt8](hex: "810548656c6c6f"))
  }

  @Test(
    "F22: each length is written in its shortest form and comes back whole",
    arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 131_072])
  func lengths(_ count: Int) throws {
    var client = try WebSocketTrial()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    client.trial.send(Message(bytes: bytes))
    client.writeOut()
    let written = client.trial.output.bytes
    let sent = client.takeSent() ?? []
    #expect(sent.count == 1)
    #expect(sent[0].payload == bytes)
    let key = try #require(sent[0].key)
    #expect(WireFrame(first: 0x82, payload: bytes, key: key).bytes == written)
    client.receive(WireFrame(first: 0x82, payload: bytes))
    #expect(client.takeEvents() == [.message(Message(bytes: bytes))])
  }

  @Test("F22: each frame is masked with a key of its own")
  func keys() throws {
    var client = try WebSocketTrial()
    for _ in 0..<200 { client.trial.send(Message("same")) }
    client.writeOut()
    let sent = client.takeSent() ?? []
    #expect(Set(sent.map(\.key)).count == 200)
    #expect(sent.allSatisfy { $0.payload == [UInt8]("same".utf8) && $0.first == 0x81 })
  }

  @Test("F22: the system's keys differ between engines and frames")
  func systemKeys() throws {
    var server = ServerHandshake()
    var keys: Set<String> = []
    for _ in 0..<100 {
      var trial = EngineTrial(WebSocketEngine(try WebSocketOptions(WebSocketURL("ws://a/"))))
      trial.start()
      server = ServerHandshake()
      guard case .asked(let request, _) = server.receive(trial.output.bytes.span.bytes) else {
        Issue.record("no request")
        return
      }
      keys.insert(request.key)
    }
    #expect(keys.count == 100)
  }

  @Test("F22: bytes cut anywhere give the same messages and answers")
  func cuts() throws {
    let stream =
      WireFrame(first: 0x01, payload: [UInt8]("grü".utf8)).bytes
      + WireFrame.ping([1, 2]).bytes + WireFrame(first: 0x80, payload: [UInt8]("ße".utf8)).bytes
      + WireFrame(first: 0x82, payload: [UInt8](repeating: 5, count: 300)).bytes
      + WireFrame.close(4001, "so long").bytes
    var whole = try WebSocketTrial()
    whole.trial.receive(stream)
    whole.writeOut()
    let events = whole.takeEvents()
    let written = whole.trial.output.bytes
    #expect(
      events == [
        .message(Message("grüße")), .message(Message(bytes: [UInt8](repeating: 5, count: 300))),
        .ending,
      ])
    for pieces in stream.cuts {
      var client = try WebSocketTrial()
      for piece in pieces { client.trial.receive(piece) }
      client.writeOut()
      #expect(client.takeEvents() == events)
      #expect(client.trial.output.bytes == written)
    }
  }

  @Test("I23: a message tells how many bytes it took on the wire, all headers among them")
  func wireLength() throws {
    var client = try WebSocketTrial()
    client.receive(
      WireFrame(first: 0x02, payload: [1, 2, 3]),
      WireFrame(first: 0x80, payload: [UInt8](repeating: 0, count: 200)))
    #expect(client.trial.messages.map(\.wireLength) == [5 + 204])
  }

  @Test("A message above the length of a fragment goes in several frames, control between them")
  func fragments() throws {
    let limits = try WebSocketLimits(fragmentLength: 125)
    var client = try WebSocketTrial(limits: limits)
    let text = String(repeating: "ä", count: 150)
    client.trial.send(Message(text))
    #expect(client.trial.output.bytes.isEmpty)
    #expect(client.trial.engine.backlog == 1)
    client.trial.engine.writeOn(into: &client.trial.output)
    client.receive(.ping([7]))
    client.writeOut()
    let sent = client.takeUnmasked() ?? []
    #expect(sent.map(\.first) == [0x01, 0x8A, 0x00, 0x80])
    #expect(sent.filter(\.isData).flatMap(\.payload) == [UInt8](text.utf8))
    #expect(client.trial.engine.backlog == 0)
  }

  @Test("A message in fragments is delivered whole, or in pieces where that is wished")
  func pieces() throws {
    let frames = [
      WireFrame(first: 0x01, payload: [0xC3]), WireFrame(first: 0x00, payload: [0xA4, 0x61]),
      WireFrame(first: 0x80, payload: [0x62]),
    ]
    var whole = try WebSocketTrial()
    for frame in frames { whole.receive(frame) }
    #expect(whole.takeEvents() == [.message(Message("äab"))])

    var client = try WebSocketTrial(limits: try WebSocketLimits(deliversPieces: true))
    for frame in frames { client.receive(frame) }
    let messages = client.trial.messages
    #expect(messages.map(\.bytes) == [[0xC3], [0xA4, 0x61], [0x62]])
    #expect(messages.map(\.isContinued) == [true, true, false])
    #expect(messages.allSatisfy { $0.kind == .text })
    #expect(!client.trial.engine.admits(messages[0]))
  }

  @Test("The login is written before all else, and text that is none is not admitted")
  func login() throws {
    let options = try WebSocketOptions(
      WebSocketURL("ws://example.com/"), login: Message("me"), random: .seeded(1))
    var trial = EngineTrial(WebSocketEngine(options))
    trial.start()
    var handshake = ServerHandshake()
    guard case .asked(let request, _) = handshake.receive(trial.output.bytes.span.bytes) else {
      Issue.record("no request")
      return
    }
    trial.output.bytes = []
    let ping = WireFrame.ping([1]).bytes
    trial.receive(
      ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: nil) + ping)
    let sent = try #require(WireFrame.read(trial.output.bytes))
    #expect(sent.map(\.first) == [0x81, 0x8A])
    #expect(sent[0].payload == [UInt8]("me".utf8))
    #expect(!trial.engine.admits(Message(bytes: [0xFF], kind: .text)))
    #expect(throws: FramingError.messageIsNoText) {
      try trial.engine.validate(Message(bytes: [0xFF], kind: .text))
    }
  }
}

/// A server's engine behind its handshake.
struct OpenServer {
  var trial = EngineTrial(WebSocketServerEngine())

  init() throws {
    let options = try WebSocketOptions(WebSocketURL("ws://example.com/"), random: .seeded(7))
    var client = EngineTrial(WebSocketEngine(options))
    client.start()
    trial.receive(client.output.bytes)
    #expect(trial.output.events == [.opened])
    trial.output = EngineOutput()
  }
}
