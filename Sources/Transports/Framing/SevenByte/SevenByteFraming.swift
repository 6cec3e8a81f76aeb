public import ConnectionFSM

/// The published managers' frame (F29): seven bytes of header, then JSON, perhaps XORed, perhaps
/// compressed.
///
/// | offset | field |
/// | --- | --- |
/// | 0 to 3 | the whole frame's length, header and all, big-endian |
/// | 4 | type: 1 is JSON |
/// | 5 | encoding: 0 none, 1 XOR |
/// | 6 | compression: 0 none, 1 gzip |
///
/// What is sent is encoded, then compressed: so the published peers do it, though what was XORed
/// compresses badly. What arrives is read by the fields of its own header, whatever is sent.
///
/// Without a handshake, so the link is open at once. Both ends speak it alike. A frame of type 1
/// arrives as a message of kind `object`, of any other type as `unknown`, with its body decoded all
/// the same. A frame of seven bytes is a message without a payload, which some peers send in place
/// of what they could not encode. Each message's `wireLength` is its frame's length.
///
/// Anything else ends the link with `Cause.protocolError`, and ``diagnosis`` tells the place and
/// what is wrong there, as a ``FrameError``; the end inside a frame is `Cause.truncated`. After
/// that the engine does nothing any more.
///
/// A connection turns away what ``admits(_:)`` refuses; ``validate(_:)`` says what is wrong with
/// it. One that is sent all the same ends the link with `Cause.protocolError`, and not a byte of it
/// is written.
///
/// XOR is not encryption: see ``Encoding/xor(key:)``.
public struct SevenByteFraming: ProtocolEngine, Sendable {
  /// What is done to a message's bytes before they are compressed.
  public enum Encoding: Hashable, Sendable {
    /// Nothing.
    case plain
    /// The UTF-8 bytes of the key are laid over them again and again, anew for each message. This
    /// is no encryption: two messages, or the guess of one, give the key away. For secrecy use TLS.
    case xor(key: String)
  }

  /// How a message's bytes are compressed.
  public enum Compression: Hashable, Sendable {
    case none
    /// One gzip member a message. What arrives may be in zlib's container as well.
    case gzip
  }

  private static let headerLength = 7
  private static let jsonType: UInt8 = 1
  /// The published peers put a length together wrongly from here on, and lose the stream.
  private static let legacyLimit = 65_535

  private let encodingKey: XORKey?
  private let decodingKey: XORKey?
  private let compression: Compression
  private let maximumFrame: Int
  private let maximumInflated: Int
  private let outboundLimit: Int
  private let closesOnMalformedJSON: Bool

  private var frame = PartialFrame(headerLength: Self.headerLength)
  private var isFinished = false
  private var isOver = false

  public private(set) var diagnosis: (any Error)?

  /// Makes an engine for one link.
  /// - Parameters:
  ///   - encoding: What is done to what is sent.
  ///   - compression: How that is compressed then.
  ///   - decodingKey: The key of XORed frames that arrive; nil is the one of `encoding`.
  ///   - maximumFrame: The most bytes of a frame in either direction, header and all: 7 to 2³¹ - 1.
  ///     The default of 16 MiB bounds what a peer can make us keep.
  ///   - maximumInflated: The most bytes of a message that is compressed, in either direction: 1 to
  ///     2³¹ - 1. The default is 64 MiB.
  ///   - legacyPeer: Whether the peer is one of the published managers: a frame above 65,535 bytes
  ///     would make them lose the stream for good, so none is sent.
  ///   - closesOnMalformedJSON: Whether a frame of type 1 whose body is no JSON ends the link.
  ///     Without, such a message is delivered, and decoding it throws.
  /// - Throws: ``FramingError``, which names the argument.
  public init(
    encoding: Encoding = .plain,
    compression: Compression = .none,
    decodingKey: String? = nil,
    maximumFrame: Int = 16 << 20,
    maximumInflated: Int = 64 << 20,
    legacyPeer: Bool = false,
    closesOnMalformedJSON: Bool = false
  ) throws(FramingError) {
    let most = Int(Int32.max)
    guard (Self.headerLength...most).contains(maximumFrame) else {
      throw .limitOutOfRange(
        argument: "maximumFrame", value: maximumFrame, range: Self.headerLength...most)
    }
    guard (1...most).contains(maximumInflated) else {
      throw .limitOutOfRange(argument: "maximumInflated", value: maximumInflated, range: 1...most)
    }
    switch encoding {
    case .plain: encodingKey = nil
    case .xor(let key): encodingKey = try XORKey(key)
    }
    if let decodingKey {
      self.decodingKey = try XORKey(decodingKey)
    } else {
      self.decodingKey = encodingKey
    }
    self.compression = compression
    self.maximumFrame = maximumFrame
    self.maximumInflated = maximumInflated
    outboundLimit = legacyPeer ? min(maximumFrame, Self.legacyLimit) : maximumFrame
    self.closesOnMalformedJSON = closesOnMalformedJSON
  }

  /// Always false: the protocol has no ping.
  public var canPing: Bool { false }

  /// Always nil: frames wait for nothing.
  public var nextDeadline: Instant? { nil }

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
    do throws(FramingError) {
      try append(message, to: &output.bytes)
    } catch {
      fail(.protocolError, error, &output)
    }
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    isFinished = true
    output.events.append(.finished)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}

  private mutating func fail(
    _ cause: Cause, _ error: any Error, _ output: inout EngineOutput
  ) {
    isOver = true
    frame.letGo()
    diagnosis = error
    output.events.append(.failed(cause))
  }
}

