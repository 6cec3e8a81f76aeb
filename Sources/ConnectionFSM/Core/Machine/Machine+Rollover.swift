// The planned replacement: make before break, on the standby link (F54).
//
// The standby is first the new link on its way to open, then the old one on its way out. A standby
// that fails never ends the primary.

extension Machine {
  /// Plans when the open link is replaced, as its age asks for.
  mutating func planReplacement() {
    plans.replaceAt = .never
    guard let rollover = policy.rollover else { return }
    if let maxAge = rollover.maxAge {
      plans.replaceAt = link.since + (maxAge - .uniform(through: rollover.dither, using: &random))
    }
    if plans.turn != 0, let returnAfter = rollover.returnAfter {
      plans.replaceAt = min(plans.replaceAt, link.since + returnAfter)
    }
  }

  /// The server will go away, or there is a better path: move within the dither.
  mutating func noticed(leavesEndpoint: Bool) -> Disposition {
    // While the old link still drains, the new one may have to be left already.
    guard let link = primary, link.stage == .open, standby?.isEnding != false,
      let rollover = policy.rollover
    else { return .ignored(.redundant) }
    plans.isReplacementDrawn = true
    if leavesEndpoint { plans.avoidsEndpoint = endpoints.count > 1 }
    let span = leavesEndpoint ? rollover.dither : .zero
    plans.replaceAt = min(plans.replaceAt, now + .uniform(through: span, using: &random))
    return .accepted
  }

  /// Dials the replacement, or puts it off while nothing may be dialled.
  mutating func startReplacement(into effects: inout Effects) {
    let mayDial = hold(for: .scheduled) == nil && path != .down
    guard mayDial, now >= earliestUnaskedDial else { return putReplacementOff() }
    if plans.avoidsEndpoint {
      endpoints.advance()
      if endpoints.turn == plans.turn { endpoints.advance() }
    } else {
      endpoints.turn = 0
    }
    spendDial(.scheduled)
    if policy.credentialsDeadline == nil {
      standby = newLink(.connecting)
      effects.append(.openTransport(lastEpoch, endpoints.current))
    } else {
      standby = newLink(.authorizing)
      effects.append(.requestCredentials(lastEpoch))
    }
  }

  private mutating func putReplacementOff() {
    plans.isReplacementDrawn = true
    let wait = policy.backoff.wait(
      afterFailures: UInt32(plans.failedReplacements), using: &random)
    // At least a second, where neither backoff nor spacing asks for any.
    plans.replaceAt = max(now + max(wait, .seconds(1)), earliestUnaskedDial)
  }

  mutating func standbyReported(
    _ event: TransportEvent, into effects: inout Effects
  ) -> Disposition {
    // One that waits for credentials has no transport yet.
    guard let link = standby, link.stage != .authorizing else { return .ignored(.staleEpoch) }
    switch event {
    case .opened:
      guard link.stage == .connecting else { return .ignored(.redundant) }
      guard policy.sessionDeadline != nil else {
        takeOver(into: &effects)
        return .accepted
      }
      standby?.authenticate(at: now)
      effects.append(.startSession(link.epoch, resuming: false))
    case .failed(let cause):
      standbyEnded(because: cause, into: &effects)
      launchWaiting(into: &effects)
    case .closed(let code):
      standbyEnded(because: .closedByPeer(code), into: &effects)
      launchWaiting(into: &effects)
    case .written(let id):
      // A lane that has nothing left on the old link moves over.
      return settled(
        through: id, promise: .atMostOnce, as: .written, onOldLink: true, into: &effects)
    case .acknowledged(let id):
      return settled(
        through: id, promise: .atLeastOnce, as: .acknowledged, onOldLink: true, into: &effects)
    case .writabilityChanged(let writable):
      guard link.writable != writable else { return .ignored(.redundant) }
      standby?.writable = writable
    case .received, .pong, .viabilityChanged, .drainRequested, .betterPathAvailable:
      return .ignored(.redundant)
    }
    return .accepted
  }

