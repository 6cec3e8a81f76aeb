package import ConnectionFSM

/// The time side of the referee's account: whether waits grow as the policy says, whether deadlines
/// are those of what they limit, and whether a peer that was given up had its chance to answer.
///
/// Kept beside the referee, which explorations copy at every step: there time is no more than a few
/// units, and what is judged here depends on how much of it passed.
package struct TimeBooks: Sendable {
  private let policy: Policy
  private var waits: WaitBooks
  private var dialAt = Instant.origin
  private var requestAt = Instant.origin
  private var phaseSince = Instant.origin
  private var silence = Silence()

  /// The questions that the current link was asked since it was heard.
  private struct Silence {
    var askedAt: Instant?
    /// One was asked when a deadline came late.
    var wasProbed = false
  }

  package init(policy: Policy) {
    self.policy = policy
    waits = WaitBooks(policy: policy)
  }

  /// Judges one step.
  /// - Throws: The first broken promise.
  package mutating func judge(
    _ input: Input, at now: Instant, before: Machine, after: Machine, _ disposition: Disposition,
    _ effects: Effects
  ) throws(Violation) {
    if case .ignored = disposition { return }
    let (from, to) = (before.phase, after.phase)
    hear(input)
    try waits.judge(input, at: now, before: before, after: after, effects)
    if !effects.isEmpty {
      for place in effects.indices { try judge(effects[place], at: now, before: before) }
    }
    if from != to { phaseSince = now }
    // A replacement that takes over was asked nothing of what the link before it was.
    if from != to || before.primary?.epoch != after.primary?.epoch { silence = Silence() }
    if !effects.isEmpty { note(effects, of: input, before: before, at: now) }
    try judgeDeadline(of: after, in: to, at: now)
  }

  private mutating func hear(_ input: Input) {
    switch input {
    case .transport(_, .received), .transport(_, .pong): silence = Silence()
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials, .transport, .session:
      break
    }
  }

  private mutating func note(
    _ effects: Effects, of input: Input, before: Machine, at now: Instant
  ) {
    for place in effects.indices {
      switch effects[place] {
      case .sendPing: ask(input, before: before, at: now)
      case .sendBeat:
        // A beat is a question only where an answer is expected, and none waits for its own.
        let isLate = isLate(input, before: before, at: now)
        if policy.beat?.answerTimeout != nil, silence.askedAt == nil || isLate {
          ask(input, before: before, at: now)
        }
      case .openTransport: dialAt = now
      case .requestCredentials: requestAt = now
      // Also one that begins anew on its link, where the old one could not be resumed.
      case .startSession: phaseSince = now
      case .closeTransport, .abortTransport, .transmit, .settle, .ended,
        .pressureChanged:
        break
      }
    }
  }

  private mutating func ask(_ input: Input, before: Machine, at now: Instant) {
    silence.askedAt = now
    if isLate(input, before: before, at: now) { silence.wasProbed = true }
  }

  private func isLate(_ input: Input, before: Machine, at now: Instant) -> Bool {
    guard input == .deadlineReached, let due = before.nextDeadline else { return false }
    return now - due >= Self.late
  }

  /// From a second on a deadline is late: what has arrived may lie unread.
  private static let late = TimeSpan.seconds(1)
}

// MARK: Ends

extension TimeBooks {
  private func judge(
    _ effect: Effect, at now: Instant, before: Machine
  ) throws(Violation) {
    guard case .ended(let epoch, let cause) = effect, before.standby?.epoch != epoch else { return }
    switch cause {
    case .timedOut(.connect):
      guard now - dialAt >= policy.connectDeadline else {
        throw Violation("I4", "gave \(epoch) up \(now - dialAt) s after the dial")
      }
    case .timedOut(.pong): try judgeSilence(of: epoch, at: now)
    case _: return
    }
  }

  /// The peer was asked, had its time to answer, and on a late timer one more question.
  private func judgeSilence(of epoch: Epoch, at now: Instant) throws(Violation) {
    // Where the server sends the pings, to listen is to ask.
    guard let heartbeat = policy.heartbeat, !heartbeat.isServerDriven else { return }
    guard let asked = silence.askedAt else {
      throw Violation("I19", "gave \(epoch) up and never asked")
    }
    let shortest = min(
      heartbeat.timeout, policy.path.suspectTimeout, policy.beat?.answerTimeout ?? heartbeat.timeout
    )
    guard now - asked >= shortest else {
      throw Violation("I19", "gave \(epoch) up \(now - asked) s after it was asked")
    }
    let longest = max(
      heartbeat.timeout, policy.path.suspectTimeout, policy.beat?.answerTimeout ?? .zero)
    guard silence.wasProbed || now - asked < longest + Self.late else {
      throw Violation("I19", "gave \(epoch) up on a timer that came late, and asked no more")
    }
  }
}

// MARK: Deadlines

extension TimeBooks {
  /// No phase outlasts what limits it.
  private func judgeDeadline(
    of machine: Machine, in phase: Phase, at now: Instant
  ) throws(Violation) {
    let limit: Instant
    switch phase {
    case .connecting: limit = dialAt + (policy.connectDeadlineLimit ?? policy.connectDeadline)
    case .waitingForCredentials:
      guard let deadline = policy.credentialsDeadline else { return }
      limit = requestAt + deadline
    case .authenticating:
      guard let deadline = policy.sessionDeadline else { return }
      limit = phaseSince + deadline
    case .closing:
      // A drain that a late timer ended is followed by a close in its full length.
      limit = max(phaseSince + policy.drainDeadline, now) + policy.closeDeadline
    case .offline: limit = now + policy.path.probeInterval
    case .idle, .backingOff, .suspended, .open, .closed: return
    }
    guard let next = machine.nextDeadline, next <= max(limit, now) else {
      let found = machine.nextDeadline.map { "\($0)" } ?? "never"
      throw Violation("I4", "\(phase) wants to be woken at \(found) and not by \(limit)")
    }
  }
}
