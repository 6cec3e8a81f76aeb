public import ConnectionFSM

/// A client's engine of a protocol without acknowledgements, whose peer sends every message back,
/// as that of a ``StreamSimulation`` does: the k-th message that arrives acknowledges the k-th that
/// was sent.
public struct EchoAcknowledged<Base: ProtocolEngine>: ProtocolEngine {
  private var base: Base
  /// Messages given and not yet sent back.
  private var unanswered = FIFO<MessageID?>()

  /// Acknowledges by the echo of what this engine sends.
  public init(_ base: Base) { self.base = base }

  public var canPing: Bool { base.canPing }
  public var canAuthenticate: Bool { base.canAuthenticate }
  public var nextDeadline: Instant? { mutating get { base.nextDeadline } }
  public var diagnosis: (any Error)? { base.diagnosis }
  public var backlog: Int { mutating get { base.backlog } }
  public var hasMore: Bool { mutating get { base.hasMore } }
  public func admits(_ message: Message) -> Bool { base.admits(message) }

  public mutating func authenticate(with credentials: Credentials) {
    base.authenticate(with: credentials)
  }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    base.start(at: now, into: &output)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    let count = output.events.count
    base.receive(bytes, at: now, into: &output)
    guard output.events.count > count, !unanswered.isEmpty else { return }
    let heard = Array(output.events[count...])
    output.events.removeLast(heard.count)
    for event in heard {
      // The message first: with what it acknowledges a link may be done, and is then let go of.
      output.events.append(event)
      guard case .message(let message) = event, !message.isContinued else { continue }
      if case let id?? = unanswered.popFirst() { output.events.append(.acknowledged(through: id)) }
    }
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    base.receiveEnd(at: now, into: &output)
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    unanswered.append(id)
    base.send(message, id: id, into: &output)
  }

  public mutating func writeOn(into output: inout EngineOutput) { base.writeOn(into: &output) }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    base.ping(number, into: &output)
  }

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    base.close(at: now, into: &output)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    base.deadlineReached(at: now, into: &output)
  }
}

extension EchoAcknowledged: Sendable where Base: Sendable {}
