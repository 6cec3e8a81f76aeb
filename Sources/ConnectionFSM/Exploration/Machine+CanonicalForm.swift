// The canonical form of a machine, fact by fact: what is only reported is left out, what dies with
// another fact stands behind it. A new fact of the machine wants its line here; a test finds two
// machines of equal form that behave differently.

extension Machine {
  /// Handles an input with these dice in place of its own, which it gets back.
  /// - Returns: What was made of the input, and how often the dice were thrown.
  package mutating func handle(
    _ input: Input, at instant: Instant, into effects: inout Effects, throwing dice: SplitMix64
  ) -> (disposition: Disposition, draws: Int) {
    let own = random
    random = dice
    let disposition = handle(input, at: instant, into: &effects)
    var thrown = dice
    var draws = 0
    while thrown != random {
      _ = thrown.next()
      draws += 1
    }
    random = own
    return (disposition, draws)
  }

  /// A live message of a lane by its place, oldest first; nil past the last.
  package func message(_ place: Int, in lane: LaneID) -> MessageID? {
    guard let lane = queue[Int(lane.rawValue)], place < lane.count else { return nil }
    return lane[UInt32(place)].id
  }

  /// Adds what matters of this machine to a form.
  package func add(to form: inout CanonicalForm) {
    let first = endpoints.first.rawValue
    form.names = CanonicalForm.Names(
      now: now, newest: lastEpoch, primary: hasLink ? link.epoch : nil, standby: standby?.epoch,
      destinations: first...first + UInt32(endpoints.count) - 1)
    let limits = form.limits
    form.add(wanted)
    // Without a limit on the time spent it does not matter whether there was a dial, but how long
    // the next one must keep its distance.
    form.add(lastDialAt, before: now, limit: max(limits.spacing, limits.elapsed ?? .zero))
    form.add(limits.elapsed != nil && lastDialAt == .longAgo)
    if limits.hasBudget { form.add(budgetFullAt, after: now) }
    if limits.resumes {
      form.add(resumableUntil > .origin)
      form.add(resumableUntil, after: now)
    }
    if limits.learns { form.add(learnedInterval) }
    addState(to: &form)
    endpoints.add(to: &form)
    surroundings.add(to: &form, at: now)
    form.add(standby != nil)
    standby?.add(to: &form, of: self)
    if let primary {
      primary.add(to: &form, of: self)
      if primary.stage == .open { addPlans(to: &form) }
    }
    for lane in policy.lanes.indices {
      guard let lane = queue[lane], lane.count > 0 else {
        form.add(0, bits: 3)
        continue
      }
      lane.add(to: &form, at: now)
    }
  }

  private func addState(to form: inout CanonicalForm) {
    switch state {
    // A new run begins with a new budget.
    case .idle: return form.add(0, bits: 3)
    case .closed: return form.add(1, bits: 3)
    case .offline(let offline):
      form.add(2, bits: 3)
      form.add(offline.since, before: now, limit: form.limits.probe)
    case .backingOff(let wait):
      form.add(3, bits: 3)
      form.add(wait.until, after: now)
    case .waitingForCredentials(let wait):
      form.add(4, bits: 3)
      form.add(wait.since, before: now, limit: form.limits.credentials)
    case .suspended(let suspended):
      form.add(5, bits: 3)
      form.add(suspended.hold.rawValue, bits: 2)
    case .linked: form.add(6, bits: 3)
    }
    // One that was counted above the limit may be taken back, to the limit and not below.
    let isUnderWay = primary?.stage == .connecting || primary?.stage == .authenticating
    let mayTakeBack = isUnderWay && primary?.isCounted == true
    run.add(to: &form, at: now, mayTakeBack: mayTakeBack)
  }

  private func addPlans(to form: inout CanonicalForm) {
    let limits = form.limits
    if limits.beat > .zero {
      // How late a beat is decides about the next one, up to an interval.
      form.add(plans.beatAt == .never)
      if plans.beatAt != .never {
        form.add(max(plans.beatAt - now, .zero - limits.beat) + limits.beat)
      }
      form.add(queue.sentCount != plans.sentAtBeat)
    }
    form.add(plans.burstAt, orNeverAfter: now)
    form.add(plans.replaceAt, orNeverAfter: now)
    form.add(plans.avoidsEndpoint)
    form.add(plans.turn, bits: 8)
    form.add(plans.isReplacementDrawn)
    form.add(min(UInt32(plans.failedReplacements), limits.failures), bits: 4)
  }
}

