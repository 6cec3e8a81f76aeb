public import ConnectionFSM

/// Lines: each message is followed by a delimiter, and there is nothing else on the wire.
///
/// Without a handshake, so the link is open at once. Messages are text. The peer's end between two
/// lines ends the link in order; its end inside a line is `Cause.truncated`. A line longer than
/// the limit is `Cause.protocolError`: what follows it could not be trusted, and is not read.
/// After that, and after the end, the engine does nothing any more.
///
/// A connection turns away what ``admits(_:)`` refuses; ``validate(_:)`` says what is wrong with
/// it. One that is sent all the same ends the link with `Cause.protocolError`; not one byte of it
/// is written, since the peer would take it for other messages than it is.
public struct DelimiterFraming: ProtocolEngine, Sendable {
  /// How the peer acknowledges what it received.
  public enum Acknowledgement: Sendable {
    /// Not at all.
    case none
    /// It sends every line back: the k-th line received answers the k-th line sent, pings among
    /// them, and is a message as well, except for pings. Lines beyond those sent acknowledge
    /// nothing; a peer that speaks first, with a greeting, acknowledges what it has not seen. Lines
    /// that a peer never sends back are remembered as long as the link lives: use a heartbeat, or a
    /// lane at least once, whose window bounds them.
    case echo
  }

  private enum Sent: Sendable {
    case message(MessageID)
    case ping(UInt32)
    case unidentified
  }

  private let delimiter: [UInt8]
  private let keepsDelimiter: Bool
  private let maximumLength: Int
  private let acknowledgement: Acknowledgement
  private let pingLine: [UInt8]?
  private let pongLine: [UInt8]?

  private var search: DelimiterSearch
  /// The beginning of a line whose delimiter has not arrived; never longer than the longest line
  /// and its delimiter.
  private var rest: [UInt8] = []
  /// Lines sent and not yet sent back.
  private var unanswered = FIFO<Sent>()
  private var lastPing: UInt32?
  private var isFinished = false
  private var isOver = false

  /// Makes an engine for one link.
  /// - Parameters:
  ///   - delimiter: What ends a line.
  ///   - keepsDelimiter: Whether messages that arrive end with their delimiter. Those that are sent
  ///     never do: it is always added.
  ///   - maximumLength: The most bytes of a line in either direction, without the delimiter; at
  ///     least 1. The default of 64 KiB bounds what a peer that never ends its line can make us
  ///     keep.
  ///   - acknowledgement: How the peer acknowledges.
  ///   - pingLine: The line that asks for a sign of life, without delimiter; nil if there is none.
  ///   - pongLine: The line that answers it, where lines are not echoed. Such a line is never a
  ///     message; before the first ping it is ignored.
  /// - Throws: ``FramingError``, which names the argument.
  public init(
    delimiter: Delimiter,
    keepsDelimiter: Bool = false,
    maximumLength: Int = 65_536,
    acknowledgement: Acknowledgement = .none,
    pingLine: [UInt8]? = nil,
    pongLine: [UInt8]? = nil
  ) throws(FramingError) {
    guard maximumLength >= 1 else { throw .maximumLengthTooSmall(maximumLength) }
    self.delimiter = delimiter.bytes
    self.keepsDelimiter = keepsDelimiter
    self.maximumLength = maximumLength
    self.acknowledgement = acknowledgement
    self.pingLine = pingLine
    self.pongLine = pongLine
    search = DelimiterSearch(delimiter)
    if let pingLine, problem(with: pingLine) != nil { throw .invalidPingLine }
    if let pongLine {
      guard pingLine != nil, acknowledgement == .none else { throw .pongLineWithoutUse }
      guard problem(with: pongLine) == nil else { throw .invalidPongLine }
    }
  }

  /// Whether there is a ping line.
  public var canPing: Bool { pingLine != nil }

  /// Always nil: lines wait for nothing.
  public var nextDeadline: Instant? { nil }

  /// Checks that the peer would read the message as one line.
  /// - Throws: ``FramingError/messageHoldsDelimiter`` or
  ///   ``FramingError/messageTooLong(count:limit:)``.
  public func validate(_ message: Message) throws(FramingError) {
    if let problem = problem(with: message.bytes) { throw problem }
  }

  /// Whether ``validate(_:)`` finds nothing wrong.
  public func admits(_ message: Message) -> Bool { problem(with: message.bytes) == nil }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      while !isOver {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start...])
        guard let end = search.next(in: piece) else { return keep(piece, &output) }
        endLine(UnsafeRawBufferPointer(rebasing: piece[..<end]), &output)
        start += end
      }
    }
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    output.events.append(rest.isEmpty ? .closed(nil) : .failed(.truncated))
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard problem(with: message.bytes) == nil else { return fail(&output) }
    write(message.bytes, id.map { .message($0) } ?? .unidentified, &output)
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    guard let pingLine else { return }
    lastPing = number
    write(pingLine, .ping(number), &output)
  }

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    isFinished = true
    output.events.append(.finished)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}

  private mutating func write(_ line: [UInt8], _ sent: Sent, _ output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    output.bytes += line
    output.bytes += delimiter
    if acknowledgement == .echo { unanswered.append(sent) }
  }

  /// Keeps what may become a line, or fails if it has become too long for one. The bytes that may
  /// be the beginning of the delimiter do not count yet, so the verdict falls with the same byte
  /// however the stream is cut.
  private mutating func keep(_ piece: UnsafeRawBufferPointer, _ output: inout EngineOutput) {
    guard rest.count + piece.count - search.matched <= maximumLength else { return fail(&output) }
    rest += piece
  }

  private mutating func endLine(_ piece: UnsafeRawBufferPointer, _ output: inout EngineOutput) {
    let length = rest.count + piece.count - delimiter.count
    guard length <= maximumLength else { return fail(&output) }
    // What the delimiter began with can lie in the rest, so the piece may be shorter than it.
    var line: [UInt8]
    if rest.isEmpty {
      line = Array(keepsDelimiter ? piece : UnsafeRawBufferPointer(rebasing: piece[..<length]))
    } else {
      line = rest
      line += piece
      rest.removeAll(keepingCapacity: true)
      if !keepsDelimiter { line.removeLast(delimiter.count) }
    }
    deliver(line, length: length, &output)
  }

  private mutating func deliver(_ line: [UInt8], length: Int, _ output: inout EngineOutput) {
    switch unanswered.popFirst() {
    case .ping(let number):
      return output.events.append(.pong(number))
    case .message(let id):
      // The line first: with what it acknowledges a link may be done, and is then let go of.
      output.events.append(.message(Message(bytes: line, kind: .text)))
      return output.events.append(.acknowledged(through: id))
    case .unidentified: break
    case nil:
      if let pongLine, line.prefix(length).elementsEqual(pongLine) {
        if let lastPing { output.events.append(.pong(lastPing)) }
        return
      }
    }
    output.events.append(.message(Message(bytes: line, kind: .text)))
  }

  private mutating func fail(_ output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    rest = []
    output.events.append(.failed(.protocolError))
  }

  private func problem(with line: [UInt8]) -> FramingError? {
    guard line.count <= maximumLength else {
      return .messageTooLong(count: line.count, limit: maximumLength)
    }
    // Also where the delimiter repeats itself: behind "a", the delimiter "aa" would be found one
    // byte early.
    var search = DelimiterSearch(repeating: search)
    let isWhole =
      line.withUnsafeBytes { search.next(in: $0) == nil }
      && delimiter.withUnsafeBytes { search.next(in: $0) == $0.count }
    return isWhole ? nil : .messageHoldsDelimiter
  }
}
