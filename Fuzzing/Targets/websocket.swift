import ConnectionFSM
import Transports

/// One end of a WebSocket behind its handshake, and what it makes of the peer's frames.
private struct Setup {
  let isServer: Bool
  let compression: WebSocketCompression?
  let limits: WebSocketLimits

  /// What was read, with messages that came in pieces put together.
  struct Course: Equatable {
    var messages: [Message] = []
    var wireLengths: [Int] = []
    var others: [EngineEvent] = []
    var written: [UInt8] = []
    var diagnosis = ""
  }

  private func client() -> (WebSocketEngine, accept: String) {
    guard let url = try? WebSocketURL("ws://example.com/"),
      let options = try? WebSocketOptions(
        url, compression: compression, limits: limits, random: .seeded(7))
    else { fatalError("the options are good") }
    var engine = WebSocketEngine(options)
    var output = EngineOutput()
    engine.start(at: .origin, into: &output)
    let key = String(decoding: output.bytes, as: UTF8.self).split(separator: "\r\n")
      .first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst("Sec-WebSocket-Key: ".count)
    return (engine, ServerHandshake.acceptValue(for: String(key ?? "")))
  }

  /// The end that reads, and the other.
  func read(_ pieces: [ArraySlice<UInt8>]) -> Course {
    isServer ? course(opened(server()), pieces) : course(opened(client()), pieces)
  }

  /// What the other end writes of these messages.
  func written(_ messages: [Message]) -> [UInt8] {
    isServer ? send(messages, opened(client())) : send(messages, opened(server()))
  }

  private func server() -> WebSocketServerEngine {
    WebSocketServerEngine(WebSocketServerOptions(compression: compression, limits: limits))
  }

  private func opened(_ client: (engine: WebSocketEngine, accept: String)) -> WebSocketEngine {
    let agreed = compression.map { _ in "Sec-WebSocket-Extensions: permessage-deflate\r\n" } ?? ""
    let answer =
      "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: \(client.accept)\r\n\(agreed)\r\n"
    return opened(client.engine, by: answer)
  }

  private func opened(_ server: WebSocketServerEngine) -> WebSocketServerEngine {
    let offered = compression.map { _ in "Sec-WebSocket-Extensions: permessage-deflate\r\n" } ?? ""
    let request =
      "GET / HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
      + "\(offered)\r\n"
    return opened(server, by: request)
  }

  private func opened<Engine: ProtocolEngine>(_ engine: Engine, by head: String) -> Engine {
    var engine = engine
    var output = EngineOutput()
    engine.receive(Array(head.utf8).span.bytes, at: .origin, into: &output)
    require(output.events == [.opened], "the handshake is good: \(output.events)")
    return engine
  }

  private func course(_ engine: some ProtocolEngine, _ pieces: [ArraySlice<UInt8>]) -> Course {
    var engine = engine
    var output = EngineOutput()
    for piece in pieces { engine.receive(piece.span.bytes, at: .origin, into: &output) }
    while engine.hasMore { engine.writeOn(into: &output) }
    engine.receiveEnd(at: .origin, into: &output)
    var course = Course(written: output.bytes)
    var begun: [UInt8] = []
    for event in output.events {
      guard case .message(let message) = event else {
        course.others.append(event)
        continue
      }
      require(message.bytes.count <= limits.maximumMessageLength, "a message beyond the limit")
      begun += message.bytes
      guard !message.isContinued else { continue }
      course.messages.append(Message(bytes: begun, kind: message.kind))
      course.wireLengths.append(message.wireLength)
      begun = []
    }
    if let error = engine.diagnosis { course.diagnosis = "\(error)" }
    return course
  }

  private func send(_ messages: [Message], _ engine: some ProtocolEngine) -> [UInt8] {
    var engine = engine
    var output = EngineOutput()
    for message in messages {
      require(engine.admits(message), "what one side reads the other may send")
      engine.send(message, id: nil, into: &output)
    }
    while engine.hasMore { engine.writeOn(into: &output) }
    require(output.events.isEmpty, "sending has ended the link")
    return output.bytes
  }
}

/// Frames, read by a client and by a server, with compression and without: messages within the
/// limit and one end, the same however the bytes are cut (I13, I21), and what was read can be sent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  guard
    let limits = try? WebSocketLimits(
      maximumMessageLength: choice & 8 == 0 ? 300 : 70_000, fragmentLength: 125,
      deliversPieces: choice & 4 != 0),
    let compression = try? WebSocketCompression(threshold: 0)
  else { fatalError("the arguments are good") }
  let setup = Setup(
    isServer: choice & 1 != 0, compression: choice & 2 == 0 ? nil : compression, limits: limits)
  let stream = draw.stream
  let whole = setup.read([stream[...]])
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  require(whole == setup.read([stream[..<place], stream[place...]]), "cut at \(place)")
  require(whole == setup.read(stream.indices.map { stream[$0...$0] }), "byte by byte")
  let ends = whole.others.count { if case .pong = $0 { false } else { $0 != .ending } }
  require(ends == 1, "not one end: \(whole.others)")
  let again = setup.read([setup.written(whole.messages)[...]])
  require(again.messages == whole.messages, "sent is not received")
  return 0
}
