public import ConnectionFSM

/// What a host does with the connections to one of its ports.
public struct Service: Equatable, Sendable {
  /// What happens to a dial while the accept queue is full.
  public enum Overflow: Equatable, Sendable {
    /// Nothing: the dial is repeated by the client's system until there is room (Linux).
    case ignored
    /// It is refused (Linux with `tcp_abort_on_overflow`).
    case refused
  }

  /// How many connections the system completes before the program has accepted them. Default 4096
  /// (Linux `somaxconn` since 5.4; 128 before).
  public var backlog: Int
  /// What happens to a dial when there are that many.
  public var overflow: Overflow
  /// Whether the program accepts at all: a zombie's system completes connections that nobody
  /// ever reads.
  public var accepts: Bool
  /// How long the server works on one new connection before the next; a queue in front of it is
  /// first in, first out. Zero is no work at all.
  public var handshakeWork: TimeSpan
  /// What the server does with each connection; nil leaves it to a program outside of the
  /// ``Internet``.
  public var script: [ServerAct]?

  /// Makes a service.
  public init(
    script: [ServerAct]? = nil, backlog: Int = 4096, overflow: Overflow = .ignored,
    accepts: Bool = true, handshakeWork: TimeSpan = .zero
  ) {
    self.script = script
    self.backlog = backlog
    self.overflow = overflow
    self.accepts = accepts
    self.handshakeWork = handshakeWork
  }
}

/// One thing a scripted server does with a connection. After the last one it waits for the peer's
/// end and then ends, too.
public enum ServerAct: Equatable, Sendable {
  /// Reads so many bytes and goes on when they are there; more bytes stay unread.
  case receive(Int)
  /// Writes these bytes.
  case send([UInt8])
  /// Waits.
  case wait(TimeSpan)
  /// Writes back all that arrives, until the peer has finished.
  case echo
  /// Sends a FIN behind what was written; reading goes on.
  case finish
  /// Lets go of the connection: a FIN, or a reset if something is left unread.
  case close
  /// Ends with a reset.
  case reset
  /// Does nothing more and reads nothing more.
  case hang
}
