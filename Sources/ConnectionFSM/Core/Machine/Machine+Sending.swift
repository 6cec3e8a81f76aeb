// Messages: taken at the door, given to the link, and the link's end seen to.

extension Machine {
  @inline(always)
  mutating func offer(
    to lane: LaneID, byteCount: UInt32, into effects: inout Effects
  ) -> Disposition {
    var receptive: Epoch?
    if link.stage == .open {
      if link.writable, plans.burstAt == .never { receptive = link.epoch }
    } else {
      if let rejection { return .rejected(rejection) }
      receptive = receptiveEpoch
    }
    guard queue.has(lane) || queue.make(policy.lanes, for: lane) else {
      return .rejected(.noSuchLane)
    }
    if link.stage != .open, policy.lanes[Int(lane.rawValue)].admission == .whileOpen {
      return .rejected(.notOpen)
    }
    let expiry = queue.nextExpiry
    // The timer may be late (a loaded loop, a sleep): what has outlived its time holds no place.
    queue.expire(at: now, into: &effects)
    // No other lane can have something to give: each gave what its window admits when it changed.
    let disposition = queue.offer(
      lane, byteCount: byteCount, at: now, launchedOn: receptive, into: &effects)
    // The one fact behind a deadline that an offer can change; mostly it does not.
    if queue.nextExpiry != expiry { deadlineAt = derivedDeadline }
    return disposition
  }

  /// Why nothing is taken without an open link, if anything is against it.
  var rejection: Rejection? {
    if let primary {
      // A link that is let go for a while still takes what comes while it drains; the rest waits.
      if primary.isEnding, !wanted || primary.ending == .byUser { return .closed }
    } else if case .closed = state {
      return .closed
    }
    return run.isSlow ? .outage : nil
  }

  /// Gives waiting messages to an open link that takes them, oldest first: nothing overtakes a
  /// backlog.
  @inline(always)
  mutating func launchWaiting(into effects: inout Effects) {
    guard let epoch = receptiveEpoch else { return }
    // Nor may a late timer let it out.
    queue.expire(at: now, into: &effects)
    queue.launch(on: epoch, into: &effects)
  }

  /// The link that takes messages just now. While a backlog is paced, they wait behind it.
  @inline(always)
  var receptiveEpoch: Epoch? {
    guard link.stage == .open || link.stage == .draining, link.writable, plans.burstAt == .never
    else { return nil }
    return link.epoch
  }
}

// MARK: An open link

extension Machine {
  /// The link has just opened, or taken over: the heartbeat starts, the queue follows.
  mutating func linkOpened(into effects: inout Effects) {
    roundTripEstimate = RoundTrip()
    plans = Plans()
    plans.turn = endpoints.turn
    planOpenLink()
    if policy.beat?.isImmediate == true { sendBeat(into: &effects) }
    if policy.pacing == nil || queue.hasNoneWaiting {
      launchWaiting(into: &effects)
    } else {
      launchBurst(into: &effects)
    }
  }

  /// Plans what an open link is for beside messages.
  mutating func planOpenLink() {
    plans.beatAt = policy.beat.map { now + $0.interval } ?? .never
    plans.sentAtBeat = queue.sentCount
    planReplacement()
  }

  /// Lets a part of the backlog go; the pacing is over once nothing waits.
  mutating func launchBurst(into effects: inout Effects) {
    guard let pacing = policy.pacing, let link = primary else {
      plans.burstAt = .never
      return
    }
    queue.expire(at: now, into: &effects)
    if link.writable { queue.launch(on: link.epoch, atMost: pacing.burst, into: &effects) }
    plans.burstAt = queue.hasNoneWaiting ? .never : now + pacing.interval
  }

  /// Begins the end of the open link: it finishes what it was given, and then closes. What waits is
  /// not given to it here: a close cancels that.
  mutating func windDown(_ ending: Link.Ending, into effects: inout Effects) {
    dropStandby(into: &effects)
    // From here on the link's time is that of its end.
    if isStable(link, until: now) { forgetFailures() }
    self.link.drain(ending, at: now)
    plans = Plans()
  }

  /// Closes links that drain and have nothing left to finish.
  mutating func seeOffDrained(into effects: inout Effects) {
    if link.stage == .draining, queue.isEmpty { closeDrained(into: &effects) }
    if standby?.stage == .draining, !queue.fliesOnOldLink { closeDrainedStandby(into: &effects) }
    drains = link.stage == .draining || standby?.stage == .draining
    planned = derivedPlanned
  }

  /// The draining is over, finished or not.
  mutating func closeDrained(into effects: inout Effects) {
    guard let link = primary, link.stage == .draining else { return }
    self.link.close(at: now)
    effects.append(.closeTransport(link.epoch))
    if link.ending == .byUser || !wanted {
      queue.endWaiting(as: .cancelled, into: &effects)
    }
  }
}
