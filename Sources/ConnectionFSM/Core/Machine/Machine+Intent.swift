// What the application wants: connect, close, send. Intent outranks everything: `wanted` is written
// here and nowhere else (I1).

extension Machine {
  mutating func connect(
    to endpoint: EndpointID, count: UInt8, into effects: inout Effects
  ) -> Disposition {
    let isElsewhere = endpoint != endpoints.first || max(count, 1) != endpoints.count
    if isUnderWay, !isElsewhere, wanted { return .ignored(.redundant) }
    var isNewRun = isElsewhere || !wanted
    if case .closed = state { isNewRun = true }
    wanted = true
    // A new run prefers its first endpoint, or draws an order of its own.
    if isNewRun {
      endpoints = Endpoints()
      endpoints.first = endpoint
      endpoints.count = max(count, 1)
      if policy.shufflesEndpoints { endpoints.shuffle(using: &random) }
    }
    if isElsewhere { resumableUntil = .origin }
    forgetFailures()
    guard let link = primary else {
      // A new run: what ended the last one explains nothing of it.
      if case .closed = state { lastCause = nil }
      seekLink(.userAsked, into: &effects)
      return .accepted
    }
    // Connect after close, before the peer answered: the dial follows when the old link is gone
    // (I3).
    if link.isEnding {
      self.link.recall()
      return .accepted
    }
    // F04: the old link goes first. Its messages are for whoever we talk to next.
    dropStandby(into: &effects)
    effects.append(.abortTransport(link.epoch))
    retire(link, because: .replaced, into: &effects)
    resumableUntil = .origin
    seekLink(.userAsked, into: &effects)
    return .accepted
  }

  /// An attempt runs, or its credentials are on their way: a second one would ask for them twice.
  private var isUnderWay: Bool {
    if case .waitingForCredentials = state { return true }
    guard let primary else { return false }
    return !primary.isEnding || primary.ending != .suspended
  }

  mutating func close(draining: Bool, into effects: inout Effects) -> Disposition {
    let wasWanted = wanted
    wanted = false
    guard let link = primary else {
      // A machine that gave up is still wanted; the user may say otherwise, and nothing else
      // changes.
      if case .closed = state { return wasWanted ? .accepted : .ignored(.redundant) }
      enterClosed(.requested, because: .closedByUser, into: &effects)
      return .accepted
    }
    dropStandby(into: &effects)
    switch link.stage {
    case .open:
      windDown(.byUser, into: &effects)
      if draining { launchWaiting(into: &effects) } else { closeDrained(into: &effects) }
    case .draining:
      guard wasWanted || !draining else { return .ignored(.redundant) }
      if !draining { closeDrained(into: &effects) }
    case .closing:
      guard wasWanted else { return .ignored(.redundant) }
    case .authorizing, .connecting, .authenticating:
      // Nothing of the application is on this link: cut it, wait for nobody (RC082 to RC085).
      effects.append(.abortTransport(link.epoch))
      finish(link, into: &effects)
    }
    return .accepted
  }

  /// The policy was replaced: what is derived moves at once, a drawn wait stays.
  mutating func policyReplaced(into effects: inout Effects) -> Disposition {
    rhythm = derivedRhythm
    if policy.patience == nil { run.isSlow = false }
    if let budget = policy.retryBudget {
      // A debt of the old bucket is at most an empty one of the new.
      let most = budget.interval.nanoseconds.multipliedReportingOverflow(by: Int64(budget.burst))
      let full = now + TimeSpan(nanoseconds: most.overflow ? .max : most.partialValue)
      budgetFullAt = min(budgetFullAt, full)
    }
    guard let link = primary, link.stage == .open else { return .accepted }
    let old = plans
    planOpenLink()
    if policy.beat != nil { plans.beatAt = min(plans.beatAt, old.beatAt) }
    if policy.rollover == nil { plans.isReplacementDrawn = false }
    if plans.isReplacementDrawn { plans.replaceAt = old.replaceAt }
    if policy.pacing == nil {
      plans.burstAt = .never
      launchWaiting(into: &effects)
    }
    return .accepted
  }

  /// Replaces the policy while the machine runs.
  ///
  /// Derived deadlines move at once; a wait that was drawn stays as it is.
  /// - Throws: ``PolicyError`` if the lanes differ, which are fixed for the machine's life.
  @discardableResult
  public mutating func adopt(
    _ policy: Policy, at instant: Instant, into effects: inout Effects
  ) throws(PolicyError) -> Disposition {
    try take(policy)
    return handle(.policyReplaced, at: instant, into: &effects)
  }

  /// Puts the new policy in place of the old; ``Input/policyReplaced`` must follow.
  mutating func take(_ policy: Policy) throws(PolicyError) {
    guard policy.lanes == self.policy.lanes else {
      throw PolicyError("lanes", "must be those the connection was made with")
    }
    self.policy = policy
  }
}
