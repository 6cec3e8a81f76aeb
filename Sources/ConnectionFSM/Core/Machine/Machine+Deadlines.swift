// Deadlines are derived from facts, once, at the end of each transition. There is nothing to arm
// and nothing to cancel: a deadline dies with the facts it is derived from (I4).

/// Why the machine wants to be woken.
enum DeadlineReason {
  /// The attempt has taken too long.
  case connect
  /// The session stage has taken too long.
  case login
  /// The credentials provider has taken too long.
  case credentials
  /// The peer has been silent: time to ask.
  case ping
  /// The peer has not answered.
  case pong
  /// What was given to the link is not finished in time.
  case drain
  /// The peer has not answered our close.
  case close
  /// The backoff is over.
  case retry
  /// The path has been down for so long that the signal is doubted.
  case probe
}

/// What is waited for, and until when.
typealias Deadline = (reason: DeadlineReason, at: Instant)

// On the parts and not on the machine, which is large: a call that takes it by value copies it.
extension Machine.Link {
  /// What the link waits for; an open one without a heartbeat for something that never comes.
  @inline(always)
  func deadline(under policy: Policy, _ rhythm: Machine.Rhythm) -> Deadline {
    // Asked after every transition, and nearly always while open: a comparison, no jump table.
    if stage == .open {
      if askedAt == .never { return (.ping, heardAt.later(by: rhythm.interval)) }
      return (.pong, askedAt.later(by: patience(under: policy, rhythm)))
    }
    return stage.deadline(under: policy, since: since, connectTimeouts: connectTimeouts)
  }

  /// How long the answer to the ping may take.
  @inline(always)
  func patience(under policy: Policy, _ rhythm: Machine.Rhythm) -> TimeSpan {
    question == .silence
      ? rhythm.timeout : question.patience(under: policy, timeout: rhythm.timeout)
  }
}

// What is rarely asked is asked of the parts: a call that is not inlined would copy the whole link.
extension Machine.Link.Question {
  @inline(never)
  fileprivate func patience(under policy: Policy, timeout: TimeSpan) -> TimeSpan {
    switch self {
    case .silence: timeout
    case .doubt: min(policy.path.suspectTimeout, timeout)
    case .beat: policy.beat?.answerTimeout ?? timeout
    }
  }
}

extension Machine.Link.Stage {
  // A policy that is replaced may take the stage away in which a link is: then the time for a dial
  // must do.
  @inline(never)
  fileprivate func deadline(
    under policy: Policy, since: Instant, connectTimeouts: UInt8
  ) -> Deadline {
    switch self {
    case .open, .connecting:
      return (.connect, since + policy.connectDeadline(afterTimeouts: connectTimeouts))
    case .authorizing:
      return (.credentials, since + (policy.credentialsDeadline ?? policy.connectDeadline))
    case .authenticating:
      return (.login, since + (policy.sessionDeadline ?? policy.connectDeadline))
    case .draining: return (.drain, since + policy.drainDeadline)
    case .closing: return (.close, since + policy.closeDeadline)
    }
  }
}

extension Policy {
  /// Doubled with each dial in a row that it cut, up to its limit.
  func connectDeadline(afterTimeouts timeouts: UInt8) -> TimeSpan {
    guard let limit = connectDeadlineLimit, timeouts > 0 else { return connectDeadline }
    // 2³² is longer than any limit.
    let doubled = connectDeadline.nanoseconds.multipliedReportingOverflow(
      by: 1 << Int64(min(timeouts, 32)))
    return doubled.overflow ? limit : min(limit, TimeSpan(nanoseconds: doubled.partialValue))
  }
}

extension Machine.State {
  func deadline(under policy: Policy) -> Deadline? {
    switch self {
    case .idle, .suspended, .closed, .linked: return nil
    case .offline(let offline): return (.probe, offline.since + policy.path.probeInterval)
    case .backingOff(let backingOff): return (.retry, backingOff.until)
    case .waitingForCredentials(let wait):
      return (.credentials, wait.since + (policy.credentialsDeadline ?? policy.connectDeadline))
    }
  }
}

