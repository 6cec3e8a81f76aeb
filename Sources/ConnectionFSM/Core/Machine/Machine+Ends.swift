// What happens when an attempt ends.

extension Machine {
  /// Ends the link from our side: lets go of its transport, then takes it for failed.
  mutating func cut(because cause: Cause, into effects: inout Effects) {
    guard let link = primary else { return }
    effects.append(.abortTransport(link.epoch))
    linkFailed(because: cause, into: &effects)
  }

  /// The link ended by itself, or was cut.
  mutating func linkFailed(because cause: Cause, into effects: inout Effects) {
    guard let link = primary else { return }
    if link.isEnding { return finish(link, into: &effects) }
    // Stability is a fact, not a timer: how long was it open, and alive? A peer that accepts and
    // falls silent was alive no longer than it was heard.
    let aliveUntil = cause == .timedOut(.pong) ? link.heardAt : now
    var reach = Circumstances.Reach.notOpen
    if link.stage == .open {
      reach = isStable(link, until: aliveUntil) ? .stable : .open
      learnInterval(from: link, endedBecause: cause)
    }
    if reach == .stable {
      forgetFailures()
    } else {
      spendAttempt()
    }
    if cause == .timedOut(.connect) {
      if run.connectTimeouts < 32 { run.connectTimeouts += 1 }
    } else {
      run.connectTimeouts = 0
    }
    let wasInDoubt = link.suspect
    let turn = plans.turn
    retire(link, because: cause, into: &effects)
    if promoteStandby() { return }
    // A replacement that failed meanwhile has moved the turn; the round goes on from this link.
    if link.stage == .open { endpoints.turn = reach == .stable ? 0 : turn }
    failed(because: cause, reach: reach, wasInDoubt: wasInDoubt, into: &effects)
  }

  /// There will be no dial. The provider was asked in its place, and that took its time.
  mutating func credentialsFailed(because cause: Cause, into effects: inout Effects) {
    spendAttempt()
    failed(
      because: cause, reach: .notOpen, wasInDoubt: false, wasDialled: false, into: &effects)
  }

  /// Counts the time since the dial; that of a stable link was not spent on trying, and a path that
  /// is down has its own clock.
  private mutating func spendAttempt() {
    if path != .down { run.spent = run.spent + (now - lastDialAt) }
  }

  /// Counts a failure and decides between another try and the end, as the verdict says.
  private mutating func failed(
    because cause: Cause, reach: Circumstances.Reach, wasInDoubt: Bool, wasDialled: Bool = true,
    into effects: inout Effects
  ) {
    lastCause = cause
    let circumstances = Circumstances(
      path: path, reach: reach, isInDoubt: wasInDoubt,
      isPathConstrained: surroundings.path.isConstrained)
    let verdict = policy.verdict(on: cause, in: circumstances)
    guard spendRetry(verdict) else {
      return enterClosed(.terminal, because: cause, into: &effects)
    }
    if path != .down, isExhausted {
      return enterClosed(.exhausted, because: cause, into: &effects)
    }
    if run.failingSince == .never { run.failingSince = now }
    if isPatienceOver { becomeSlow(into: &effects) }
    // No endpoint is to blame for credentials that could not be had.
    let movesOn = wasDialled && moveOn(after: reach)
    // A fact and not part of the wait: neither a path that comes back nor the end of a hold may
    // dial a server sooner than it asked for. Another endpoint was not asked.
    if verdict.minimumDelay > .zero || verdict.spread > .zero,
      !(movesOn && verdict.prefersElsewhere)
    {
      run.notBefore =
        now + verdict.minimumDelay + .uniform(through: verdict.spread, using: &random)
    }
    // All endpoints of the list before a step of the backoff.
    if movesOn { pause(for: .zero) } else { takeStep(verdict) }
    // Where a hold took its place, nothing is spent.
    if case .backingOff(let wait) = state { run.spent = run.spent + (wait.until - now) }
  }

  /// Draws the wait and counts the failure.
  private mutating func takeStep(_ verdict: Verdict) {
    let failures = run.failures
    // While the path is down every failure is the network's.
    if verdict.failureClass == .network || path == .down {
      if run.networkFailures < .max { run.networkFailures += 1 }
    } else if run.otherFailures < .max {
      run.otherFailures += 1
    }
    if verdict.retriesAtOnce, failures == 0 {
      run.lastWait = .uniform(through: policy.path.returnJitter, using: &random)
    } else {
      run.lastWait = policy.backoff.wait(
        afterFailures: failures, previous: run.lastWait, using: &random)
    }
    pause(for: run.isSlow ? max(run.lastWait, drawSlowWait()) : run.lastWait)
  }

