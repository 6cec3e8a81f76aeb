/// Where the machine is, as a bare name: for logs, tables and user interfaces.
public enum Phase: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// Never asked to connect.
  case idle
  /// Wants a link; holds dials because the path is said to be down.
  case offline
  /// Wants a link; waits before the next dial.
  case backingOff
  /// Wants a link; waits for credentials.
  case waitingForCredentials
  /// Wants a link; may not dial (background, no demand, device asleep).
  case suspended
  /// A transport is on its way: resolving, connecting, securing, upgrading.
  case connecting
  /// The transport is open, the session is not ready.
  case authenticating
  /// Messages flow.
  case open
  /// Our close is on its way.
  case closing
  /// Over, by wish or for good; the next connect starts anew.
  case closed
}
