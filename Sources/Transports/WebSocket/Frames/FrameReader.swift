import ConnectionFSM

/// Frames of one direction, read: bytes cut anywhere go in, messages and control frames come out.
///
/// What is wrong is told at the first byte that shows it. Nothing is read after that.
struct FrameReader: Sendable {
  enum Item {
    case message(Message)
    case ping([UInt8])
    case pong([UInt8])
    /// Nil where the close has no body.
    case close(CloseCode?, reason: String)
  }

  private let role: Role
  private let limits: WebSocketLimits
  private let inflater: MessageInflater?

  /// Where in the stream the next byte will lie.
  private var offset: UInt64 = 0
  private var header = InlineArray<14, UInt8>(repeating: 0)
  private var headerCount = 0
  /// How long the header is, as far as its first two bytes tell.
  private var headerLength = 2

  // The frame whose payload is being read.
  private var opcode = Opcode.continuation
  private var isFinal = true
  private var remaining = 0
  private var taken = 0
  private var key: UInt32 = 0
  private var control: [UInt8] = []

  // The message in progress.
  private var kind: Message.Kind?
  private var message: [UInt8] = []
  /// What of it was delivered in pieces.
  private var delivered = 0
  private var isCompressed = false
  private var wireLength = 0
  private var utf8 = UTF8Validator()
  /// Masked bytes to inflate are unmasked here.
  private var scratch: [UInt8] = []
  /// As long as the last message in fragments was, the next may be.
  private var expected = 0

  init(_ role: Role, limits: WebSocketLimits, inflater: MessageInflater?) {
    self.role = role
    self.limits = limits
    self.inflater = inflater
  }

  /// Whether bytes of a frame or a message are missing.
  var isInside: Bool { headerCount > 0 || kind != nil }

  /// What an end at this place is.
  var endedInside: WebSocketFrameError {
    WebSocketFrameError(offset: offset, problem: .endedInside)
  }

  /// Takes bytes until something is whole, or they are used up.
  mutating func next(
    _ bytes: inout UnsafeRawBufferPointer
  ) throws(WebSocketFrameError) -> Item? {
    while true {
      if headerCount < headerLength {
        guard try takeHeader(&bytes) else { return nil }
        try begin(available: bytes.count)
      }
      let count = min(remaining, bytes.count)
      let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
      remaining -= count
      if opcode.isControl {
        takeControl(part)
      } else {
        try take(part)
      }
      offset += UInt64(count)
      taken += count
      guard remaining == 0 else { return piece() }
      headerCount = 0
      headerLength = 2
      if let item = opcode.isControl ? try controlFrame() : try messageOrPiece() { return item }
    }
  }

  /// Forgets what is in progress: nothing more will be read.
  mutating func letGo() {
    message = []
    control = []
    scratch = []
  }

  private func problem(_ problem: WebSocketFrameError.Problem) -> WebSocketFrameError {
    WebSocketFrameError(offset: offset, problem: problem)
  }
}

// MARK: Headers

extension FrameReader {
  /// - Returns: Whether the header is whole.
  private mutating func takeHeader(
    _ bytes: inout UnsafeRawBufferPointer
  ) throws(WebSocketFrameError) -> Bool {
    var place = 0
    while headerCount < headerLength {
      guard place < bytes.count else { break }
      header[headerCount] = bytes[place]
      headerCount += 1
      place += 1
      switch headerCount {
      case 1: try checkFirstByte()
      case 2: try checkSecondByte()
      default: break
      }
      offset += 1
    }
    bytes = UnsafeRawBufferPointer(rebasing: bytes[place...])
    return headerCount == headerLength
  }

  private mutating func checkFirstByte() throws(WebSocketFrameError) {
    let first = header[0]
    isFinal = first & 0x80 != 0
    guard let opcode = Opcode(rawValue: first & 0x0F) else {
      throw problem(.reservedOpcode(first & 0x0F))
    }
    self.opcode = opcode
    // RSV1 marks a compressed message on its first frame, and stands nowhere else (RFC 7692
    // section 6).
    let beginsMessage = opcode == .text || opcode == .binary
    let allowed: UInt8 = beginsMessage && inflater != nil ? 0x40 : 0
    guard first & 0x70 & ~allowed == 0 else { throw problem(.reservedBits(first & 0x70)) }
    if opcode.isControl {
      guard isFinal else { throw problem(.fragmentedControl) }
    } else if beginsMessage {
      guard kind == nil else { throw problem(.messageInsideMessage) }
    } else {
      guard kind != nil else { throw problem(.nothingToContinue) }
    }
  }

  private mutating func checkSecondByte() throws(WebSocketFrameError) {
    let second = header[1]
    guard (second & 0x80 != 0) == (role == .server) else { throw problem(.wrongMasking) }
    headerLength = 2 + (role == .server ? 4 : 0)
    switch second & 0x7F {
    case 126: headerLength += 2
    case 127: headerLength += 8
    default: return
    }
    guard !opcode.isControl else { throw problem(.controlTooLong) }
  }

