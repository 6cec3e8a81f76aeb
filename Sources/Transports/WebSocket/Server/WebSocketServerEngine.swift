package import ConnectionFSM

/// A server's end of a WebSocket (RFC 6455), for tests and demonstrations, which can misbehave on
/// purpose.
package struct WebSocketServerEngine: ProtocolEngine, Sendable {
  private let options: WebSocketServerOptions
  private var handshake = ServerHandshake()
  private var slowAnswer: SlowAnswer?
  private var frames: FrameExchange?
  private var flood = Flood()
  /// How many messages it was given to send.
  private var messages = 0
  /// No message is sent any more: the fault has had its turn.
  private var isMute = false
  /// A close was sent, of which the exchange of frames does not know.
  private var hasClosed = false
  /// The link ends when the client ends it: the fault has held back the end.
  private var awaitsEnd = false
  private var isOver = false

  /// Makes an engine for one link.
  package init(_ options: WebSocketServerOptions = WebSocketServerOptions()) {
    self.options = options
  }

  package var canPing: Bool { true }

  package var nextDeadline: Instant? {
    if awaitsEnd { return nil }
    return slowAnswer?.nextDeadline ?? flood.nextDeadline ?? frames?.nextDeadline
  }

  package var diagnosis: (any Error)? { frames?.diagnosis }

  package var backlog: Int { frames?.backlog ?? 0 }

  package var hasMore: Bool { !awaitsEnd && (flood.hasMore || frames?.hasMore ?? false) }

  package func admits(_ message: Message) -> Bool {
    do throws(FramingError) {
      try message.validateForWebSocket(limit: options.limits.maximumOutgoingLength)
    } catch { return false }
    return true
  }

  package mutating func start(at now: Instant, into output: inout EngineOutput) {}

  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard !isOver else { return }
    guard frames == nil else {
      return bytes.withUnsafeBytes { take($0, at: now, into: &output) }
    }
    // A client that talks before it is answered is not heard.
    guard slowAnswer == nil, !flood.isRunning else { return }
    switch handshake.receive(bytes) {
    case .goesOn: break
    case .refused(let refusal): answer(ServerHandshake.refusal(refusal), &output)
    case .asked(let request, let taken):
      asked(request, at: now, into: &output)
      // Nothing, if it was not opened.
      bytes.withUnsafeBytes {
        guard frames != nil else { return }
        take(UnsafeRawBufferPointer(rebasing: $0[taken...]), at: now, into: &output)
      }
    }
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    flood = Flood()
    guard frames != nil, !awaitsEnd else { return end(&output) }
    frames?.receiveEnd(at: now, into: &output)
  }

  package mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard frames != nil, !isMute, !awaitsEnd else { return }
    messages += 1
    guard !speaks(atMessage: messages, into: &output) else { return }
    frames?.send(message, into: &output)
  }

  package mutating func writeOn(into output: inout EngineOutput) {
    if flood.hasMore { flood.writeOn(into: &output) } else { frames?.writeOn(into: &output) }
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    frames?.ping(number, into: &output)
  }

  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, !hasClosed, !awaitsEnd else { return }
    guard frames == nil else {
      frames?.close(into: &output)
      return
    }
    end(&output)
  }

  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    if let exchange = slowAnswer?.writeOn(at: now, into: &output) {
      slowAnswer = nil
      open(exchange, at: now, into: &output)
    } else if flood.isRunning {
      flood.goOn(at: now)
    } else {
      frames?.deadlineReached(at: now, into: &output)
    }
  }

  private mutating func end(_ output: inout EngineOutput) {
    isOver = true
    output.events.append(.closed(nil))
  }
}

// MARK: The handshake

extension WebSocketServerEngine {
  private mutating func answer(_ bytes: [UInt8], _ output: inout EngineOutput) {
    output.bytes += bytes
    end(&output)
  }

  private mutating func asked(
    _ request: ServerHandshake.Request, at now: Instant, into output: inout EngineOutput
  ) {
    switch options.fault {
    case .status(let status):
      return answer(WebSocketServerOptions.answer(status, options.fields), &output)
    case .endlessAnswer:
      output.bytes += "HTTP/1.1 101 Switching Protocols\r\n".utf8
      return flood.begin(Array("X-Filler: \(String(repeating: "x", count: 200))\r\n".utf8), at: now)
    case .none, .slowAnswer, .speech, .flood, .close, .silentAtClose, .openAfterClose,
      .talkAfterClose:
      break
    }
    switch options.decide(request) {
    case .answer(let bytes): answer(bytes, &output)
    case .accept(let subprotocol): accept(request, subprotocol, at: now, into: &output)
    }
  }

