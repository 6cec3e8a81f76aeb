/// What a connection was made of, as far as a policy must fit it.
struct Fit: Sendable {
  let canPing: Bool
  let canAuthenticate: Bool
  let beat: BeatMessage?
  let hasProvider: Bool
  let outboxLane: LaneID?

  /// Whether all that the policy asks for can be done.
  func check(_ policy: Policy) throws(ConnectionError) {
    if let heartbeat = policy.heartbeat, !heartbeat.isServerDriven, !canPing {
      throw .heartbeatNeedsPing
    }
    if policy.sessionDeadline != nil { throw .stageNeedsProvider }
    if policy.credentialsDeadline != nil, !hasProvider { throw .credentialsNeedProvider }
    if hasProvider {
      if policy.credentialsDeadline == nil { throw .providerNeedsDeadline }
      if !canAuthenticate { throw .credentialsNeedAuthentication }
    }
    if let expected = policy.beat {
      guard let beat else { throw .beatNeedsMessage }
      if expected.answerTimeout != nil, beat.isAnswer == nil { throw .beatNeedsAnswer }
    }
    guard let outboxLane else { return }
    guard Int(outboxLane.rawValue) < policy.lanes.count else { throw .outboxNeedsLane }
    let lane = policy.lanes[Int(outboxLane.rawValue)]
    guard lane.delivery == .atLeastOnce, lane.overflow == .reject else {
      throw .outboxNeedsKeeping
    }
  }
}
