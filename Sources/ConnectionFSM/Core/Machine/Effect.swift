/// What the owner of the machine must do, in the order given.
///
/// Effects carry ids, never payloads; the bytes lie beside the driver.
public enum Effect: Hashable, BitwiseCopyable, Sendable {
  /// Ask the credentials provider, for the attempt of this epoch.
  case requestCredentials(Epoch)
  /// Dial this endpoint and report as this epoch.
  case openTransport(Epoch, EndpointID)
  /// Begin the session stage (login, resubscribe), or resume the session of the link before.
  case startSession(Epoch, resuming: Bool)
  /// Finish what was given, then end in order; `closed` or `failed` must follow.
  case closeTransport(Epoch)
  /// Let go of it now, at whatever stage; nothing of it may follow.
  case abortTransport(Epoch)
  /// Send a ping of this number; the answer is `pong` of the same number.
  case sendPing(Epoch, UInt32)
  /// Send the application's heartbeat; if it is answered, the answer is `pong` of this number.
  case sendBeat(Epoch, UInt32)
  /// Give these messages to the transport, in order.
  case transmit(Epoch, MessageRange)
  /// These messages have ended, each just this once: tell whoever waits, drop the payload.
  case settle(MessageRange, Outcome)
  /// This epoch is over, and why; exactly once an epoch that was dialled (F03, I8).
  case ended(Epoch, Cause)
  /// These lanes, and no others, are above their high water mark and have not come down since.
  case pressureChanged(LaneSet)
}

/// How a message that was taken ended.
public enum Outcome: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// The system took its last byte; the end of an at-most-once message.
  case written
  /// The peer confirmed it; the end of an at-least-once message.
  case acknowledged
  /// Its time to live passed before a link took it: never sent.
  case expired
  /// It made room for newer ones: never sent.
  case evicted
  /// The application took it back, or closed: never sent.
  case cancelled
  /// It was given to a link that died before its end: the peer may have it or not.
  case inDoubt
}
