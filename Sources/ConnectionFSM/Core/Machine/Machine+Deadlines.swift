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
  @inline(always)
  func deadline(under policy: Policy) -> Deadline? {
    // Asked after every transition, and nearly always while open: a comparison, no jump table.
    if stage == .open { return heartbeatDeadline(under: policy) }
    switch stage {
    case .open: return nil
    case .connecting: return (.connect, since + policy.connectDeadline)
    case .authenticating:
      guard let deadline = policy.sessionDeadline else { return nil }
      return (.login, since + deadline)
    case .closing: return (.close, since + policy.closeDeadline)
    }
  }
}

extension Machine.Link {
  @inline(always)
  private func heartbeatDeadline(under policy: Policy) -> Deadline? {
    guard let heartbeat = policy.heartbeat else { return nil }
    guard let sent = pingSentAt else { return (.ping, heardAt.later(by: heartbeat.interval)) }
    let patience =
      suspect ? min(policy.path.suspectTimeout, heartbeat.timeout) : heartbeat.timeout
    return (.pong, sent.later(by: patience))
  }
}

extension Machine.State {
  func deadline(under policy: Policy) -> Deadline? {
    switch self {
    case .idle, .suspended, .closed, .linked: return nil
    case .offline(let offline): return (.probe, offline.since + policy.path.probeInterval)
    case .backingOff(let backingOff): return (.retry, backingOff.until)
    case .waitingForCredentials(let wait):
      guard let deadline = policy.credentialsDeadline else { return nil }
      return (.credentials, wait.since + deadline)
    }
  }
}

extension Machine {
  /// What the link, or the state without one, waits for.
  @inline(always)
  var ownDeadline: Deadline? {
    if let primary { return primary.deadline(under: policy) }
    return state.deadline(under: policy)
  }

  @inline(always)
  func deriveNextDeadline() -> Instant? {
    let expiry = queue.nextExpiry
    if let own = ownDeadline?.at { return min(own, expiry) }
    return expiry == .never ? nil : expiry
  }

  @inline(always)
  mutating func deadlineReached(into effects: inout Effects) -> Disposition {
    guard let deadline = nextDeadline, now >= deadline else { return .ignored(.early) }
    serveDeadlines(into: &effects)
    return .accepted
  }

  /// Serves all that is due, in a fixed order: the verdict on the link, expiry, then what starts
  /// anew.
  private mutating func serveDeadlines(into effects: inout Effects) {
    var due = ownDeadline
    if let verdict = due, now >= verdict.at, serve(verdict, into: &effects) { due = ownDeadline }
    queue.expire(at: now, into: &effects)
    if let due, now >= due.at { serveStart(due.reason, into: &effects) }
  }

  /// Serves a deadline that is a verdict; false if it is none. What follows may be due at once.
  @inline(always)
  private mutating func serve(_ verdict: Deadline, into effects: inout Effects) -> Bool {
    switch verdict.reason {
    case .connect: cut(because: .timedOut(.connect), into: &effects)
    case .login: cut(because: .timedOut(.login), into: &effects)
    case .close: cut(because: .closedByUser, into: &effects)
    case .pong: pongOverdue(since: verdict.at, into: &effects)
    case .credentials: credentialsFailed(because: .timedOut(.credentials), into: &effects)
    case .ping, .retry, .probe: return false
    }
    return true
  }

  @inline(always)
  private mutating func serveStart(_ reason: DeadlineReason, into effects: inout Effects) {
    switch reason {
    case .ping: ping(into: &effects)
    case .retry: seekLink(.scheduled, into: &effects)
    case .probe: seekLink(.probe, into: &effects)
    case .connect, .login, .credentials, .pong, .close: return
    }
  }

  /// A late deadline is not evidence: after a sleep the answer may lie unread. Ask once more with a
  /// fresh deadline; once a silence, so that a loop which is always late still finds the dead
  /// (RC047).
  private mutating func pongOverdue(since due: Instant, into effects: inout Effects) {
    guard let link = primary, let heartbeat = policy.heartbeat else { return }
    if now - due >= heartbeat.lateness, !link.probedLate {
      primary?.probedLate = true
      ping(into: &effects)
    } else {
      cut(because: .timedOut(.pong), into: &effects)
    }
  }
}