  /// The header is whole: what it announces is judged before a byte of it is kept.
  private mutating func begin(available: Int) throws(WebSocketFrameError) {
    let length: UInt64
    var place = 2
    // A length in more bytes than it needs is against section 5.2, but leaves no doubt, and small
    // devices send such: it is taken.
    switch header[1] & 0x7F {
    case 126:
      length = UInt64(header[2]) << 8 | UInt64(header[3])
      place = 4
    case 127:
      var sum: UInt64 = 0
      for index in 2..<10 { sum = sum << 8 | UInt64(header[index]) }
      length = sum
      place = 10
    case let short: length = UInt64(short)
    }
    guard length >> 63 == 0 else { throw problem(.lengthOverflow) }
    if role == .server {
      // As they lie, whatever the machine's order is.
      let (a, b) = (UInt32(header[place]), UInt32(header[place + 1]))
      let (c, d) = (UInt32(header[place + 2]), UInt32(header[place + 3]))
      key = (a | b << 8 | c << 16 | d << 24).littleEndian
    }
    taken = 0
    if opcode.isControl {
      remaining = Int(length)
      return
    }
    guard length <= UInt64(limits.maximumFrameLength) else {
      throw problem(.frameTooLong(length, limit: limits.maximumFrameLength))
    }
    remaining = Int(length)
    if opcode != .continuation {
      kind = opcode == .text ? .text : .binary
      isCompressed = header[0] & 0x40 != 0
    }
    wireLength += headerLength + remaining
    if !isCompressed {
      guard remaining <= limits.maximumMessageLength - delivered - message.count else {
        throw problem(.messageTooLong(limit: limits.maximumMessageLength))
      }
    }
    reserve(available: available)
  }

  /// Room for a message that will take more than one read, so that it is not moved as it grows.
  /// What only a header promises is trusted up to a bound.
  private mutating func reserve(available: Int) {
    guard opcode != .continuation, !limits.deliversPieces, !isCompressed else { return }
    let whole = isFinal ? remaining : max(remaining, expected)
    guard whole > available || !isFinal else { return }
    message.reserveCapacity(min(whole, Self.trusted))
  }

  private static var trusted: Int { 1 << 20 }
}

// MARK: Payloads

extension FrameReader {
  private mutating func takeControl(_ part: UnsafeRawBufferPointer) {
    let start = control.count
    control += part
    if role == .server { Masking.apply(key, from: taken, to: &control, startingAt: start) }
  }

  private mutating func take(_ part: UnsafeRawBufferPointer) throws(WebSocketFrameError) {
    let start = message.count
    var failure: WebSocketFrameError?
    if isCompressed {
      do throws(WebSocketFrameError) { try inflate(part) } catch { failure = error }
    } else {
      message += part
      if role == .server { Masking.apply(key, from: taken, to: &message, startingAt: start) }
    }
    if kind == .text, message.count > start {
      var validator = utf8
      let isText = validator.take(message.span.bytes.extracting(droppingFirst: start))
      utf8 = validator
      // What came before that which does not inflate, if the read ended there, would be told first.
      guard isText else { throw payloadProblem(.invalidUTF8) }
    }
    if let failure { throw failure }
  }

  /// With the place where the frame's payload begins: how far it was read when the problem showed
  /// depends on how the bytes were cut.
  private func payloadProblem(_ problem: WebSocketFrameError.Problem) -> WebSocketFrameError {
    WebSocketFrameError(offset: offset - UInt64(taken), problem: problem)
  }

  private mutating func inflate(_ part: UnsafeRawBufferPointer) throws(WebSocketFrameError) {
    guard let inflater else { return }
    let isLast = isFinal && remaining == 0
    let limit = limits.maximumMessageLength - delivered
    do throws(InflateError) {
      if role == .server {
        // Taken out for the time, so that both arrays can be worked on at once.
        var unmasked = scratch
        scratch = []
        unmasked.removeAll(keepingCapacity: true)
        unmasked += part
        Masking.apply(key, from: taken, to: &unmasked, startingAt: 0)
        try inflater.inflate(unmasked.span.bytes, isLast: isLast, limit: limit, into: &message)
        scratch = unmasked
      } else {
        try inflater.inflate(part.bytes, isLast: isLast, limit: limit, into: &message)
      }
    } catch {
      switch error {
      case .tooLong: throw payloadProblem(.messageTooLong(limit: limits.maximumMessageLength))
      case .corrupt, .truncated: throw payloadProblem(.compression(error))
      }
    }
  }

  /// What is there of a message that is delivered in pieces.
  private mutating func piece() -> Item? {
    guard limits.deliversPieces, !opcode.isControl, !message.isEmpty, let kind else { return nil }
    delivered += message.count
    var piece = Message(bytes: message, kind: kind)
    piece.isContinued = true
    message = []
    return .message(piece)
  }

  /// A data frame is whole.
  private mutating func messageOrPiece() throws(WebSocketFrameError) -> Item? {
    guard isFinal else { return piece() }
    guard let kind else { return nil }
    if kind == .text {
      guard utf8.isAtBoundary else { throw problem(.invalidUTF8) }
      utf8.reset()
    }
    if opcode == .continuation { expected = message.count }
    let whole = Message(bytes: message, kind: kind, wireLength: wireLength)
    message = []
    self.kind = nil
    delivered = 0
    wireLength = 0
    return .message(whole)
  }

  private mutating func controlFrame() throws(WebSocketFrameError) -> Item {
    let payload = control
    control = []
    switch opcode {
    case .ping: return .ping(payload)
    case .pong: return .pong(payload)
    case .close, .continuation, .text, .binary: return try close(payload)
    }
  }

  private func close(_ payload: [UInt8]) throws(WebSocketFrameError) -> Item {
    guard !payload.isEmpty else { return .close(nil, reason: "") }
    guard payload.count >= 2 else { throw problem(.halfCloseCode) }
    let code = CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.mayTravel else { throw problem(.invalidCloseCode(code.rawValue)) }
    guard let reason = String(validating: payload[2...], as: UTF8.self) else {
      throw problem(.invalidUTF8)
    }
    return .close(code, reason: reason)
  }
}
