// What the device and its network allow. All of it is advice about when to dial; none of it ends
// the wish to be connected.

extension Machine {
  mutating func demandChanged(_ demand: Bool, into effects: inout Effects) -> Disposition {
    guard demand != self.demand else { return .ignored(.redundant) }
    self.demand = demand
    holdsChanged(into: &effects)
    return .accepted
  }

  mutating func lifecycleChanged(
    _ lifecycle: Lifecycle, into effects: inout Effects
  ) -> Disposition {
    guard lifecycle != self.lifecycle else { return .ignored(.redundant) }
    self.lifecycle = lifecycle
    holdsChanged(into: &effects)
    return .accepted
  }

  /// An open link is kept; a machine that seeks one is held, or goes on at once when the hold ends.
  private mutating func holdsChanged(into effects: inout Effects) {
    switch state {
    case .idle, .linked, .closed: return
    case .offline, .backingOff, .waitingForCredentials:
      if let hold = hold(for: .scheduled) { state = .suspended(Suspended(hold: hold)) }
    case .suspended: seekLink(.scheduled, into: &effects)
    }
  }

  mutating func pathChanged(_ status: PathStatus, into effects: inout Effects) -> Disposition {
    guard status != path else { return .ignored(.redundant) }
    let wasDown = path == .down
    path = status
    if status == .down {
      pathLost(into: &effects)
    } else if wasDown {
      pathRegained(into: &effects)
    }
    // From unknown to up is no edge: it confirms what we assumed (RC109).
    return .accepted
  }

  private mutating func pathLost(into effects: inout Effects) {
    if let link = primary {
      switch link.stage {
      case .connecting: primary?.suspect = true
      case .open: suspect(link, into: &effects)
      case .authenticating, .closing: break
      }
      return
    }
    switch state {
    case .backingOff, .waitingForCredentials: state = .offline(Offline(since: now))
    case .idle, .offline, .suspended, .linked, .closed: return
    }
  }

  /// The path of an open link was lost, or so it is said: ask the peer.
  private mutating func suspect(_ link: Link, into effects: inout Effects) {
    switch policy.path.onLoss {
    case .close:
      cut(because: .pathLost, into: &effects)
    case .probe:
      // Once a silence: a flapping path must not push the verdict away for ever (I19).
      guard let heartbeat = policy.heartbeat, !link.suspect else { return }
      // Doubt brings the verdict forward and never back: a ping about to be overdue is left alone.
      if let sent = link.pingSentAt, sent + heartbeat.timeout <= now + policy.path.suspectTimeout {
        return
      }
      primary?.suspect = true
      ping(into: &effects)
    }
  }

  // An open link under suspicion stays so: the peer was asked, and has its time. To ask anew at
  // each return would let a flapping path put the verdict off for ever (I19).
  private mutating func pathRegained(into effects: inout Effects) {
    networkFailures = 0
    if let link = primary, link.stage == .connecting, link.suspect {
      // Dialled into a dead path, its handshake sleeps in ever longer retransmissions: start
      // afresh, as the same attempt (RC150).
      if link.isCounted, attempts > 0 { attempts -= 1 }
      effects.append(.abortTransport(link.epoch))
      retire(link, because: .pathLost, into: &effects)
      pauseAfterReturn()
    } else if case .offline = state {
      pauseAfterReturn()
    }
  }

  /// At once, but not in step with everybody else who lost the same path.
  private mutating func pauseAfterReturn() {
    pause(for: .uniform(through: policy.path.returnJitter, using: &random))
  }

  @inline(always)
  mutating func ping(into effects: inout Effects) {
    primary?.ping(at: now)
    if let primary { effects.append(.sendPing(primary.epoch, primary.lastPing)) }
  }
}
