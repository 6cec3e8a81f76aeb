// The one place where a dial is decided.

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
    if urge != .userAsked, now < earliestUnaskedDial {
      // A probe that comes too early is asked for anew; the hold goes on, so that a path which
      // comes back still ends it.
      state =
        urge == .probe
        ? .offline(Offline(since: now))
        : .backingOff(BackingOff(until: earliestUnaskedDial, tier: tier))
      return
    }
    spendDial(urge)
    guard policy.credentialsDeadline != nil else { return dial(into: &effects) }
    state = .waitingForCredentials(WaitingForCredentials(since: now))
    effects.append(.requestCredentials(lastEpoch))
  }

  /// Takes the next epoch, and the place in time that a dial takes. The provider of credentials is
  /// spared like the peer: one that fails at once would be asked again at once, for ever.
  mutating func spendDial(_ urge: Urge) {
    lastEpoch = Epoch(lastEpoch.rawValue + 1)
    lastDialAt = now
    guard urge != .userAsked, let budget = policy.retryBudget else { return }
    budgetFullAt = max(budgetFullAt, now) + budget.interval
  }

  /// Dials at once, as the epoch that was taken.
  mutating func dial(into effects: inout Effects) {
    let link = newLink(.connecting)
    if link.isCounted, run.attempts < .max { run.attempts += 1 }
    lastDialAt = now
    primary = link
    state = .linked
    effects.append(.openTransport(lastEpoch, endpoints.current))
  }

  func newLink(_ stage: Link.Stage) -> Link {
    Link(
      epoch: lastEpoch, stage: stage, at: now, pathIsDown: path == .down,
      connectTimeouts: run.connectTimeouts)
  }

  /// Who forbids the dial, if anyone does.
  func hold(for urge: Urge) -> Suspended.Hold? {
    if surroundings.lifecycle == .suspended { return .device }
    if surroundings.lifecycle == .background, urge != .userAsked { return .background }
    return surroundings.demand ? nil : .noDemand
  }

  /// Before this instant only the user dials: spacing, budget, and what a verdict asked for.
  var earliestUnaskedDial: Instant {
    var earliest = run.notBefore
    earliest = max(earliest, lastDialAt + policy.minimumDialSpacing)
    if let budget = policy.retryBudget {
      // The bucket is a time: each dial puts its refilling off by one interval.
      let ahead = budget.interval.nanoseconds.multipliedReportingOverflow(
        by: Int64(budget.burst) - 1)
      let span = TimeSpan(nanoseconds: ahead.overflow ? .max : ahead.partialValue)
      earliest = max(earliest, budgetFullAt + (.zero - span))
    }
    return earliest
  }

  var tier: BackingOff.Tier { run.isSlow ? .slow : .fast }

  /// Waits for a span, and for the earliest dial that nobody asked for if that takes longer; or
  /// holds, if something holds.
  mutating func pause(for span: TimeSpan) {
    if let hold = hold(for: .scheduled) {
      state = .suspended(Suspended(hold: hold))
    } else if path == .down {
      state = .offline(Offline(since: now))
    } else {
      let until = max(now + span, earliestUnaskedDial)
      state = .backingOff(BackingOff(until: until, tier: tier))
    }
  }
}
