// Deadlines are derived from facts, once, at the end of each transition. There is nothing to arm
// and nothing to cancel: a deadline dies with the facts it is derived from (I4).

/// Why the machine wants to be woken.
public enum DeadlineReason: UInt8, CaseIterable, BitwiseCopyable, Sendable {
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
  /// A waiting message has outlived its time.
  case expiry
}

extension Machine {
  /// What the link, or the state without one, waits for.
  @inline(__always)
  var ownDeadline: (reason: DeadlineReason, at: Instant)? {
    guard let primary else { return waitingDeadline }
    switch primary.stage {
    case .open:
      guard let heartbeat = policy.heartbeat else { return nil }
      guard let sent = primary.pingSentAt else {
        return (.ping, primary.heardAt + heartbeat.interval)
      }
      let patience =
        primary.suspect ? min(policy.path.suspectTimeout, heartbeat.timeout) : heartbeat.timeout
      return (.pong, sent + patience)
    case .connecting: return (.connect, primary.since + policy.connectDeadline)
    case .authenticating:
      guard let deadline = policy.sessionDeadline else { return nil }
      return (.login, primary.since + deadline)
    case .closing: return (.close, primary.since + policy.closeDeadline)
    }
  }

  private var waitingDeadline: (reason: DeadlineReason, at: Instant)? {
    switch state {
    case .idle, .suspended, .closed, .linked: return nil
    case .offline(let offline): return (.probe, offline.since + policy.path.probeInterval)
    case .backingOff(let backingOff): return (.retry, backingOff.until)
    case .waitingForCredentials(let wait):
      guard let deadline = policy.credentialsDeadline else { return nil }
      return (.credentials, wait.since + deadline)
    }
  }

  @inline(__always)
  func deriveNextDeadline() -> Instant? {
    earliest(ownDeadline?.at, queue.nextExpiry)
  }

  /// Serves all that is due, in a fixed order: the verdict on the link, expiry, then what starts
  /// anew.
  mutating func deadlineReached(into effects: inout Effects) -> Disposition {
    guard let deadline = nextDeadline, now >= deadline else { return .ignored(.early) }
    serveVerdict(into: &effects)
    queue.expire(at: now, into: &effects)
    serveStart(into: &effects)
    return .accepted
  }

  private mutating func serveVerdict(into effects: inout Effects) {
    guard let (reason, due) = ownDeadline, now >= due else { return }
    switch reason {
    case .connect: cut(because: .timedOut(.connect), into: &effects)
    case .login: cut(because: .timedOut(.login), into: &effects)
    case .close: cut(because: .closedByUser, into: &effects)
    case .pong: pongOverdue(since: due, into: &effects)
    case .credentials: failed(because: .timedOut(.credentials), into: &effects)
    case .ping, .retry, .probe, .expiry: return
    }
  }

  private mutating func serveStart(into effects: inout Effects) {
    guard let (reason, due) = ownDeadline, now >= due else { return }
    switch reason {
    case .ping: ping(into: &effects)
    case .retry: seekLink(.scheduled, into: &effects)
    case .probe: seekLink(.probe, into: &effects)
    case .connect, .login, .credentials, .pong, .close, .expiry: return
    }
  }

  /// A late deadline is not evidence: after a sleep the answer may lie unread. Ask once more with a
  /// fresh deadline; once a silence, so that a loop which is always late still finds the dead
  /// (RC047).
  private mutating func pongOverdue(since due: Instant, into effects: inout Effects) {
    guard let link = primary, let heartbeat = policy.heartbeat else { return }
    if now - due >= heartbeat.timeout, !link.probedLate {
      primary?.probedLate = true
      ping(into: &effects)
    } else {
      cut(because: .timedOut(.pong), into: &effects)
    }
  }

  private mutating func cut(because cause: Cause, into effects: inout Effects) {
    guard let link = primary else { return }
    effects.append(.abortTransport(link.epoch))
    linkFailed(link, because: cause, into: &effects)
  }
}
