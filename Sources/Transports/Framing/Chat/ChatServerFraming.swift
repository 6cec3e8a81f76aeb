package import ConnectionFSM

/// The server's side of the chat of ``ChatFraming``: each message that arrives is a command as it
/// came, for ``ChatCommand`` to read; each that is sent is a line.
///
/// A bare server does as the published one did: it takes what one read brings for one message. What
/// arrives then depends on how the stream is cut, which no other engine here allows: see
/// ``ChatFraming`` for what is lost by it.
package struct ChatServerFraming: ProtocolEngine, Sendable {
  private let isBare: Bool
  private var lines: DelimiterFraming
  private var isOver = false

  /// Makes an engine for one link.
  /// - Parameters:
  ///   - isBare: Whether a read is a message, in place of a line.
  ///   - maximumLength: The most bytes of a line in either direction, without its end.
  /// - Throws: ``FramingError``.
  package init(isBare: Bool = false, maximumLength: Int = 65_536) throws(FramingError) {
    self.isBare = isBare
    lines = try DelimiterFraming(delimiter: .lf, maximumLength: maximumLength)
  }

  package var canPing: Bool { false }
  package var nextDeadline: Instant? { nil }

  package func admits(_ message: Message) -> Bool { lines.admits(message) }

  package mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard isBare else { return lines.receive(bytes, at: now, into: &output) }
    guard !isOver else { return }
    let read = bytes.withUnsafeBytes { Array($0) }
    output.events.append(.message(Message(bytes: read, kind: .text)))
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    isOver = true
    lines.receiveEnd(at: now, into: &output)
  }

  package mutating func send(
    _ message: Message, id: MessageID?, into output: inout EngineOutput
  ) {
    lines.send(message, id: id, into: &output)
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    lines.close(at: now, into: &output)
  }

  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
