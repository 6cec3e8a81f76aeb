import ConnectionFSM

/// What a fuzzer drew: some bytes that choose a configuration, then the bytes of a stream.
struct Draw {
  private(set) var stream: [UInt8]

  init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
    stream = Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// The next byte, for a choice; 0 where there is none left.
  mutating func choice() -> Int { stream.isEmpty ? 0 : Int(stream.removeFirst()) }
}

/// What an engine makes of bytes that come in these pieces, and then end.
struct Reading: Equatable {
  private(set) var events: [EngineEvent] = []
  private(set) var wireLengths: [Int] = []
  private(set) var diagnosis = ""

  init(_ engine: some ProtocolEngine, _ pieces: [ArraySlice<UInt8>]) {
    var engine = engine
    var output = EngineOutput()
    for piece in pieces { engine.receive(piece.span.bytes, at: .origin, into: &output) }
    engine.receiveEnd(at: .origin, into: &output)
    events = output.events
    wireLengths = messages.map(\.wireLength)
    if let error = engine.diagnosis { diagnosis = "\(error)" }
  }

  var messages: [Message] {
    events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }
}

/// What must hold of an engine whatever arrives: messages within the limit and then one end, the
/// same however the bytes are cut (I13, I21).
@discardableResult
func check(
  _ engine: some ProtocolEngine, _ stream: [UInt8], cut: Int, longest: Int
) -> [Message] {
  let whole = Reading(engine, [stream[...]])
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  require(whole == Reading(engine, [stream[..<place], stream[place...]]), "cut at \(place)")
  require(whole == Reading(engine, stream.indices.map { stream[$0...$0] }), "byte by byte")
  let messages = whole.messages
  require(messages.count + 1 == whole.events.count, "other events than messages and one end")
  switch whole.events.last {
  case .closed(nil): require(whole.diagnosis.isEmpty, "an orderly end with an error")
  case .failed(.protocolError), .failed(.truncated): break
  default: require(false, "no end")
  }
  require(messages.allSatisfy { $0.bytes.count <= longest }, "a message beyond the limit")
  return messages
}

/// Sends what it admits, and reads the same messages from what was written.
func checkReturn(_ engine: some ProtocolEngine, _ messages: [Message], as kind: Message.Kind) {
  var sender = engine
  var output = EngineOutput()
  var sent: [Message] = []
  for message in messages where engine.admits(message) {
    sender.send(message, id: nil, into: &output)
    sent.append(Message(bytes: message.bytes, kind: kind))
  }
  let reading = Reading(engine, [output.bytes[...]])
  require(output.events.isEmpty, "what was admitted is not sent")
  require(reading.messages == sent && reading.events.last == .closed(nil), "sent is not received")
}

/// A finding is a crash.
func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError(what()) }
}
