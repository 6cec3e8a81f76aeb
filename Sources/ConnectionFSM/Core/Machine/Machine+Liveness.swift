// How a silent peer is found out, and how ours is told that we live.

extension Machine {
  /// An open link may be dead: ask the peer, and expect the answer soon.
  ///
  /// Once a silence: a flapping path must not push the verdict away for ever (I19).
  mutating func doubt(into effects: inout Effects) {
    guard let link = primary, link.stage == .open, !link.suspect else { return }
    guard policy.heartbeat != nil, !rhythm.isServerDriven else { return }
    // Doubt brings the verdict forward and never back: a ping about to be overdue is left alone.
    if link.askedAt != .never,
      link.askedAt + link.patience(under: policy, rhythm) <= now + policy.path.suspectTimeout
    {
      return
    }
    self.link.suspect = true
    // On waking, the timer that is overdue may have asked just now.
    if link.askedAt == now, link.question == .silence {
      self.link.question = .doubt
    } else {
      ping(.doubt, into: &effects)
    }
  }

  @inline(always)
  mutating func ping(_ question: Link.Question, into effects: inout Effects) {
    link.ask(question, at: now)
    // Where the server sends the pings, to ask is to wait: one timeout beyond the interval.
    if question == .silence, rhythm.isServerDriven { return }
    effects.append(.sendPing(link.epoch, link.lastPing))
  }

  /// A late deadline is not evidence: after a sleep the answer may lie unread. Ask once more with a
  /// fresh deadline; once a silence, so that a loop which is always late still finds the dead
  /// (RC047).
  mutating func pongOverdue(since due: Instant, into effects: inout Effects) {
    guard let link = primary else { return }
    // From a second on; a timeout below a second is itself the measure.
    let isLate = now - due >= min(.seconds(1), link.patience(under: policy, rhythm))
    if isLate, !link.probedLate {
      self.link.probedLate = true
    } else {
      self.link.missed = link.missed &+ 1
      // A beat has one answer to give, and who is in doubt had its warning.
      let most = link.question == .silence ? policy.heartbeat?.misses ?? 1 : 1
      guard link.missed &+ 1 < most else { return cut(because: .timedOut(.pong), into: &effects) }
    }
    if link.question != .beat {
      ping(link.question, into: &effects)
    } else if policy.beat?.answerTimeout != nil {
      self.link.askedAt = .never
      sendBeat(into: &effects)
    } else {
      // The policy was replaced, and its beat expects no answer.
      ping(.silence, into: &effects)
    }
  }

  /// The answer to the ping of a number came.
  mutating func heardPong(_ number: UInt32) {
    // Asked twice, it is not known which of the two was answered (Karn's rule).
    if number == link.lastPing, link.askedAt != .never, link.missed == 0, !link.probedLate {
      roundTripEstimate.take(now - link.askedAt)
    }
    link.hear(at: now)
  }
}

// MARK: The interval

extension Machine {
  var derivedRhythm: Rhythm {
    guard let heartbeat = policy.heartbeat else { return Rhythm() }
    var interval = heartbeat.interval
    if surroundings.path.isExpensive || surroundings.path.isConstrained {
      let more = interval.nanoseconds / 100 * Int64(heartbeat.stretch - 100)
      interval = TimeSpan(nanoseconds: interval.nanoseconds + more)
    }
    // After the stretch: a reaper does not wait longer because the path is dear. A server that
    // sends the pings does not hurry for what was learned under another policy.
    if learnedInterval > .zero, !heartbeat.isServerDriven {
      interval = min(interval, learnedInterval)
    }
    return Rhythm(
      interval: interval, timeout: heartbeat.timeout, anyByteCounts: heartbeat.anyByteCounts,
      isServerDriven: heartbeat.isServerDriven)
  }

  /// A link that died in silence may have met an idle reaper: ping twice within such a silence
  /// (F44).
  mutating func learnInterval(from link: Link, endedBecause cause: Cause) {
    guard let heartbeat = policy.heartbeat, let shortest = heartbeat.shortestInterval else {
      return
    }
    let silence = min(now, link.askedAt) - link.heardAt
    guard cause.isSilentLoss, link.question == .silence || link.askedAt == .never,
      silence + silence >= rhythm.interval
    else { return }
    let half = TimeSpan(nanoseconds: min(silence, rhythm.interval).nanoseconds / 2)
    learnedInterval = max(shortest, half)
    rhythm = derivedRhythm
  }
}

extension Cause {
  /// Whether a link that ended so may have been dead for a while: no close, no word.
  fileprivate var isSilentLoss: Bool {
    switch self {
    case .timedOut(.pong), .system(.connectionReset), .system(.timedOut), .closedByPeer(nil):
      true
    case .closedByPeer(let code?): code.rawValue == 1006
    case _: false
    }
  }
}

// MARK: The application's beat

extension Machine {
  /// The beat is due; one that was sent late does not shift the others.
  mutating func serveBeat(into effects: inout Effects) {
    guard let beat = policy.beat else {
      plans.beatAt = .never
      return
    }
    let next = plans.beatAt + beat.interval
    plans.beatAt = next > now ? next : now + beat.interval
    let sent = queue.sentCount
    let isSpared = beat.skipsAfterTraffic && sent != plans.sentAtBeat
    plans.sentAtBeat = sent
    if !isSpared { sendBeat(into: &effects) }
  }

  mutating func sendBeat(into effects: inout Effects) {
    guard let link = primary, let beat = policy.beat else { return }
    // A question that waits for its answer is not asked anew: that would put off the verdict.
    if beat.answerTimeout != nil, link.askedAt == .never {
      self.link.ask(.beat, at: now)
    } else {
      self.link.lastPing &+= 1
    }
    if let primary { effects.append(.sendBeat(primary.epoch, primary.lastPing)) }
  }
}
