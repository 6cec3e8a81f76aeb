public import ConnectionFSM

/// Each message behind its length, and nothing else on the wire.
///
/// Without a handshake, so the link is open at once. Both ends speak it alike. Messages are binary:
/// one of another kind can be sent, and arrives as binary, since kinds do not travel. A message's
/// `wireLength` counts the bytes of its length too.
///
/// A length that cannot be ends the link with `Cause.protocolError`, and ``diagnosis`` tells the
/// place and what is wrong there, as a ``FrameError``; the end inside a frame is `Cause.truncated`.
/// After that the engine does nothing any more.
///
/// A connection turns away what ``admits(_:)`` refuses; ``validate(_:)`` says what is wrong with
/// it. One that is sent all the same ends the link with `Cause.protocolError`, and not a byte of it
/// is written.
public struct LengthFraming: ProtocolEngine, Sendable {
  /// How many bytes a length has.
  public enum Width: Int, CaseIterable, Sendable {
    case one = 1
    case two = 2
    case four = 4
    case eight = 8
  }

  /// Which byte of a length comes first.
  public enum ByteOrder: CaseIterable, Sendable {
    /// The most significant one: network order.
    case bigEndian
    /// The least significant one.
    case littleEndian
  }

  private let width: Int
  private let byteOrder: ByteOrder
  /// What a length says beyond the payload's.
  private let surplus: UInt64
  private let maximumLength: Int

  private var frame: PartialFrame
  private var isFinished = false
  private var isOver = false

  public private(set) var diagnosis: (any Error)?

  /// Makes an engine for one link.
  /// - Parameters:
  ///   - width: How many bytes a length has.
  ///   - byteOrder: Which of them comes first.
  ///   - includesPrefix: Whether a length counts its own bytes too.
  ///   - maximumLength: The most bytes of a payload in either direction, without the length: 1 to
  ///     2³¹ - 1. The default of 16 MiB bounds what a peer can make us keep; of narrow lengths the
  ///     most they can say holds, if that is less.
  /// - Throws: ``FramingError``, which names the argument.
  public init(
    width: Width = .four, byteOrder: ByteOrder = .bigEndian, includesPrefix: Bool = false,
    maximumLength: Int = 16 << 20
  ) throws(FramingError) {
    let range = 1...Int(Int32.max)
    guard range.contains(maximumLength) else {
      throw .limitOutOfRange(argument: "maximumLength", value: maximumLength, range: range)
    }
    self.width = width.rawValue
    self.byteOrder = byteOrder
    surplus = includesPrefix ? UInt64(width.rawValue) : 0
    let most = UInt64.max >> (64 - 8 * UInt64(width.rawValue)) - surplus
    self.maximumLength = Int(min(UInt64(maximumLength), most))
    frame = PartialFrame(headerLength: width.rawValue)
  }

  /// Always false: the protocol has no ping.
  public var canPing: Bool { false }

  /// Always nil: frames wait for nothing.
  public var nextDeadline: Instant? { nil }

  /// Checks that the message is no longer than the longest.
  /// - Throws: ``FramingError/messageTooLong(count:limit:)``.
  public func validate(_ message: Message) throws(FramingError) {
    guard message.bytes.count <= maximumLength else {
      throw .messageTooLong(count: message.bytes.count, limit: maximumLength)
    }
  }

  /// Whether ``validate(_:)`` finds nothing wrong.
  public func admits(_ message: Message) -> Bool { message.bytes.count <= maximumLength }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !isOver, !rest.isEmpty {
        do throws(FrameError) {
          if let message = try next(in: &rest) { output.events.append(.message(message)) }
        } catch {
          fail(.protocolError, error, &output)
        }
      }
    }
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    guard frame.isEmpty else {
      let error = FrameError(offset: frame.end, problem: .endedInside)
      return fail(.truncated, error, &output)
    }
    isOver = true
    output.events.append(.closed(nil))
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    do throws(FramingError) { try validate(message) } catch {
      return fail(.protocolError, error, &output)
    }
    let length = UInt64(message.bytes.count) + surplus
    for place in 0..<width {
      let shift = 8 * (byteOrder == .bigEndian ? width - 1 - place : place)
      output.bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
    }
    output.bytes += message.bytes
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    isFinished = true
    output.events.append(.finished)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}

  /// Takes bytes of one frame.
  /// - Returns: Its message once it is whole.
  private mutating func next(
    in bytes: inout UnsafeRawBufferPointer
  ) throws(FrameError) -> Message? {
    if !frame.hasHeader {
      frame.takeHeader(&bytes)
      guard frame.hasHeader else { return nil }
    }
    let declared = declaredLength
    guard declared >= surplus else {
      throw FrameError(
        offset: frame.start, problem: .lengthTooSmall(declared, least: surplus))
    }
    guard declared - surplus <= maximumLength else {
      throw FrameError(
        offset: frame.start,
        problem: .tooLong(declared, limit: UInt64(maximumLength) + surplus))
    }
    let count = Int(declared - surplus)
    guard let payload = frame.takeBody(count, &bytes) else { return nil }
    return Message(bytes: payload, kind: .binary, wireLength: width + count)
  }

  private var declaredLength: UInt64 {
    let add = { (length: UInt64, byte: UInt8) in length << 8 | UInt64(byte) }
    return switch byteOrder {
    case .bigEndian: frame.header.reduce(0, add)
    case .littleEndian: frame.header.reversed().reduce(0, add)
    }
  }

  private mutating func fail(
    _ cause: Cause, _ error: any Error, _ output: inout EngineOutput
  ) {
    isOver = true
    frame.letGo()
    diagnosis = error
    output.events.append(.failed(cause))
  }
}
