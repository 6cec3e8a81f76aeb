import ConnectionFSM

/// A WebSocket once its handshake is done, from either end: messages, pings and the close
/// (RFC 6455 sections 5 to 7).
struct FrameExchange: Sendable {
  /// How far the link has come.
  private enum Stage {
    case open
    /// Our close is sent; the peer's is awaited.
    case closing
    /// Nothing is read any more, and our close, with this code, is the next that is written: behind
    /// what the application answers to messages that came with the end.
    case parting(CloseCode?, EngineEvent, until: Instant)
    /// All is said. The peer's end is awaited, so that a reset does not overtake our last words;
    /// what it still sends is read and dropped.
    case leaving(EngineEvent, until: Instant)
    case over
  }

  private let role: Role
  private let limits: WebSocketLimits
  private let farewell: WebSocketClose
  private let notice: (@Sendable (WebSocketNotice) -> Void)?
  private let deflater: MessageDeflater?
  private let threshold: Int

  private var stage = Stage.open
  private var reader: FrameReader
  private var writer: FrameWriter

  /// Messages that are not written whole, and how far the first of them is.
  private var queue = FIFO<Message>()
  private var position = 0
  private var hasBegun = false
  private var isDeflated = false
  /// Deflated bytes, before they are framed.
  private var scratch: [UInt8] = []
  /// The answer to the latest ping, while there is no room for it: those before need none
  /// (section 5.5.3).
  private var pong: [UInt8]?
  private var lastPing: UInt32?
  /// Something was given and is not sent any more, and so is nothing behind it: messages keep their
  /// order, and the peer sees no gap in it.
  private var hasDropped = false
  /// Whether we want to close, once what was given is written.
  private var wantsClose = false

  private(set) var diagnosis: (any Error)?

  /// Above so much unwritten, messages wait here, where a pong can still overtake them.
  private static let roomForMessages = 32 << 10
  /// Above so much unwritten, pongs wait too: a flood of pings must not fill the memory.
  private static let roomForPongs = 256 << 10
  /// How long the peer's end of the stream is awaited. The peer closes at once if it is well.
  private static let linger = TimeSpan.seconds(2)

  init(
    _ role: Role, limits: WebSocketLimits, farewell: WebSocketClose, keys: RandomKeys,
    compression: (WebSocketCompression, DeflateAgreement)? = nil,
    notice: (@Sendable (WebSocketNotice) -> Void)? = nil
  ) {
    self.role = role
    self.limits = limits
    self.farewell = farewell
    self.notice = notice
    threshold = compression?.0.threshold ?? 0
    deflater = compression.map { $1.deflater(for: role, level: $0.level) }
    let inflater = compression.map { $1.inflater(for: role) }
    reader = FrameReader(role, limits: limits, inflater: inflater)
    writer = FrameWriter(role, keys: keys)
  }

  var nextDeadline: Instant? {
    switch stage {
    case .parting(_, _, let deadline), .leaving(_, let deadline): deadline
    case .open, .closing, .over: nil
    }
  }

  var backlog: Int { queue.count }

  var hasMore: Bool {
    if case .parting = stage { return true }
    return pong != nil || !queue.isEmpty || wantsClose
  }
}

// MARK: What arrives

extension FrameExchange {
  mutating func receive(
    _ bytes: UnsafeRawBufferPointer, at now: Instant, into output: inout EngineOutput
  ) {
    var rest = bytes
    while !rest.isEmpty, isReading {
      do throws(WebSocketFrameError) {
        guard let item = try reader.next(&rest) else { return }
        take(item, at: now, into: &output)
      } catch {
        diagnosis = error
        end(with: .failed(.protocolError), telling: error.closeCode, at: now, into: &output)
      }
    }
  }

  private var isReading: Bool {
    switch stage {
    case .open, .closing: true
    case .parting, .leaving, .over: false
    }
  }

  private mutating func take(
    _ item: FrameReader.Item, at now: Instant, into output: inout EngineOutput
  ) {
    switch item {
    case .message(let message): output.events.append(.message(message))
    case .ping(let payload):
      pong = payload
      if output.bytes.count < Self.roomForPongs { writePong(into: &output) }
    case .pong(let payload):
      // One that nobody asked for means nothing (section 5.5.3).
      guard let lastPing, payload == Self.payload(ofPing: lastPing) else { return }
      output.events.append(.pong(lastPing))
    case .close(let code, let reason):
      notice?(.closedByPeer(code: code ?? .noStatus, reason: reason))
      end(with: .closed(code ?? .noStatus), telling: code, at: now, into: &output)
    }
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    switch stage {
    case .open where reader.isInside:
      diagnosis = reader.endedInside
      finish(with: .failed(.truncated), into: &output)
    // Without a close the end is none that the protocol knows (section 7.1.5).
    case .open, .closing: finish(with: .closed(.abnormal), into: &output)
    case .parting(_, let end, _), .leaving(let end, _): finish(with: end, into: &output)
    case .over: break
    }
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    switch stage {
    case .parting(_, let end, let deadline) where deadline <= now,
      .leaving(let end, let deadline) where deadline <= now:
      finish(with: end, into: &output)
    case .open, .closing, .parting, .leaving, .over: break
    }
  }
}