  private mutating func accept(
    _ request: ServerHandshake.Request, _ subprotocol: String?, at now: Instant,
    into output: inout EngineOutput
  ) {
    let answer: (agreement: DeflateAgreement, answer: String)?
    do {
      answer = try options.compression?.answer(offers: request.extensions)
    } catch {
      let refusal = ServerHandshake.Refusal(status: 400, words: "\(error)")
      return self.answer(ServerHandshake.refusal(refusal), &output)
    }
    var head = ServerHandshake.acceptance(
      of: request, subprotocol: subprotocol, extensions: answer?.answer)
    if !options.fields.isEmpty {
      let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
      head = WebSocketServerOptions.head(lines, options.fields)
    }
    var compression: (WebSocketCompression, DeflateAgreement)?
    if let wanted = options.compression, let answer { compression = (wanted, answer.agreement) }
    let exchange = FrameExchange(
      .server, limits: options.limits, farewell: .normal, keys: RandomKeys(.seeded(0)),
      compression: compression, notice: options.notice)
    if case .slowAnswer(let span) = options.fault {
      slowAnswer = SlowAnswer(head: head[...], span: span, nextDeadline: now, exchange: exchange)
    } else {
      output.bytes += head
      open(exchange, at: now, into: &output)
    }
  }

  private mutating func open(
    _ exchange: FrameExchange, at now: Instant, into output: inout EngineOutput
  ) {
    frames = exchange
    output.events.append(.opened)
    _ = speaks(atMessage: 0, into: &output)
    if case .flood(let first, let again) = options.fault {
      output.bytes += first
      isMute = true
      flood.begin(again, at: now)
    }
  }
}

// MARK: The open link

extension WebSocketServerEngine {
  /// Says what the fault has to say in place of this message.
  /// - Returns: Whether that was anything.
  private mutating func speaks(atMessage number: Int, into output: inout EngineOutput) -> Bool {
    switch options.fault {
    case .speech(let bytes, number): output.bytes += bytes
    case .close(let code, let reason, number):
      output.bytes += ServerBytes.close(code, reason)
      hasClosed = true
    case .none, .status, .slowAnswer, .endlessAnswer, .speech, .flood, .close, .silentAtClose,
      .openAfterClose, .talkAfterClose:
      return false
    }
    isMute = true
    return true
  }

  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, at now: Instant, into output: inout EngineOutput
  ) {
    guard !awaitsEnd else { return }
    let (written, heard) = (output.bytes.count, output.events.count)
    frames?.receive(bytes, at: now, into: &output)
    let isEnding = output.events[heard...].contains(.ending)
    if isEnding { flood = Flood() }
    if hasClosed {
      // Nothing follows a close, and so no second one.
      if isEnding { frames?.writeOn(into: &output) }
      output.bytes.removeSubrange(written...)
    }
    guard isEnding else { return }
    switch options.fault {
    case .silentAtClose:
      output.bytes.removeSubrange(written...)
      holdBackEnd(heard, &output)
    case .openAfterClose:
      frames?.writeOn(into: &output)
      holdBackEnd(heard, &output)
    case .talkAfterClose:
      frames?.writeOn(into: &output)
      output.bytes += ServerBytes.frame(0x81, "too late".utf8)
    case .none, .status, .slowAnswer, .endlessAnswer, .speech, .flood, .close: break
    }
  }

  private mutating func holdBackEnd(_ heard: Int, _ output: inout EngineOutput) {
    output.events.removeSubrange(heard...)
    awaitsEnd = true
  }
}

/// An answer that comes byte by byte, and what follows it.
private struct SlowAnswer: Sendable {
  var head: ArraySlice<UInt8>
  let span: TimeSpan
  var nextDeadline: Instant
  let exchange: FrameExchange

  /// - Returns: What follows, once all is written.
  mutating func writeOn(at now: Instant, into output: inout EngineOutput) -> FrameExchange? {
    guard nextDeadline <= now else { return nil }
    nextDeadline = now + span
    if let byte = head.popFirst() { output.bytes.append(byte) }
    return head.isEmpty ? exchange : nil
  }
}

/// Bytes that are written again and again: much in each turn of the loop, so that other links have
/// their own, and never more than the stream takes.
private struct Flood: Sendable {
  private var bytes: [UInt8] = []
  /// How much may still be written in this turn.
  private var room = 0
  private var turn = Instant.origin

  private static let roomPerTurn = 1 << 20
  private static let portion = 16 << 10

  var isRunning: Bool { !bytes.isEmpty }
  var hasMore: Bool { isRunning && room > 0 }
  /// In the next turn.
  var nextDeadline: Instant? { isRunning && room <= 0 ? turn : nil }

  mutating func begin(_ bytes: [UInt8], at now: Instant) {
    self.bytes = bytes
    goOn(at: now)
  }

  mutating func goOn(at now: Instant) {
    turn = now
    room = Self.roomPerTurn
  }

  mutating func writeOn(into output: inout EngineOutput) {
    let start = output.bytes.count
    while output.bytes.count - start < Self.portion { output.bytes += bytes }
    room -= output.bytes.count - start
  }
}
