public import ConnectionFSM

/// A client's end of a WebSocket (RFC 6455), with compression (RFC 7692) where it is offered and
/// accepted.
///
/// ```swift
/// let url = try WebSocketURL("wss://feed.example.com/v1?topic=news")
/// let options = try WebSocketOptions(url, subprotocols: ["feed.v1"])
/// let transport = StreamTransport(dialer) { WebSocketEngine(options) }
/// connection.connect(to: url.endpoint)
/// ```
///
/// The link is open once the handshake is accepted and the login, if there is one, is written.
/// Messages of the kinds text and object travel as text, all others as binary. Pings are answered
/// here, ahead of messages that wait, whatever the application does meanwhile.
///
/// What is against the protocol ends the link with `Cause.protocolError`, and ``diagnosis`` tells
/// more, as a ``WebSocketFrameError`` or a ``WebSocketHandshakeError``. A peer that ends the stream
/// without a close frame has ended it with code 1006, or inside a message with `Cause.truncated`;
/// a close without a code is 1005.
public struct WebSocketEngine: ProtocolEngine, Sendable {
  private let options: WebSocketOptions
  private var keys: RandomKeys
  private var handshake: ClientHandshake?
  private var frames: FrameExchange?
  private var failure: (any Error)?
  private var isOver = false

  /// Makes an engine for one link.
  public init(_ options: WebSocketOptions) {
    self.options = options
    keys = RandomKeys(options.random)
    handshake = ClientHandshake(options)
  }

  /// Always true: the protocol has a ping.
  public var canPing: Bool { true }

  public var nextDeadline: Instant? { frames?.nextDeadline }

  public var diagnosis: (any Error)? { failure ?? frames?.diagnosis }

  public var backlog: Int { frames?.backlog ?? 0 }

  public var hasMore: Bool { frames?.hasMore ?? false }

  /// Checks that the message is whole, not too long, and UTF-8 if it is text.
  /// - Throws: ``FramingError``, which names the mend.
  public func validate(_ message: Message) throws(FramingError) {
    try message.validateForWebSocket(limit: options.limits.maximumOutgoingLength)
  }

  /// Whether ``validate(_:)`` finds nothing wrong.
  public func admits(_ message: Message) -> Bool {
    do throws(FramingError) { try validate(message) } catch { return false }
    return true
  }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    handshake?.start(key: keys.nonce(), into: &output.bytes)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard !isOver else { return }
    guard frames == nil else {
      return bytes.withUnsafeBytes { frames?.receive($0, at: now, into: &output) }
    }
    switch handshake?.receive(bytes) {
    case .goesOn, nil: break
    case .redirected(let endpoint): output.events.append(.redirected(to: endpoint))
    case .failed(let cause, let error): end(cause, error, &output)
    case .agreed(let agreement, let taken):
      open(agreement, &output)
      bytes.withUnsafeBytes {
        let rest = UnsafeRawBufferPointer(rebasing: $0[taken...])
        frames?.receive(rest, at: now, into: &output)
      }
    }
  }

  private mutating func open(_ agreement: WebSocketAgreement, _ output: inout EngineOutput) {
    handshake = nil
    var compression: (WebSocketCompression, DeflateAgreement)?
    if let wanted = options.compression, let agreed = agreement.compression {
      compression = (wanted, agreed)
    }
    frames = FrameExchange(
      .client, limits: options.limits, farewell: options.farewell, keys: keys,
      compression: compression, notice: options.notice)
    options.notice?(.agreed(agreement))
    if let login = options.login { frames?.send(login, into: &output) }
    output.events.append(.opened)
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    if frames != nil {
      frames?.receiveEnd(at: now, into: &output)
    } else if let (cause, error) = handshake?.receiveEnd() {
      end(cause, error, &output)
    }
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    frames?.send(message, into: &output)
  }

  public mutating func writeOn(into output: inout EngineOutput) {
    frames?.writeOn(into: &output)
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    frames?.ping(number, into: &output)
  }

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    guard frames == nil else {
      frames?.close(into: &output)
      return
    }
    // Nobody to say farewell to yet.
    isOver = true
    output.events.append(.closed(nil))
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    frames?.deadlineReached(at: now, into: &output)
  }

  private mutating func end(
    _ cause: Cause, _ error: any Error, _ output: inout EngineOutput
  ) {
    isOver = true
    failure = error
    output.events.append(.failed(cause))
  }
}

extension Message {
  /// Checks that a WebSocket can carry it.
  func validateForWebSocket(limit: Int) throws(FramingError) {
    guard bytes.count <= limit else { throw .messageTooLong(count: bytes.count, limit: limit) }
    guard !isContinued else { throw .messageIsPiece }
    if kind == .text {
      var text = UTF8Validator()
      guard text.take(bytes.span.bytes), text.isAtBoundary else { throw .messageIsNoText }
    }
  }
}
