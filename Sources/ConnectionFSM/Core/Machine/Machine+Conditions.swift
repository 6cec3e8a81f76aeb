// What the device and its network allow. All of it is advice about when to dial; none of it ends
// the wish to be connected.

extension Machine {
  mutating func demandChanged(_ demand: Bool, into effects: inout Effects) -> Disposition {
    guard demand != surroundings.demand else { return .ignored(.redundant) }
    surroundings.demand = demand
    surroundings.demandSince = now
    holdsChanged(into: &effects)
    return .accepted
  }

  mutating func lifecycleChanged(
    _ lifecycle: Lifecycle, into effects: inout Effects
  ) -> Disposition {
    let before = surroundings.lifecycle
    guard lifecycle != before else { return .ignored(.redundant) }
    surroundings.lifecycle = lifecycle
    surroundings.lifecycleSince = now
    holdsChanged(into: &effects)
    // Who was away does not know what became of the link meanwhile.
    if lifecycle == .foreground || before == .suspended { doubt(into: &effects) }
    return .accepted
  }

  /// An open link is kept for its grace; a machine that seeks one is held, or goes on at once when
  /// the hold ends.
  private mutating func holdsChanged(into effects: inout Effects) {
    switch state {
    case .idle, .linked, .closed: return
    case .offline, .backingOff, .waitingForCredentials:
      if let hold = hold(for: .scheduled) { state = .suspended(Suspended(hold: hold)) }
    case .suspended: seekLink(.scheduled, into: &effects)
    }
  }

  /// When an open link that nobody may use, or needs, is let go.
  var releaseAt: Instant {
    var at = Instant.never
    if let grace = policy.lifecycle.backgroundGrace {
      switch surroundings.lifecycle {
      case .foreground: break
      // Who opened it in the background wants it.
      case .background: at = max(surroundings.lifecycleSince, link.since) + grace
      case .suspended: at = surroundings.lifecycleSince
      }
    }
    if !surroundings.demand, let grace = policy.lifecycle.idleGrace {
      at = min(at, surroundings.demandSince + grace)
    }
    return at
  }
}

// MARK: Paths

extension Machine {
  mutating func pathChanged(_ report: Path, into effects: inout Effects) -> Disposition {
    var report = report
    // A path that is down runs over no interface; what matters is the one before.
    if report.interface == 0 || report.status == .down {
      report.interface = surroundings.path.interface
    }
    guard report != surroundings.reportedPath else { return .ignored(.redundant) }
    surroundings.reportedPath = report
    surroundings.reportedAt = now
    // From unknown there is nothing to flap from.
    if path == .unknown || now >= pathSettlesAt { pathSettled(into: &effects) }
    return .accepted
  }

  /// When the last report will have stood for long enough to count; `never` if it says what counts.
  var pathSettlesAt: Instant {
    guard surroundings.reportedPath != surroundings.path else { return .never }
    return surroundings.reportedAt + policy.path.debounce
  }

  /// The report counts from now on.
  mutating func pathSettled(into effects: inout Effects) {
    let old = surroundings.path
    surroundings.path = surroundings.reportedPath
    let new = surroundings.path
    let isSwitched = old.interface != 0 && new.interface != old.interface
    if isSwitched { learnedInterval = .zero }
    rhythm = derivedRhythm
    if new.status == .down {
      if old.status != .down { pathLost(into: &effects) }
      return
    }
    if isSwitched { pathSwitched(into: &effects) }
    // From unknown to up is no edge: it confirms what we assumed (RC109).
    if old.status == .down { pathRegained(into: &effects) }
  }

  private mutating func pathLost(into effects: inout Effects) {
    if let standby, !standby.isEnding { dropStandby(into: &effects) }
    if let link = primary {
      switch link.stage {
      case .connecting, .authorizing: self.link.suspect = true
      case .open:
        switch policy.path.onLoss {
        case .close: cut(because: .pathLost, into: &effects)
        case .probe: doubt(into: &effects)
        }
      case .authenticating, .draining, .closing: break
      }
      return
    }
    switch state {
    case .backingOff, .waitingForCredentials: state = .offline(Offline(since: now))
    case .idle, .offline, .suspended, .linked, .closed: return
    }
  }

  // An open link under suspicion stays so: the peer was asked, and has its time. To ask anew at
  // each return would let a flapping path put the verdict off for ever (I19).
  private mutating func pathRegained(into effects: inout Effects) {
    run.networkFailures = 0
    if let link = primary, link.stage == .connecting, link.suspect {
      // Dialled into a dead path, its handshake sleeps in ever longer retransmissions (RC150).
      redial(because: .pathLost, into: &effects)
    } else if case .offline = state {
      pauseAfterReturn()
    }
  }

  /// The way out leads over another interface: what was sent over the old one may never arrive.
  private mutating func pathSwitched(into effects: inout Effects) {
    guard policy.path.onSwitch != .keep else { return }
    if let standby, !standby.isEnding { dropStandby(into: &effects) }
    run.networkFailures = 0
    guard let link = primary else {
      if case .backingOff = state { pauseAfterReturn() }
      return
    }
    switch link.stage {
    case .authorizing, .draining, .closing: return
    case .connecting, .authenticating: redial(because: .pathChanged, into: &effects)
    case .open:
      // Who is in doubt already has had its warning (RC009).
      if policy.path.onSwitch == .redial || link.suspect {
        redial(because: .pathChanged, into: &effects)
      } else {
        doubt(into: &effects)
      }
    }
  }

  /// Starts afresh, as the same attempt.
  private mutating func redial(because cause: Cause, into effects: inout Effects) {
    guard let link = primary else { return }
    if isStable(link, until: now) {
      forgetFailures()
    } else if link.isCounted, run.attempts > 0 {
      run.attempts -= 1
    }
    effects.append(.abortTransport(link.epoch))
    retire(link, because: cause, into: &effects)
    if !promoteStandby() { pauseAfterReturn() }
  }

  /// At once, but not in step with everybody else who lost the same path.
  private mutating func pauseAfterReturn() {
    pause(for: .uniform(through: policy.path.returnJitter, using: &random))
  }
}