  mutating func standbySessionReported(
    _ event: SessionEvent, into effects: inout Effects
  ) -> Disposition {
    guard standby?.stage == .authenticating else { return .ignored(.redundant) }
    switch event {
    case .ready, .resumed: takeOver(into: &effects)
    case .resumeRefused: return .ignored(.redundant)
    case .refused(let refusal): cutStandby(because: .sessionRefused(refusal), into: &effects)
    }
    return .accepted
  }

  mutating func standbyAuthorized(
    _ answer: CredentialsAnswer, into effects: inout Effects
  ) -> Disposition {
    switch answer {
    case .available where hold(for: .scheduled) != nil: giveStandbyUp()
    case .available:
      standby?.dial(at: now)
      lastDialAt = now
      if let standby { effects.append(.openTransport(standby.epoch, endpoints.current)) }
    case .unavailable, .refused: giveStandbyUp()
    }
    return .accepted
  }
}

// MARK: Its deadlines and ends

extension Machine {
  /// Serves what is due of the standby link.
  mutating func serveStandby(_ link: Link, into effects: inout Effects) {
    let due = link.deadline(under: policy, Rhythm())
    guard now >= due.at else { return }
    switch due.reason {
    case .credentials: giveStandbyUp()
    case .connect: cutStandby(because: .timedOut(.connect), into: &effects)
    case .login: cutStandby(because: .timedOut(.login), into: &effects)
    case .drain: closeDrainedStandby(into: &effects)
    case .close: cutStandby(because: .replaced, into: &effects)
    case .ping, .pong, .retry, .probe: return
    }
  }

  /// The new link is open: it takes over, and the old one finishes what it was given.
  private mutating func takeOver(into effects: inout Effects) {
    guard var old = primary, var new = standby else { return }
    // From here on stability is counted from the new link's open.
    if isStable(old, until: now) { forgetFailures() }
    new.open(at: now)
    old.drain(.replaced, at: now)
    primary = new
    standby = old
    queue.linkReplaced()
    linkOpened(into: &effects)
  }

  mutating func closeDrainedStandby(into effects: inout Effects) {
    guard let link = standby, link.stage == .draining else { return }
    standby?.close(at: now)
    effects.append(.closeTransport(link.epoch))
  }

  private mutating func cutStandby(because cause: Cause, into effects: inout Effects) {
    guard let link = standby else { return }
    effects.append(.abortTransport(link.epoch))
    standbyEnded(because: cause, into: &effects)
  }

  private mutating func standbyEnded(because cause: Cause, into effects: inout Effects) {
    guard let link = standby else { return }
    if link.isEnding {
      standby = nil
      effects.append(.ended(link.epoch, link.ending.cause))
      queue.oldLinkEnded(into: &effects)
    } else {
      effects.append(.ended(link.epoch, cause))
      giveStandbyUp()
    }
  }

  /// The replacement did not come to be; the next is tried later.
  private mutating func giveStandbyUp() {
    standby = nil
    if plans.failedReplacements < .max { plans.failedReplacements += 1 }
    putReplacementOff()
  }

  /// Lets go of the standby link, whichever it is.
  mutating func dropStandby(into effects: inout Effects) {
    guard let link = standby else { return }
    standby = nil
    // What was only to be dialled has no transport, and never began.
    if link.stage != .authorizing {
      effects.append(.abortTransport(link.epoch))
      effects.append(.ended(link.epoch, .replaced))
    }
    if link.isEnding {
      queue.oldLinkEnded(into: &effects)
    } else if primary != nil {
      putReplacementOff()
    }
  }

  /// The primary is gone while its replacement is on the way: that one is the attempt now.
  mutating func promoteStandby() -> Bool {
    guard let link = standby else { return false }
    standby = nil
    if link.stage == .authorizing {
      if let hold = hold(for: .scheduled) {
        state = .suspended(Suspended(hold: hold))
      } else {
        state = .waitingForCredentials(WaitingForCredentials(since: link.since))
      }
    } else {
      primary = link
      state = .linked
      if run.attempts < .max { run.attempts += 1 }
    }
    return true
  }
}
