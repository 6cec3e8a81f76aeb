// Our own promises. A broken one is a bug of this package and traps; weather never does.

extension Machine {
  /// The first invariant that does not hold, or nil. Checked after every transition in debug
  /// builds, and by every simulation and exploration.
  package var brokenInvariant: StaticString? {
    var isLinked = false
    if case .linked = state { isLinked = true }
    if isLinked != (primary != nil) { return "a link exists exactly while the state is linked" }
    if standby != nil, primary == nil { return "a standby without a primary" }
    if let primary {
      if primary.epoch > lastEpoch { return "I2: an epoch from the future" }
      if primary.pingSentAt != nil, primary.stage != .open { return "I5: a ping outside open" }
      if !wanted, primary.stage != .closing { return "I1: a link that nobody wants" }
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
    for index in 0..<SendQueue.laneLimit {
      let lane = queue[index]
      if index >= policy.lanes.count {
        if lane.count > 0 { return "I11: a message in a lane that does not exist" }
        continue
      }
      let limits = policy.lanes[index]
      if lane.count > limits.countLimit { return "I21: a lane above its count limit" }
      if lane.byteCount > limits.byteLimit { return "I21: a lane above its byte limit" }
      if receptiveEpoch != nil, lane.waiting > 0, lane.inFlight < limits.window {
        return "I11: a message waits for a link that takes it"
      }
      if lane.inFlight > limits.window { return "I11: more in flight than the window" }
      if lane.inFlight > 0, primary == nil { return "I11: in flight without a link" }
      if case .closed = state, lane.count > 0 { return "I11: a message left after the end" }
    }
    return nil
  }

  private var brokenDeadlineInvariant: StaticString? {
    if nextDeadline != deriveNextDeadline() { return "I4: the deadline does not follow the facts" }
    let needsDeadline: Bool
    switch phase {
    case .idle, .closed, .suspended: needsDeadline = false
    case .open: needsDeadline = policy.heartbeat != nil
    case .offline, .backingOff, .waitingForCredentials, .connecting, .authenticating, .closing:
      needsDeadline = true
    }
    if needsDeadline, nextDeadline == nil { return "I19: a wait without a deadline" }
    return nil
  }

  /// The one way this package traps: with the machine's whole situation in the message.
  func trap(_ message: StaticString, _ input: Input?) -> Never {
    #if hasFeature(Embedded)
      fatalError("connection machine: broken invariant")
    #else
      fatalError(
        "\(message) (state: \(state), link: \(String(describing: primary)), "
          + "input: \(String(describing: input)), now: \(now.nanoseconds) ns)")
    #endif
  }
}

func trapUnless(_ condition: Bool, _ message: StaticString) {
  #if hasFeature(Embedded)
    if !condition { fatalError("connection machine: broken invariant") }
  #else
    if !condition { fatalError("\(message)") }
  #endif
}

#if !hasFeature(Embedded)
  extension Machine: Hashable {
    public static func == (left: Machine, right: Machine) -> Bool {
      left.policy === right.policy && left.state == right.state && left.primary == right.primary
        && left.standby == right.standby && left.nextDeadline == right.nextDeadline
        && left.wanted == right.wanted && left.endpoint == right.endpoint
        && left.path == right.path && left.lifecycle == right.lifecycle
        && left.demand == right.demand && left.now == right.now
        && left.lastEpoch == right.lastEpoch && left.lastDialAt == right.lastDialAt
        && left.lastCause == right.lastCause && left.attempts == right.attempts
        && left.networkFailures == right.networkFailures
        && left.otherFailures == right.otherFailures && left.lastWait == right.lastWait
        && left.spent == right.spent && left.cappedRetries == right.cappedRetries
        && left.refreshedCredentials == right.refreshedCredentials
        && left.notBefore == right.notBefore && left.random == right.random
        && left.queue == right.queue
    }

    /// Hashes every fact, so that a hash can stand for the state in an exploration.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(state)
      hasher.combine(primary)
      hasher.combine(standby)
      hasher.combine(wanted)
      hasher.combine(endpoint)
      hasher.combine(path)
      hasher.combine(lifecycle)
      hasher.combine(demand)
      hasher.combine(now)
      hasher.combine(lastEpoch)
      hasher.combine(lastDialAt)
      hasher.combine(lastCause)
      hasher.combine(attempts)
      hasher.combine(networkFailures)
      hasher.combine(otherFailures)
      hasher.combine(lastWait)
      hasher.combine(spent)
      hasher.combine(cappedRetries)
      hasher.combine(refreshedCredentials)
      hasher.combine(notBefore)
      hasher.combine(random)
      hasher.combine(queue)
    }
  }
#endif

extension Machine {
  /// The same machine with its clock read at `instant`: what an ignored input leaves behind.
  package func withClock(at instant: Instant) -> Machine {
    var machine = self
    machine.now = max(now, instant)
    return machine
  }
}
