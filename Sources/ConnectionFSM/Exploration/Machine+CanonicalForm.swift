// The canonical form of a machine, fact by fact: what is only reported is left out, what dies with
// another fact stands behind it. A new fact of the machine wants its line here; a test finds two
// machines of equal form that behave differently.

extension Machine {
  /// The last instant seen.
  package var clock: Instant { now }

  /// Where the application wants to go.
  package var destination: EndpointID { endpoint }

  /// The state of the dice, which tells how often they were thrown.
  package var dice: SplitMix64 {
    get { random }
    set { random = newValue }
  }

  /// A live message of a lane by its place, oldest first.
  package func message(_ place: Int, in lane: LaneID) -> MessageID {
    queue[Int(lane.rawValue)][UInt32(place)].id
  }

  /// Adds what matters of this machine to a form.
  package func add(to form: inout CanonicalForm) {
    let limits = form.limits
    form.add(wanted)
    form.add(path.rawValue, bits: 2)
    form.add(lifecycle.rawValue, bits: 2)
    form.add(demand)
    // Without a limit on the time spent it does not matter whether there was a dial, but how long
    // the next one must keep its distance.
    form.add(
      lastDialAt ?? .longAgo, before: now, limit: max(limits.spacing, limits.elapsed ?? .zero))
    form.add(limits.elapsed != nil && lastDialAt == nil)
    addState(to: &form)
    addBudget(to: &form)
    primary?.add(to: &form, at: now, newest: lastEpoch)
    form.add(standby != nil)
    standby?.add(to: &form, at: now, newest: lastEpoch)
    for lane in policy.lanes.indices { queue[lane].add(to: &form, at: now) }
  }

  private func addBudget(to form: inout CanonicalForm) {
    let limits = form.limits
    switch state {
    // A new run begins with a new budget.
    case .idle, .closed: return
    case .offline, .backingOff, .waitingForCredentials, .suspended, .linked: break
    }
    if let limit = limits.attempts {
      // One that was counted above the limit may be taken back, to the limit and not below.
      let mayTakeBack = primary?.stage == .connecting && primary?.isCounted == true
      form.add(min(attempts, mayTakeBack ? limit + 1 : limit), bits: 4)
    }
    form.add(min(networkFailures, limits.failures), bits: 4)
    form.add(min(otherFailures, limits.failures), bits: 4)
    if limits.remembersWaits { form.add(lastWait) }
    if let limit = limits.elapsed { form.add(min(spent, limit)) }
    form.add(cappedRetries, bits: 4)
    if limits.credentials > .zero { form.add(refreshedCredentials) }
    form.add(notBefore ?? .longAgo, after: now)
  }

  private func addState(to form: inout CanonicalForm) {
    switch state {
    case .idle: form.add(0, bits: 3)
    case .offline(let offline):
      form.add(1, bits: 3)
      form.add(offline.since, before: now, limit: form.limits.probe)
    case .backingOff(let wait):
      form.add(2, bits: 3)
      form.add(wait.until, after: now)
      form.add(wait.tier.rawValue, bits: 1)
    case .waitingForCredentials(let wait):
      form.add(3, bits: 3)
      form.add(wait.epoch, newest: lastEpoch)
      form.add(wait.since, before: now, limit: form.limits.credentials)
    case .suspended(let suspended):
      form.add(4, bits: 3)
      form.add(suspended.hold.rawValue, bits: 2)
    case .linked: form.add(5, bits: 3)
    case .closed: form.add(6, bits: 3)
    }
  }
}

extension Machine.Link {
  fileprivate func add(to form: inout CanonicalForm, at now: Instant, newest: Epoch) {
    let limits = form.limits
    form.add(epoch, newest: newest)
    form.add(stage.rawValue, bits: 2)
    form.add(writable)
    form.add(suspect)
    form.add(probedLate)
    switch stage {
    case .connecting:
      form.add(isCounted)
      form.add(since, before: now, limit: limits.connect)
    case .authenticating: form.add(since, before: now, limit: limits.session)
    case .closing: form.add(since, before: now, limit: limits.close)
    case .open:
      form.add(since, before: now, limit: limits.stability)
      guard limits.silence > .zero else { return }
      // How long the link was alive if it falls silent now.
      form.add(since, before: heardAt, limit: limits.stability)
      form.add(pingSentAt != nil)
      if let pingSentAt {
        form.add(pingSentAt, before: now, limit: limits.pong)
      } else {
        form.add(heardAt, before: now, limit: limits.silence)
      }
    }
  }
}

extension LaneQueue {
  fileprivate func add(to form: inout CanonicalForm, at now: Instant) {
    form.add(count, bits: 3)
    form.add(inFlight, bits: 3)
    for place in 0..<count {
      let entry = self[place]
      form.add(entry.byteCount, bits: 4)
      form.add(entry.id <= sentThrough)
      guard let timeToLive = lane.timeToLive else { continue }
      // What flies and will not wait again has no time left to count.
      if place < inFlight, lane.delivery == .atMostOnce { continue }
      form.add(entry.offeredAt, before: now, limit: timeToLive)
    }
  }
}

extension Instant {
  /// Before anything that matters.
  package static let longAgo = Instant(nanoseconds: .min)
}