extension Machine.Run {
  fileprivate func add(to form: inout CanonicalForm, at now: Instant, mayTakeBack: Bool) {
    let limits = form.limits
    if let limit = limits.attempts {
      form.add(min(attempts, mayTakeBack ? limit + 1 : limit), bits: 4)
    }
    form.add(min(networkFailures, limits.failures), bits: 4)
    form.add(min(otherFailures, limits.failures), bits: 4)
    form.add(cappedRetries, bits: 4)
    form.add(min(connectTimeouts, limits.connectTimeouts), bits: 4)
    form.add(endpointsTried, bits: 4)
    form.add(refreshedCredentials && limits.credentials > .zero)
    form.add(notBefore, after: now)
    if limits.remembersWaits { form.add(lastWait) }
    if let limit = limits.elapsed { form.add(min(spent, limit)) }
    if let limit = limits.patience {
      form.add(isSlow)
      form.add(failingSince == .never)
      if !isSlow, failingSince != .never { form.add(failingSince, before: now, limit: limit) }
    }
  }
}

extension Machine.Endpoints {
  fileprivate func add(to form: inout CanonicalForm) {
    form.add(count, bits: 3)
    form.add(turn, bits: 3)
    form.add(start, bits: 3)
    form.add(stride, bits: 3)
  }
}

extension Machine.Surroundings {
  fileprivate func add(to form: inout CanonicalForm, at now: Instant) {
    let limits = form.limits
    path.add(to: &form)
    form.add(reportedPath != path)
    if reportedPath != path {
      reportedPath.add(to: &form)
      form.add(reportedAt, before: now, limit: limits.debounce)
    }
    form.add(lifecycle.rawValue, bits: 2)
    if lifecycle != .foreground, let grace = limits.backgroundGrace {
      form.add(lifecycleSince, before: now, limit: grace)
    }
    form.add(demand)
    if !demand, let grace = limits.idleGrace { form.add(demandSince, before: now, limit: grace) }
  }
}

extension Path {
  fileprivate func add(to form: inout CanonicalForm) {
    form.add(status.rawValue, bits: 2)
    form.add(interface, bits: 2)
    form.add(isExpensive)
    form.add(isConstrained)
  }
}

extension Machine.Link {
  fileprivate func add(to form: inout CanonicalForm, of machine: Machine) {
    let limits = form.limits
    let now = machine.now
    form.add(epoch == machine.lastEpoch)
    form.add(stage.rawValue, bits: 3)
    form.add(writable)
    form.add(suspect)
    switch stage {
    case .authorizing:
      form.add(isCounted)
      form.add(since, before: now, limit: limits.credentials)
    case .connecting:
      form.add(isCounted)
      form.add(min(connectTimeouts, limits.connectTimeouts), bits: 4)
      form.add(since, before: now, limit: limits.connect)
    case .authenticating:
      form.add(isCounted)
      form.add(since, before: now, limit: limits.session)
    case .draining:
      form.add(ending.rawValue, bits: 2)
      form.add(since, before: now, limit: limits.drain)
    case .closing:
      form.add(ending.rawValue, bits: 2)
      form.add(since, before: now, limit: limits.close)
    case .open:
      form.add(since, before: now, limit: limits.stability)
      guard limits.pong > .zero else { return }
      // How long the link was alive if it falls silent now.
      form.add(since, before: heardAt, limit: limits.stability)
      form.add(askedAt == .never)
      if askedAt == .never {
        form.add(heardAt, before: now, limit: limits.silence)
      } else {
        form.add(askedAt, before: now, limit: limits.pong)
        // How long the silence was that made us ask.
        if limits.learns { form.add(heardAt, before: askedAt, limit: limits.silence) }
        form.add(question.rawValue, bits: 2)
      }
      form.add(probedLate)
      form.add(missed, bits: 3)
    }
  }
}

extension LaneQueue {
  fileprivate func add(to form: inout CanonicalForm, at now: Instant) {
    form.add(count, bits: 3)
    form.add(inFlight, bits: 3)
    form.add(fliesOnOldLink)
    form.add(isPressed)
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