extension Machine {
  /// What the link, or the state without one, waits for.
  @inline(always)
  var ownDeadline: Deadline? {
    if hasLink { return link.deadline(under: policy, rhythm) }
    return state.deadline(under: policy)
  }

  @inline(always)
  var derivedDeadline: Instant {
    let next = min(queue.nextExpiry, planned)
    if link.stage == .open { return min(next, link.deadline(under: policy, rhythm).at) }
    if let own = ownDeadline?.at { return min(next, own) }
    return next
  }

  /// When something beside the link's own deadline is due.
  var derivedPlanned: Instant {
    var next = pathSettlesAt
    if let standby {
      next = min(next, standby.deadline(under: policy, Rhythm()).at)
    }
    guard let primary else { return isHeldByRest ? next : min(next, slowAt) }
    guard primary.stage == .open else { return next }
    next = min(next, min(releaseAt, min(plans.beatAt, plans.burstAt)))
    return standby == nil ? min(next, plans.replaceAt) : next
  }

  private var isHeldByRest: Bool {
    switch state {
    case .idle, .closed: true
    case .offline, .backingOff, .waitingForCredentials, .suspended, .linked: false
    }
  }
}

// MARK: Serving

extension Machine {
  @inline(always)
  mutating func deadlineReached(into effects: inout Effects) -> Disposition {
    guard now >= deadlineAt, deadlineAt != .never else { return .ignored(.early) }
    // All that a healthy, quiet link wants: its ping.
    if link.stage == .open, link.askedAt == .never, now < planned, now < queue.nextExpiry {
      ping(.silence, into: &effects)
      return .accepted
    }
    serveDeadlines(into: &effects)
    return replan(.accepted, into: &effects)
  }

  /// Serves all that is due, in a fixed order: what is known of the path, the verdicts on links,
  /// expiry, then what starts anew.
  @inline(never)
  private mutating func serveDeadlines(into effects: inout Effects) {
    if now >= pathSettlesAt { pathSettled(into: &effects) }
    // The standby first: it may have to take the place of a primary that is cut.
    if let standby { serveStandby(standby, into: &effects) }
    if let verdict = ownDeadline, now >= verdict.at { serve(verdict, into: &effects) }
    // At equal times the slow tier comes before the retry (RC149).
    if primary == nil, !isHeldByRest, now >= slowAt { becomeSlow(into: &effects) }
    queue.expire(at: now, into: &effects)
    // After the verdicts: nothing is given to a link that is declared dead in this step.
    launchWaiting(into: &effects)
    if let due = ownDeadline, now >= due.at { serveStart(due.reason, into: &effects) }
    servePlans(into: &effects)
  }

  /// Serves a deadline that is a verdict. What follows may be due at once.
  private mutating func serve(_ verdict: Deadline, into effects: inout Effects) {
    switch verdict.reason {
    case .connect: cut(because: .timedOut(.connect), into: &effects)
    case .login: cut(because: .timedOut(.login), into: &effects)
    case .close: cut(because: .closedByUser, into: &effects)
    case .drain: closeDrained(into: &effects)
    case .pong: pongOverdue(since: verdict.at, into: &effects)
    case .credentials: credentialsFailed(because: .timedOut(.credentials), into: &effects)
    case .ping, .retry, .probe: return
    }
  }

  private mutating func serveStart(_ reason: DeadlineReason, into effects: inout Effects) {
    switch reason {
    case .ping: ping(.silence, into: &effects)
    case .retry: seekLink(.scheduled, into: &effects)
    case .probe: seekLink(.probe, into: &effects)
    case .connect, .login, .credentials, .pong, .drain, .close: return
    }
  }

  private mutating func servePlans(into effects: inout Effects) {
    guard let link = primary, link.stage == .open else { return }
    if now >= releaseAt {
      windDown(.suspended, into: &effects)
      launchWaiting(into: &effects)
      return
    }
    if now >= plans.beatAt { serveBeat(into: &effects) }
    if now >= plans.burstAt { launchBurst(into: &effects) }
    if standby == nil, now >= plans.replaceAt { startReplacement(into: &effects) }
  }
}
