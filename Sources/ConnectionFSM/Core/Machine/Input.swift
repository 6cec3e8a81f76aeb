/// Anything that happens to the machine: wishes of the application, conditions of the device, time,
/// and answers from outside, each with the epoch it belongs to.
public enum Input: Equatable, BitwiseCopyable, Sendable {
  /// The application wants a connection to this endpoint.
  case connect(EndpointID)
  /// The application wants no connection; outranks everything until the next connect (I1).
  case close
  /// The application offers a message of so many payload bytes to a lane.
  case offer(LaneID, byteCount: UInt32)
  /// The application takes a message back.
  case cancel(MessageID)
  /// Whether anyone needs the connection just now; without demand nothing is dialled.
  case demandChanged(Bool)
  /// What the device lets the application do.
  case lifecycleChanged(Lifecycle)
  /// What the reachability signal says.
  case pathChanged(PathStatus)
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
public enum TransportEvent: Equatable, BitwiseCopyable, Sendable {
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
}

/// What a session (login, resume, resubscription) can say of itself.
public enum SessionEvent: Equatable, BitwiseCopyable, Sendable {
  /// Messages of the application may flow.
  case ready
  /// The server refused it for good.
  case refused
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

/// What a reachability signal can say. A hint in every case.
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

#if !hasFeature(Embedded)
  extension Input: Hashable {}
  extension TransportEvent: Hashable {}
  extension SessionEvent: Hashable {}
#endif
