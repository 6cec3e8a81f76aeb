/// Anything that happens to the machine: wishes of the application, conditions of the device, time,
/// and answers from outside, each with the epoch it belongs to.
public enum Input: Hashable, BitwiseCopyable, Sendable {
  /// The application wants a connection to this endpoint; with a count, to any of so many whose ids
  /// follow each other, the first preferred.
  case connect(EndpointID, count: UInt8 = 1)
  /// The application wants no connection; outranks everything until the next connect (I1).
  case close
  /// As ``close``, but an open link first sends what waits, within ``Policy/drainDeadline``.
  case drain
  /// The application offers a message of so many payload bytes to a lane.
  case offer(LaneID, byteCount: UInt32)
  /// The application takes a message back.
  case cancel(MessageID)
  /// The application replaced the payload of a message that waits (coalescing): it keeps its place
  /// and its age. Ignored if it does not wait any more, was sent before, or has no room.
  case resized(MessageID, byteCount: UInt32)
  /// Whether anyone needs the connection just now; without demand nothing is dialled.
  case demandChanged(Bool)
  /// What the device lets the application do.
  case lifecycleChanged(Lifecycle)
  /// What the reachability signal says.
  case pathChanged(Path)
  /// The policy was replaced, by ``Machine/adopt(_:at:into:)``.
  case policyReplaced
  /// The driver's timer: `now` has reached ``Machine/nextDeadline``. Early and double ones do no
  /// harm.
  case deadlineReached
  /// The credentials provider answers.
  case credentials(Epoch, CredentialsAnswer)
  /// The transport of that epoch reports.
  case transport(Epoch, TransportEvent)
  /// The session of that epoch reports.
  case session(Epoch, SessionEvent)
}

/// What a transport can say of itself.
public enum TransportEvent: Hashable, BitwiseCopyable, Sendable {
  /// It is ready for messages.
  case opened
  /// It ended in disorder; it holds no resources any more.
  case failed(Cause)
  /// It ended in order, begun by the peer or by our close; it holds no resources any more.
  case closed(CloseCode?)
  /// Bytes arrived, of whatever kind: a sign of life.
  case received(byteCount: UInt32)
  /// The answer to the ping of that number arrived.
  case pong(UInt32)
  /// The system took the last byte of this message, and of all before it in its lane.
  case written(through: MessageID)
  /// The peer acknowledged this message, and all before it in its lane.
  case acknowledged(through: MessageID)
  /// Whether it takes more messages just now.
  case writabilityChanged(Bool)
  /// Whether the system still gets packets through for this link.
  case viabilityChanged(Bool)
  /// The server will go away soon: move while there is time.
  case drainRequested
  /// A better path than the one under this link exists.
  case betterPathAvailable
}

/// What a session (login, resume, resubscription) can say of itself.
public enum SessionEvent: Hashable, BitwiseCopyable, Sendable {
  /// Messages of the application may flow; the session is a new one.
  case ready
  /// Messages of the application may flow; the session of the link before goes on.
  case resumed
  /// The server does not know the old session any more: a new one is begun on the same link.
  case resumeRefused
  /// The server refused.
  case refused(Refusal)
}

/// What a server refused a session for.
public enum Refusal: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// This client, for good.
  case denied
  /// These credentials.
  case credentials
  /// Everybody, for the moment.
  case unavailable
}

/// What a credentials provider answers.
public enum CredentialsAnswer: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// They are at hand: dial.
  case available
  /// They could not be had this time.
  case unavailable
  /// There are none to be had: only the user can help.
  case refused
}

/// What a reachability signal says. A hint in every case.
public struct Path: Hashable, BitwiseCopyable, Sendable {
  /// Whether there is a route.
  public var status: PathStatus
  /// Which interface carries it: any number that differs between interfaces and networks, 0 where
  /// it is not known. A change is a reason to doubt the links that were opened before.
  public var interface: UInt16
  /// Whether it costs the user money: a cellular path.
  public var isExpensive: Bool
  /// Whether the user asked for restraint on it.
  public var isConstrained: Bool

  /// Makes a report. A path that comes up on demand (`requiresConnection`) is unknown: try.
  public init(
    _ status: PathStatus, interface: UInt16 = 0, isExpensive: Bool = false,
    isConstrained: Bool = false
  ) {
    self.status = status
    self.interface = interface
    self.isExpensive = isExpensive
    self.isConstrained = isConstrained
  }

  /// Nothing is known.
  public static var unknown: Path { Path(.unknown) }
  /// A route, over whatever interface.
  public static var up: Path { Path(.up) }
  /// No route.
  public static var down: Path { Path(.down) }
}

/// Whether there is a route.
public enum PathStatus: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// Nothing is known: try (B0.11).
  case unknown
  /// A route seems to exist.
  case up
  /// No route seems to exist.
  case down
}

/// What the device lets the application do.
public enum Lifecycle: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// In front of the user.
  case foreground
  /// Running without the user's eyes; nothing is dialled by itself.
  case background
  /// About to be frozen, or put to sleep.
  case suspended
}