// MARK: Sending

extension SevenByteFraming {
  /// Checks that the message can be sent.
  /// - Throws: ``FramingError/messageIsNoObject``, ``FramingError/messageIsNoJSON(_:)``,
  ///   ``FramingError/messageTooLong(count:limit:)`` or
  ///   ``FramingError/frameTooLong(count:limit:)``.
  public func validate(_ message: Message) throws(FramingError) {
    try checkContent(of: message)
    guard compression == .gzip else {
      return try checkLength(ofFrameWith: message.bytes.count)
    }
    // Compressed only where the answer depends on it.
    guard Self.headerLength + Gzip.worstCase(of: message.bytes.count) > outboundLimit else {
      return
    }
    try checkLength(ofFrameWith: compressed(message.bytes).count)
  }

  /// Whether ``validate(_:)`` finds nothing wrong.
  public func admits(_ message: Message) -> Bool {
    do throws(FramingError) { try validate(message) } catch { return false }
    return true
  }

  private func checkContent(of message: Message) throws(FramingError) {
    guard message.kind == .object else { throw .messageIsNoObject }
    do throws(JSONError) { try JSONText.check(message.bytes) } catch {
      throw .messageIsNoJSON(error)
    }
    // A peer with the limits of ours would refuse it.
    guard compression == .none || message.bytes.count <= maximumInflated else {
      throw .messageTooLong(count: message.bytes.count, limit: maximumInflated)
    }
  }

  private func checkLength(ofFrameWith body: Int) throws(FramingError) {
    let count = Self.headerLength + body
    guard count <= outboundLimit else {
      throw .frameTooLong(count: count, limit: outboundLimit)
    }
  }

  private func compressed(_ bytes: [UInt8]) -> [UInt8] {
    guard let encodingKey else { return Gzip.deflate(bytes) }
    var encoded = bytes
    encodingKey.apply(to: &encoded)
    return Gzip.deflate(encoded)
  }

  private func append(_ message: Message, to output: inout [UInt8]) throws(FramingError) {
    try checkContent(of: message)
    let body = compression == .gzip ? compressed(message.bytes) : message.bytes
    try checkLength(ofFrameWith: body.count)
    let length = UInt32(Self.headerLength + body.count)
    withUnsafeBytes(of: length.bigEndian) { output += $0 }
    output += [Self.jsonType, encodingKey == nil ? 0 : 1, compression == .gzip ? 1 : 0]
    let start = output.count
    output += body
    if compression == .none { encodingKey?.apply(to: &output, from: start) }
  }
}

// MARK: Receiving

extension SevenByteFraming {
  /// Takes bytes of one frame.
  /// - Returns: Its message once it is whole.
  private mutating func next(
    in bytes: inout UnsafeRawBufferPointer
  ) throws(FrameError) -> Message? {
    if !frame.hasHeader {
      frame.takeHeader(&bytes)
      try checkHeader()
      guard frame.hasHeader else { return nil }
    }
    let header = frame.header
    let start = frame.start
    let length = Int(declaredLength)
    guard let body = frame.takeBody(length - Self.headerLength, &bytes) else { return nil }
    let kind: Message.Kind = header[4] == Self.jsonType ? .object : .unknown(header[4])
    guard !body.isEmpty else { return Message(bytes: [], kind: kind, wireLength: length) }
    let payload = try decoded(
      body, isXORed: header[5] == 1, isCompressed: header[6] == 1, kind,
      at: start + UInt64(Self.headerLength))
    return Message(bytes: payload, kind: kind, wireLength: length)
  }

  /// Each field is judged as soon as it is there, so the verdict falls with the same byte however
  /// the stream is cut.
  private func checkHeader() throws(FrameError) {
    let header = frame.header
    if header.count >= 4 {
      let length = UInt64(declaredLength)
      guard length >= Self.headerLength else {
        throw error(at: 0, .lengthTooSmall(length, least: UInt64(Self.headerLength)))
      }
      guard length <= maximumFrame else {
        throw error(at: 0, .tooLong(length, limit: UInt64(maximumFrame)))
      }
    }
    if header.count >= 6 {
      guard header[5] <= 1 else { throw error(at: 5, .unknownEncoding(header[5])) }
      guard header[5] == 0 || decodingKey != nil else { throw error(at: 5, .keyMissing) }
    }
    if header.count == 7, header[6] > 1 { throw error(at: 6, .unknownCompression(header[6])) }
  }

  private var declaredLength: UInt32 {
    frame.header[..<4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func error(at place: UInt64, _ problem: FrameError.Problem) -> FrameError {
    FrameError(offset: frame.start + place, problem: problem)
  }

  private func decoded(
    _ body: [UInt8], isXORed: Bool, isCompressed: Bool, _ kind: Message.Kind, at offset: UInt64
  ) throws(FrameError) -> [UInt8] {
    var payload = body
    if isCompressed {
      do throws(GzipError) { payload = try Gzip.inflate(body, limit: maximumInflated) } catch {
        throw FrameError(offset: offset, problem: .gzip(error))
      }
    }
    if isXORed { decodingKey?.apply(to: &payload) }
    if closesOnMalformedJSON, kind == .object {
      do throws(JSONError) { try JSONText.check(payload) } catch {
        throw FrameError(offset: offset, problem: .json(error))
      }
    }
    return payload
  }
}
