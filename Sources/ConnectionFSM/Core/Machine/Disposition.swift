/// What the machine made of an input.
///
/// Weather is never an error: what comes late, twice or for nothing is ignored, with the reason.
public enum Disposition: Hashable, BitwiseCopyable, Sendable {
  /// It counted.
  case accepted
  /// The offered message was taken under this id; it will end exactly once.
  case taken(MessageID)
  /// The offered message was turned away at the door; that is its end.
  case rejected(Rejection)
  /// It changed nothing.
  case ignored(IgnoreReason)
}

/// Why a message was turned away.
public enum Rejection: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// The connection is closing or closed.
  case closed
  /// The lane is full by count or by bytes.
  case full
  /// The message alone is larger than the lane.
  case tooLarge
  /// There is no open link, and the lane admits nothing that would wait (``Lane/Admission``).
  case notOpen
  /// The policy has no such lane.
  case noSuchLane
  /// The outage has lasted so long that the machine holds no messages (``Patience``).
  case outage
  /// The protocol cannot carry it: a line that holds its own delimiter. Never an answer of the
  /// machine, which knows no payload, but of its driver.
  case notEncodable
  /// The lane's outbox could not keep it. Never an answer of the machine, but of its driver.
  case notKept
}

/// Why an input changed nothing.
public enum IgnoreReason: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// It belongs to an attempt that is over, or to none that ever was.
  case staleEpoch
  /// The deadline has not been reached; the timer fired early or twice.
  case early
  /// It asks for what is so already, or reports what does not matter in this state.
  case redundant
}
