/// A protocol without its input and output: bytes and wishes go in, bytes and events come out.
///
/// Like the machine it owns no clock and no socket, so that the same code runs over a socket, over
/// a simulated stream and under a fuzzer. One engine serves one link.
///
/// What is asked with every message is declared as mutating, though it changes nothing: who knows
/// an engine by this protocol alone would have to copy it otherwise.
public protocol ProtocolEngine {
  /// Whether ``ping(_:into:)`` does anything.
  var canPing: Bool { get }

  /// Whether ``authenticate(with:)`` does anything.
  var canAuthenticate: Bool { get }

  /// When ``deadlineReached(at:into:)`` is wanted; nil while the engine waits for nothing.
  var nextDeadline: Instant? { mutating get }

  /// The error behind the cause of its failure, with the place; nil if the cause says all.
  var diagnosis: (any Error)? { get }

  /// How many messages it was given and has not written whole. An engine that writes each message
  /// at once has none, ever.
  var backlog: Int { mutating get }

  /// Whether ``writeOn(into:)`` is wanted.
  var hasMore: Bool { mutating get }

  /// Whether the protocol can carry the message.
  func admits(_ message: Message) -> Bool

  /// Takes what proves to the peer who is asking, once and before `start`; not called where the
  /// connection has no provider of credentials. An engine refuses with `failed`, at its start, what
  /// it cannot write.
  mutating func authenticate(with credentials: Credentials)

  /// The stream is connected, for the first time or after a `redirected`. An engine without a
  /// handshake answers with `opened`.
  mutating func start(at now: Instant, into output: inout EngineOutput)

  /// Bytes arrived, split anywhere.
  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput)

  /// The peer has finished writing. An engine answers with `closed`, or `failed` if that came too
  /// early.
  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput)

  /// Takes a message that the engine admits, to be written behind all that was given before. One
  /// without an id is never acknowledged.
  ///
  /// The engine writes it whole at once, or adds it to its backlog.
  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput)

  /// Goes on with what waits: what is urgent, then a part of the oldest message in the backlog.
  /// Called when the output has been written, so that a long message is never encoded as a whole
  /// and what is urgent never stands behind it. One call ends one message at most.
  mutating func writeOn(into output: inout EngineOutput)

  /// Encodes a request for a sign of life.
  mutating func ping(_ number: UInt32, into output: inout EngineOutput)

  /// Begins an orderly end. `finished` says that nothing more will be written.
  mutating func close(at now: Instant, into output: inout EngineOutput)

  /// The time in ``nextDeadline`` has come.
  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput)
}

extension ProtocolEngine {
  public var diagnosis: (any Error)? { nil }
  public var canAuthenticate: Bool { false }
  public mutating func authenticate(with credentials: Credentials) {}
  public var backlog: Int { 0 }
  public var hasMore: Bool { false }
  public mutating func writeOn(into output: inout EngineOutput) {}
}

/// What an engine wants: bytes to write, and events in order. Owned and reused by the transport.
public struct EngineOutput {
  /// Bytes to write, behind those that are there. An engine only appends.
  public var bytes: [UInt8] = []
  /// What happened, in order. An engine only appends.
  public var events: [EngineEvent] = []

  /// Makes an empty output.
  public init() {}
}

/// What an engine has to say.
public enum EngineEvent: Equatable, Sendable {
  /// The protocol's handshake is done: messages may flow.
  case opened
  /// A message arrived.
  case message(Message)
  /// The answer to this ping arrived.
  case pong(UInt32)
  /// The peer acknowledged this message and all before it in its lane.
  case acknowledged(through: MessageID)
  /// The peer wants this link at another endpoint: the transport lets go of the stream and dials
  /// there, and the engine starts anew. Only before `opened`.
  case redirected(to: Endpoint)
  /// The link is about to end: what is not given yet had better wait for the next one.
  case ending
  /// Nothing more will be written: once the bytes are out, the write side may be shut.
  case finished
  /// The link ended in order; the transport lets go of the stream.
  case closed(CloseCode?)
  /// The protocol is broken, or its peer; the transport lets go of the stream.
  case failed(Cause)
}

extension EngineEvent {
  /// Whether the link is over with it.
  var isEnd: Bool {
    switch self {
    case .closed, .failed: true
    case .opened, .message, .pong, .acknowledged, .redirected, .ending, .finished: false
    }
  }
}
