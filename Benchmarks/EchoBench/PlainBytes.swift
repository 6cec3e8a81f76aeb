import ConnectionFSM

/// Hands bytes on as they come: what the transport itself costs, without a protocol.
struct PlainBytes: ProtocolEngine, Sendable {
  var canPing: Bool { false }
  var nextDeadline: Instant? { nil }
  func admits(_ message: Message) -> Bool { true }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    output.events.append(.message(Message(bytes: bytes.withUnsafeBytes { Array($0) })))
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.closed(nil))
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    output.bytes += message.bytes
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  mutating func close(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.finished)
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