// MARK: What is sent

extension FrameExchange {
  mutating func send(_ message: Message, into output: inout EngineOutput) {
    guard isSending, !wantsClose else { return }
    let fits =
      output.bytes.count < Self.roomForMessages && message.bytes.count <= limits.fragmentLength
    if fits, queue.isEmpty, !hasDropped {
      _ = writePart(of: message, into: &output)
    } else if case .open = stage {
      queue.append(message)
    } else {
      hasDropped = true
    }
  }

  private var isSending: Bool {
    switch stage {
    case .open, .parting: true
    case .closing, .leaving, .over: false
    }
  }

  /// What is urgent, then a part of a message, then the close.
  mutating func writeOn(into output: inout EngineOutput) {
    if case .parting(let code, let end, let deadline) = stage {
      writeClose(code, "", into: &output)
      stage = .leaving(end, until: deadline)
      leaveAtOnceIfDone(into: &output)
    } else if pong != nil {
      writePong(into: &output)
    } else if let message = queue.first {
      if writePart(of: message, into: &output) { queue.popFirst() }
    } else if wantsClose {
      writeClose(CloseCode(farewell.code), farewell.reason, into: &output)
      stage = .closing
    }
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    guard case .open = stage else { return }
    lastPing = number
    write(.ping, Self.payload(ofPing: number), into: &output)
  }

  /// Begins to close, behind what was given.
  mutating func close(into output: inout EngineOutput) {
    guard case .open = stage else { return }
    wantsClose = true
    if pong == nil, queue.isEmpty { writeOn(into: &output) }
  }

  private static func payload(ofPing number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private mutating func writePong(into output: inout EngineOutput) {
    guard let payload = pong else { return }
    pong = nil
    write(.pong, payload, into: &output)
  }

  /// Writes one frame of a message.
  /// - Returns: Whether it was the last.
  private mutating func writePart(of message: Message, into output: inout EngineOutput) -> Bool {
    let end = min(position + limits.fragmentLength, message.bytes.count)
    let isLast = end == message.bytes.count
    let opcode: Opcode = hasBegun ? .continuation : message.isText ? .text : .binary
    if !hasBegun { isDeflated = deflater != nil && message.bytes.count >= threshold }
    message.bytes.withUnsafeBytes { bytes in
      let part = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
      guard isDeflated else {
        writer.write(opcode, isFinal: isLast, part, into: &output.bytes)
        hasBegun = true
        return
      }
      writeDeflated(part, opcode, isLast, into: &output)
    }
    position = isLast ? 0 : end
    if isLast { hasBegun = false }
    return isLast
  }

  private mutating func writeDeflated(
    _ part: UnsafeRawBufferPointer, _ opcode: Opcode, _ isLast: Bool,
    into output: inout EngineOutput
  ) {
    scratch.removeAll(keepingCapacity: true)
    deflater?.deflate(part.bytes, isLast: isLast, into: &scratch)
    // What zlib keeps to itself for now comes with the next part.
    guard isLast || !scratch.isEmpty else { return }
    scratch.withUnsafeBytes {
      writer.write(opcode, isFinal: isLast, isCompressed: !hasBegun, $0, into: &output.bytes)
    }
    hasBegun = true
  }

  private mutating func writeClose(
    _ code: CloseCode?, _ reason: String, into output: inout EngineOutput
  ) {
    var body: [UInt8] = []
    if let code {
      body = [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]
      body += reason.utf8
    }
    write(.close, body, into: &output)
    // Nothing follows a close (section 5.5.1).
    pong = nil
    wantsClose = false
  }

  private mutating func write(
    _ opcode: Opcode, _ payload: [UInt8], into output: inout EngineOutput
  ) {
    payload.withUnsafeBytes { writer.write(opcode, $0, into: &output.bytes) }
  }
}

// MARK: The end

extension FrameExchange {
  /// Tells the peer why, unless our close is sent already, and waits for its end.
  private mutating func end(
    with end: EngineEvent, telling code: CloseCode?, at now: Instant,
    into output: inout EngineOutput
  ) {
    let deadline = now + Self.linger
    if case .open = stage {
      stage = .parting(code, end, until: deadline)
      // Gone now, and not with the close: what leaves the backlog there counts as written.
      hasDropped = !queue.removeAll().isEmpty
    } else {
      stage = .leaving(end, until: deadline)
    }
    reader.letGo()
    output.events.append(.ending)
    leaveAtOnceIfDone(into: &output)
  }

  /// The server ends the stream of a link that is closed in order, so that no client's port is kept
  /// busy (section 7.1.1).
  private mutating func leaveAtOnceIfDone(into output: inout EngineOutput) {
    guard role == .server, case .leaving(.closed(let code), _) = stage else { return }
    finish(with: .closed(code), into: &output)
  }

  private mutating func finish(with end: EngineEvent, into output: inout EngineOutput) {
    stage = .over
    reader.letGo()
    _ = queue.removeAll()
    pong = nil
    wantsClose = false
    output.events.append(end)
  }
}

extension Message {
  /// Whether it travels as text: JSON does.
  fileprivate var isText: Bool {
    switch kind {
    case .text, .object: true
    case .binary, .unknown: false
    }
  }
}
