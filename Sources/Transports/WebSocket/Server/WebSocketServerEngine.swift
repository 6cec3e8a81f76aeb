package import ConnectionFSM

/// What a WebSocket server of tests and demonstrations offers.
package struct WebSocketServerOptions: Sendable {
  /// What to say to a request that is good.
  package enum Decision: Sendable {
    /// Open the link, with this subprotocol.
    case accept(subprotocol: String?)
    /// Write these bytes, as they are, and end the link.
    case answer([UInt8])
  }

  /// How messages are compressed if the client offers it; nil never compresses.
  package var compression: WebSocketCompression?
  package var limits: WebSocketLimits
  /// Decides about each request.
  package var decide: @Sendable (ServerHandshake.Request) -> Decision
  /// Hears, on the link's loop, how the client closed.
  package var notice: (@Sendable (WebSocketNotice) -> Void)?

  package init(
    compression: WebSocketCompression? = nil, limits: WebSocketLimits = .standard,
    decide: @escaping @Sendable (ServerHandshake.Request) -> Decision = { _ in
      .accept(subprotocol: nil)
    }
  ) {
    self.compression = compression
    self.limits = limits
    self.decide = decide
  }
}

/// A server's end of a WebSocket (RFC 6455), for tests and demonstrations.
package struct WebSocketServerEngine: ProtocolEngine, Sendable {
  private let options: WebSocketServerOptions
  private var handshake = ServerHandshake()
  private var frames: FrameExchange?
  private var isOver = false

  /// Makes an engine for one link.
  package init(_ options: WebSocketServerOptions = WebSocketServerOptions()) {
    self.options = options
  }

  package var canPing: Bool { true }

  package var nextDeadline: Instant? { frames?.nextDeadline }

  package var diagnosis: (any Error)? { frames?.diagnosis }

  package var backlog: Int { frames?.backlog ?? 0 }

  package var hasMore: Bool { frames?.hasMore ?? false }

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
      return bytes.withUnsafeBytes { frames?.receive($0, at: now, into: &output) }
    }
    switch handshake.receive(bytes) {
    case .goesOn: break
    case .refused(let refusal): answer(ServerHandshake.refusal(refusal), &output)
    case .asked(let request, let taken):
      switch options.decide(request) {
      case .answer(let bytes): answer(bytes, &output)
      case .accept(let subprotocol):
        open(request, subprotocol, &output)
        // Nothing, if it was not opened.
        bytes.withUnsafeBytes {
          let rest = UnsafeRawBufferPointer(rebasing: $0[taken...])
          frames?.receive(rest, at: now, into: &output)
        }
      }
    }
  }

  private mutating func answer(_ bytes: [UInt8], _ output: inout EngineOutput) {
    isOver = true
    output.bytes += bytes
    output.events.append(.closed(nil))
  }

  private mutating func open(
    _ request: ServerHandshake.Request, _ subprotocol: String?, _ output: inout EngineOutput
  ) {
    let answer: (agreement: DeflateAgreement, answer: String)?
    do {
      answer = try options.compression?.answer(offers: request.extensions)
    } catch {
      let refusal = ServerHandshake.Refusal(status: 400, words: "\(error)")
      return self.answer(ServerHandshake.refusal(refusal), &output)
    }
    output.bytes += ServerHandshake.acceptance(
      of: request, subprotocol: subprotocol, extensions: answer?.answer)
    var compression: (WebSocketCompression, DeflateAgreement)?
    if let wanted = options.compression, let answer { compression = (wanted, answer.agreement) }
    frames = FrameExchange(
      .server, limits: options.limits, farewell: .normal, keys: RandomKeys(.seeded(0)),
      compression: compression, notice: options.notice)
    output.events.append(.opened)
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    guard frames == nil else {
      frames?.receiveEnd(at: now, into: &output)
      return
    }
    isOver = true
    output.events.append(.closed(nil))
  }

  package mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    frames?.send(message, into: &output)
  }

  package mutating func writeOn(into output: inout EngineOutput) {
    frames?.writeOn(into: &output)
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    frames?.ping(number, into: &output)
  }

  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    guard frames == nil else {
      frames?.close(into: &output)
      return
    }
    isOver = true
    output.events.append(.closed(nil))
  }

  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    frames?.deadlineReached(at: now, into: &output)
  }
}
