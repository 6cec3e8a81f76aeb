package import ConnectionFSM

/// No framing at all: a message is what a read gave. For servers that send back what comes; an
/// application that takes reads for messages has the bug (B3.14).
package struct RawFraming: ProtocolEngine, Sendable {
  private var isFinished = false
  private var isOver = false

  package init() {}

  package var canPing: Bool { false }
  package var nextDeadline: Instant? { nil }
  package func admits(_ message: Message) -> Bool { true }

  package mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    let piece = bytes.withUnsafeBytes { Array($0) }
    output.events.append(.message(Message(bytes: piece, wireLength: piece.count)))
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    output.events.append(.closed(nil))
  }

  package mutating func send(
    _ message: Message, id: MessageID?, into output: inout EngineOutput
  ) {
    if !isFinished, !isOver { output.bytes += message.bytes }
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isFinished, !isOver else { return }
    isFinished = true
    output.events.append(.finished)
  }

  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
