/// A policy and a transport that do not fit, with the mend.
public enum ConnectionError: Error, CustomStringConvertible, Sendable {
  /// The policy has a heartbeat and the transport cannot ping.
  case heartbeatNeedsPing
  /// The policy has a session stage, and nobody to answer for it.
  case stageNeedsProvider
  /// The policy waits for credentials, and nobody gives any.
  case credentialsNeedProvider
  /// There is a provider of credentials, and the policy does not say how long it may take.
  case providerNeedsDeadline
  /// There is a provider of credentials, and the transport cannot take any to its peer.
  case credentialsNeedAuthentication
  /// The new policy has other lanes than the connection was made with.
  case lanesDiffer
  /// There is an outbox for a lane that the policy does not have.
  case outboxNeedsLane
  /// The lane of the outbox sends at most once, or evicts: neither can be kept.
  case outboxNeedsKeeping
  /// The policy has a beat, and nobody said what is sent.
  case beatNeedsMessage
  /// The policy waits for the answer to a beat, and nobody said what it looks like.
  case beatNeedsAnswer

  public var description: String {
    switch self {
    case .heartbeatNeedsPing:
      "the policy has a heartbeat, but the transport cannot ping: give the protocol a ping, let "
        + "the server drive the heartbeat, or set it to nil"
    case .stageNeedsProvider:
      "the policy has a session deadline, but the connection has nobody to ask: set it to nil"
    case .credentialsNeedProvider:
      "the policy has a credentials deadline, but nobody gives credentials: give the connection a "
        + "provider, or set credentialsDeadline to nil"
    case .providerNeedsDeadline:
      "the connection has a provider of credentials, but the policy has no time for it: set "
        + "credentialsDeadline"
    case .credentialsNeedAuthentication:
      "the connection has a provider of credentials, but the transport has no place for them: give "
        + "the protocol one, or the connection no provider"
    case .lanesDiffer:
      "the new policy has other lanes: they are fixed when the connection is made"
    case .outboxNeedsLane:
      "there is an outbox for a lane that the policy does not have: add the lane, or name another"
    case .outboxNeedsKeeping:
      "the lane of an outbox must be at least once, without evicting: what is kept is sent again "
        + "until it is acknowledged"
    case .beatNeedsMessage:
      "the policy has a beat, but nobody says what is sent: give the connection a beat message"
    case .beatNeedsAnswer:
      "the policy waits for the answer to a beat, but nobody says what it looks like: give the "
        + "beat message an isAnswer, or set beat.answerTimeout to nil"
    }
  }
}

extension Rejection: Error {}