  /// Turns to the next endpoint of the list; false once the round is over, or without a list.
  private mutating func moveOn(after reach: Circumstances.Reach) -> Bool {
    guard endpoints.count > 1, reach != .stable, path != .down else { return false }
    endpoints.advance()
    run.endpointsTried &+= 1
    if run.endpointsTried < endpoints.count { return true }
    run.endpointsTried = 0
    return false
  }

  private var isExhausted: Bool {
    if let limit = policy.backoff.attemptLimit, run.attempts >= limit { return true }
    guard let limit = policy.backoff.elapsedLimit else { return false }
    return run.spent >= limit
  }

  /// Whether the verdict allows another try; takes it from the budget.
  private mutating func spendRetry(_ verdict: Verdict) -> Bool {
    // The provider is asked before every dial; this is the dial that its next answer is worth.
    if verdict.refreshesCredentials, policy.credentialsDeadline != nil, !run.refreshedCredentials {
      run.refreshedCredentials = true
      return true
    }
    guard let limit = verdict.retryLimit else { return true }
    guard run.cappedRetries < limit else { return false }
    run.cappedRetries += 1
    return true
  }

  mutating func forgetFailures() { run = Run() }

  /// Whether a link has been open for so long that what failed before it is forgotten.
  func isStable(_ link: Link, until instant: Instant) -> Bool {
    link.stage == .open && instant - link.since >= policy.backoff.stability
  }
}

// MARK: Patience

extension Machine {
  /// When the slow tier begins; `never` without one, without an outage, and once it has begun.
  var slowAt: Instant {
    guard let patience = policy.patience, !run.isSlow else { return .never }
    return run.failingSince + patience.fastFor
  }

  private var isPatienceOver: Bool { now >= slowAt }

  /// Slows down; what waits has waited in vain.
  mutating func becomeSlow(into effects: inout Effects) {
    run.isSlow = true
    queue.endWaiting(as: .expired, into: &effects)
    guard case .backingOff(let wait) = state else { return }
    let until = max(wait.until, now + drawSlowWait())
    state = .backingOff(BackingOff(until: until, tier: .slow))
  }

  private mutating func drawSlowWait() -> TimeSpan {
    guard let patience = policy.patience else { return .zero }
    let half = TimeSpan(nanoseconds: patience.slowWait.nanoseconds / 2)
    return half + .uniform(through: patience.slowWait - half, using: &random)
  }
}

// MARK: Out of the slot

extension Machine {
  /// Takes a link out of its slot; its unsettled messages are in doubt or wait again.
  mutating func retire(_ link: Link, because cause: Cause, into effects: inout Effects) {
    primary = nil
    plans = Plans()
    lastCause = cause
    if let standby, standby.isEnding { dropStandby(into: &effects) }
    effects.append(.ended(link.epoch, cause))
    queue.linkEnded(into: &effects)
    if link.stage == .open || link.isEnding { sessionLost() }
  }

  /// The end that we wished for is done; the first cause stands, whatever ended it (I8).
  mutating func finish(_ link: Link, into effects: inout Effects) {
    guard link.ending == .byUser || !wanted else {
      retire(link, because: link.ending.cause, into: &effects)
      guard link.ending == .recalled else { return seekLink(.scheduled, into: &effects) }
      // A new run, perhaps elsewhere: the old session is nothing to it.
      resumableUntil = .origin
      return seekLink(.userAsked, into: &effects)
    }
    primary = nil
    plans = Plans()
    effects.append(.ended(link.epoch, link.ending.cause))
    enterClosed(.requested, because: .closedByUser, into: &effects)
    guard wanted else { return }
    // Connect came before the peer's answer: a new run, which the close explains nothing of.
    lastCause = nil
    seekLink(.userAsked, into: &effects)
  }

  /// Comes to rest. Every message left has its end here.
  mutating func enterClosed(
    _ reason: Closed.Reason, because cause: Cause, into effects: inout Effects
  ) {
    lastCause = cause
    state = .closed(Closed(cause: cause, reason: reason))
    resumableUntil = .origin
    queue.endAll(into: &effects)
  }

  private mutating func sessionLost() {
    guard let window = policy.resumeWindow else { return }
    resumableUntil = now + window
  }
}
