// Our own promises. A broken one is a bug of this package and traps; weather never does.

extension Machine {
  /// The first invariant that does not hold, or nil. Checked after every transition in debug
  /// builds, and by every simulation and exploration.
  package var brokenInvariant: StaticString? {
    var isLinked = false
    if case .linked = state { isLinked = true }
    if isLinked != (primary != nil) { return "a link exists exactly while the state is linked" }
    if standby != nil, primary?.stage != .open { return "I3: a standby beside no open link" }
    if let primary {
      if primary.epoch > lastEpoch { return "I2: an epoch from the future" }
      if primary.epoch == standby?.epoch { return "I2: two links of one epoch" }
      if primary.pingSentAt != nil, primary.stage != .open { return "I5: a ping outside open" }
      if primary.stage == .authorizing { return "I3: a primary that was not dialled" }
      if !wanted, !primary.isEnding { return "I1: a link that nobody wants" }
    } else if !wanted {
      switch state {
      case .idle, .closed: break
      case .offline, .backingOff, .waitingForCredentials, .suspended, .linked:
        return "I1: a wait that nobody wants"
      }
    }
    return brokenQueueInvariant ?? brokenDeadlineInvariant
  }

  private var brokenQueueInvariant: StaticString? {
    if !queue.keepsExpiry { return "I4: the next expiry does not follow the messages" }
    for (index, limits) in policy.lanes.enumerated() {
      guard let lane = queue[index] else { continue }
      if lane.count > limits.countLimit { return "I21: a lane above its count limit" }
      if lane.byteCount > limits.byteLimit { return "I21: a lane above its byte limit" }
      if lane.fliesOnOldLink, lane.inFlight == 0 || standby?.isEnding != true {
        return "I11: in flight on a link that is gone"
      }
      if receptiveEpoch != nil, !lane.fliesOnOldLink, lane.waiting > 0,
        lane.inFlight < limits.window
      {
        return "I11: a message waits for a link that takes it"
      }
      if lane.inFlight > limits.window { return "I11: more in flight than the window" }
      if lane.inFlight > 0, primary == nil { return "I11: in flight without a link" }
      if case .closed = state, lane.count > 0 { return "I11: a message left after the end" }
    }
    return nil
  }

  private var brokenDeadlineInvariant: StaticString? {
    if planned != derivedPlanned { return "I4: the plan does not follow the facts" }
    if rhythm != derivedRhythm { return "I4: the ping interval does not follow" }
    if deadlineAt != derivedDeadline { return "I4: the deadline does not follow the facts" }
    let needsDeadline: Bool
    switch phase {
    case .idle, .closed, .suspended: needsDeadline = false
    case .open: needsDeadline = policy.heartbeat != nil
    case .offline, .backingOff, .waitingForCredentials, .connecting, .authenticating, .closing:
      needsDeadline = true
    }
    // At the end of time, 292 years on, nothing is later.
    if needsDeadline, nextDeadline == nil, now.nanoseconds < .max / 2 {
      return "I19: a wait without a deadline"
    }
    return nil
  }
}
