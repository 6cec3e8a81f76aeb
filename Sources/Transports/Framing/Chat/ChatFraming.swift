public import ConnectionFSM

/// The client's side of a chat of lines (F41): `iam:NAME` once, then `msg:TEXT` for each message.
///
/// The login is written before anything else, and the link is open with that: the protocol has no
/// answer to it. Messages that are sent are the texts alone; messages that arrive are the server's
/// lines, without their ends, for which ``ChatLine`` is a view. The server sends what is said to
/// all, the sender among them, so a message need not be shown before it comes back.
///
/// The server ends its lines with `\n`, always. Whether the client does is up to the server:
/// one that knows no delimiter takes each read for one message, and needs `isBare`. It loses what
/// the network merges: of two messages that one read of its brings, the login among them, the
/// second is lost and leaves its `msg` at the end of the first; one that is split is cut short. A
/// colon would cut a text or a password there, so it is refused. Send to such a server seldom, or
/// better, use a delimiter.
///
/// A connection turns away what ``admits(_:)`` refuses; ``validate(_:)`` says what is wrong with
/// it. One that is sent all the same ends the link with `Cause.protocolError`, and not a byte of it
/// is written. The server's end inside a line is `Cause.truncated`, and a line longer than the
/// limit `Cause.protocolError`.
public struct ChatFraming: ProtocolEngine, Sendable {
  /// What stands before a text.
  private static let prefix = "msg:"

  private let login: ChatLogin
  private let isBare: Bool
  private let maximumLength: Int
  private var lines: DelimiterFraming
  private var isFinished = false
  private var isOver = false

  public private(set) var diagnosis: (any Error)?

  /// Makes an engine for one link.
  /// - Parameters:
  ///   - login: Who joins.
  ///   - isBare: Whether the server knows no delimiter, so that none is written.
  ///   - maximumLength: The most bytes of a line in either direction, without its end. The default
  ///     of 64 KiB bounds what a server that never ends its line can make us keep.
  /// - Throws: ``ChatError``, which names the argument.
  public init(
    _ login: ChatLogin, isBare: Bool = false, maximumLength: Int = 65_536
  ) throws(ChatError) {
    guard !isBare || login.password?.utf8.contains(UInt8(ascii: ":")) != true else {
      throw .passwordHoldsColon
    }
    // As others hear it, a message has the name, a colon and a space before it.
    let least = max(login.line.utf8.count, login.name.utf8.count + 3, Self.prefix.utf8.count + 1)
    guard maximumLength >= least else {
      throw .maximumLengthTooSmall(maximumLength, least: least)
    }
    do throws(FramingError) {
      lines = try DelimiterFraming(delimiter: .lf, maximumLength: maximumLength)
    } catch {
      throw .maximumLengthTooSmall(maximumLength, least: least)
    }
    self.login = login
    self.isBare = isBare
    self.maximumLength = maximumLength
  }

  /// Always false: the protocol has no ping.
  public var canPing: Bool { false }

  /// Always nil: lines wait for nothing.
  public var nextDeadline: Instant? { nil }

  /// Checks that the server would read the message as one, and whole.
  /// - Throws: ``ChatError``.
  public func validate(_ message: Message) throws(ChatError) {
    guard message.kind == .text else { throw .messageIsNoText }
    guard !message.bytes.contains(UInt8(ascii: "\n")) else { throw .messageHoldsNewline }
    guard !isBare || !message.bytes.contains(UInt8(ascii: ":")) else { throw .messageHoldsColon }
    let longer = max(Self.prefix.utf8.count, login.name.utf8.count + 2)
    guard message.bytes.count <= maximumLength - longer else {
      throw .messageTooLong(count: message.bytes.count + longer, limit: maximumLength)
    }
  }

  /// Whether ``validate(_:)`` finds nothing wrong.
  public func admits(_ message: Message) -> Bool {
    do throws(ChatError) { try validate(message) } catch { return false }
    return true
  }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    write(login.line.utf8, &output)
    output.events.append(.opened)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard !isOver else { return }
    lines.receive(bytes, at: now, into: &output)
    noteEnd(output)
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    lines.receiveEnd(at: now, into: &output)
    noteEnd(output)
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    do throws(ChatError) { try validate(message) } catch {
      isOver = true
      diagnosis = error
      return output.events.append(.failed(.protocolError))
    }
    write(Array(Self.prefix.utf8) + message.bytes, &output)
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isFinished = true
    lines.close(at: now, into: &output)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}

  /// The lines may have come to their end: then nothing is written any more.
  private mutating func noteEnd(_ output: EngineOutput) {
    switch output.events.last {
    case .closed, .failed: isOver = true
    case .opened, .message, .pong, .acknowledged, .redirected, .ending, .finished, nil: return
    }
  }

  private func write(_ line: some Sequence<UInt8>, _ output: inout EngineOutput) {
    output.bytes += line
    if !isBare { output.bytes.append(UInt8(ascii: "\n")) }
  }
}
