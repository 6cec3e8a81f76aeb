// The one place where a dial is decided, and what happens when an attempt ends.

/// Who wants this dial.
enum Urge {
  /// The application, just now: it need not keep the spacing and tries a path that is said to be
  /// down.
  case userAsked
  /// The machine's own plan.
  case scheduled
  /// The doubt about a path that has been down for long.
  case probe
}

extension Machine {
  /// Dials, or enters the state that says why not.
  mutating func seekLink(_ urge: Urge, into effects: inout Effects) {
    if !wanted || primary != nil { trap("a dial without intent, or beside a link", nil) }
    if let hold = hold(for: urge) {
      state = .suspended(Suspended(hold: hold))
      return
    }
    if path == .down, urge == .scheduled {
      state = .offline(Offline(since: now))
      return
    }
    if urge != .userAsked, let earliest = earliestUnaskedDial, now < earliest {
      // A probe that comes too early is asked for anew; the hold goes on, so that a path which
      // comes back still ends it.
      state =
        urge == .probe
        ? .offline(Offline(since: now)) : .backingOff(BackingOff(until: earliest, tier: .fast))
      return
    }
    lastEpoch = Epoch(lastEpoch.rawValue + 1)
    guard policy.credentialsDeadline != nil else { return dial(into: &effects) }
    // The provider is spared like the peer: without a wait in the policy, one that fails at once
    // would be asked again at once, for ever.
    lastDialAt = now
    state = .waitingForCredentials(WaitingForCredentials(epoch: lastEpoch, since: now))
    effects.append(.requestCredentials(lastEpoch))
  }

  /// Dials at once, as the epoch that was reserved.
  mutating func dial(into effects: inout Effects) {
    let link = Link(epoch: lastEpoch, dialledAt: now, pathIsDown: path == .down)
    if link.isCounted, attempts < .max { attempts += 1 }
    lastDialAt = now
    primary = link
    state = .linked
    effects.append(.openTransport(lastEpoch, endpoint))
  }

  /// Who forbids the dial, if anyone does.
  func hold(for urge: Urge) -> Suspended.Hold? {
    if lifecycle == .suspended { return .device }
    if lifecycle == .background, urge != .userAsked { return .background }
    return demand ? nil : .noDemand
  }

  private var earliestUnaskedDial: Instant? {
    guard let lastDialAt else { return nil }
    let spaced = lastDialAt + policy.minimumDialSpacing
    return notBefore.map { max($0, spaced) } ?? spaced
  }

  /// Waits for a span, and for the spacing or a verdict's minimum if that takes longer; or holds,
  /// if something holds.
  mutating func pause(for span: TimeSpan) {
    if let hold = hold(for: .scheduled) {
      state = .suspended(Suspended(hold: hold))
    } else if path == .down {
      state = .offline(Offline(since: now))
    } else {
      let until = now + span
      let earliest = earliestUnaskedDial ?? until
      state = .backingOff(BackingOff(until: max(until, earliest), tier: .fast))
    }
  }

  mutating func forgetFailures() {
    attempts = 0
    networkFailures = 0
    otherFailures = 0
    lastWait = .zero
    spent = .zero
    cappedRetries = 0
    refreshedCredentials = false
    notBefore = nil
  }
}

// MARK: Ends

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
    if link.stage == .closing { return finish(link, into: &effects) }
    // Stability is a fact, not a timer: how long was it open, and alive? A peer that accepts and
    // falls silent was alive no longer than it was heard.
    let aliveUntil = cause == .timedOut(.pong) ? link.heardAt : now
    var reach = Circumstances.Reach.notOpen
    if link.stage == .open {
      let isStable = aliveUntil - link.since >= policy.backoff.stability
      reach = isStable ? .stable : .open
    }
    if reach == .stable {
      forgetFailures()
    } else {
      spendAttempt()
    }
    retire(link, because: cause, into: &effects)
    failed(because: cause, reach: reach, into: &effects)
  }

  /// There will be no dial. The provider was asked in its place, and that took its time.
  mutating func credentialsFailed(because cause: Cause, into effects: inout Effects) {
    spendAttempt()
    failed(because: cause, reach: .notOpen, into: &effects)
  }

  /// Counts the time since the dial; that of a stable link was not spent on trying, and a path that
  /// is down has its own clock.
  private mutating func spendAttempt() {
    if path != .down, let lastDialAt { spent = spent + (now - lastDialAt) }
  }

  /// Counts a failure and decides between another try and the end, as the verdict says.
  private mutating func failed(
    because cause: Cause, reach: Circumstances.Reach, into effects: inout Effects
  ) {
    lastCause = cause
    let verdict = policy.verdict(on: cause, in: Circumstances(path: path, reach: reach))
    guard spendRetry(verdict) else {
      return enterClosed(.terminal, because: cause, into: &effects)
    }
    if path != .down, isExhausted {
      return enterClosed(.exhausted, because: cause, into: &effects)
    }
    let (failures, overflow) = networkFailures.addingReportingOverflow(otherFailures)
    // While the path is down every failure is the network's.
    if verdict.failureClass == .network || path == .down {
      if networkFailures < .max { networkFailures += 1 }
    } else if otherFailures < .max {
      otherFailures += 1
    }
    // A fact and not part of the wait: neither a path that comes back nor the end of a hold may
    // dial a server sooner than it asked for.
    if verdict.minimumDelay > .zero || verdict.spread > .zero {
      notBefore =
        now + verdict.minimumDelay + .uniform(through: verdict.spread, using: &random)
    }
    if verdict.retriesAtOnce, failures == 0 {
      lastWait = .uniform(through: policy.path.returnJitter, using: &random)
    } else {
      lastWait = policy.backoff.wait(
        afterFailures: overflow ? .max : failures, previous: lastWait, using: &random)
    }
    pause(for: lastWait)
    // Where a hold took its place, nothing is spent.
    if case .backingOff(let wait) = state { spent = spent + (wait.until - now) }
  }

  private var isExhausted: Bool {
    if let limit = policy.backoff.attemptLimit, attempts >= limit { return true }
    guard let limit = policy.backoff.elapsedLimit else { return false }
    return spent >= limit
  }

  /// Whether the verdict allows another try; takes it from the budget.
  private mutating func spendRetry(_ verdict: Verdict) -> Bool {
    // The provider is asked before every dial; this is the dial that its next answer is worth.
    if verdict.refreshesCredentials, policy.credentialsDeadline != nil, !refreshedCredentials {
      refreshedCredentials = true
      return true
    }
    guard let limit = verdict.retryLimit else { return true }
    guard cappedRetries < limit else { return false }
    cappedRetries += 1
    return true
  }

  /// Takes a link out of its slot; its unsettled messages are in doubt or wait again.
  mutating func retire(_ link: Link, because cause: Cause, into effects: inout Effects) {
    primary = nil
    lastCause = cause
    effects.append(.ended(link.epoch, cause))
    queue.linkEnded(into: &effects)
  }

  /// The close that the user asked for is done; the first cause stands, whatever ended it (I8).
  mutating func finish(_ link: Link, into effects: inout Effects) {
    primary = nil
    effects.append(.ended(link.epoch, .closedByUser))
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
    queue.endAll(into: &effects)
  }
}
