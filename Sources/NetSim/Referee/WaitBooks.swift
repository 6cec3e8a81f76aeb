import ConnectionFSM

/// How long the machine must wait after a failure, by an account of its own: failures are counted
/// from what is seen, and the wait is worked out as anyone would, with loops.
///
/// Judged are the plain cases, where nothing but the backoff decides: one endpoint, no hold, no
/// budget, a path that counts as it is reported. What may shorten a wait leaves the case.
struct WaitBooks: Sendable {
  private let policy: Policy
  /// Failures that no network explains, since the last that is forgotten.
  private var failures = 0
  private var openedAt: Instant?
  private var heardAt = Instant.origin
  private var lastDialAt = Instant.origin
  private var endpoints: UInt8 = 1
  private var path = PathStatus.unknown
  /// Before this instant nobody but the application dials: what a server asked for.
  private var notBefore = Instant.origin
  /// The application asked for a dial that has not come yet.
  private var isAsked = false
  private let isPlain: Bool

  init(policy: Policy) {
    self.policy = policy
    isPlain =
      policy.patience == nil && policy.rollover == nil && policy.retryBudget == nil
      && policy.path.debounce == .zero && policy.backoff.growsOnly
  }

  /// Judges the wait that a step led into, if it did.
  mutating func judge(
    _ input: Input, at now: Instant, before: Machine, after: Machine, _ effects: Effects
  ) throws(Violation) {
    switch input {
    case .connect(_, let count):
      endpoints = count
      failures = 0
      notBefore = .origin
      isAsked = true
    case .pathChanged(let report): path = report.status
    case .transport(_, .opened), .session(_, .ready), .session(_, .resumed):
      if before.phase != .open, after.phase == .open { openedAt = now }
      heardAt = now
    case .transport(_, .received), .transport(_, .pong): heardAt = now
    case .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .policyReplaced, .deadlineReached, .credentials, .transport, .session:
      break
    }
    guard !effects.isEmpty else { return }
    for place in effects.indices {
      switch effects[place] {
      case .openTransport(let epoch, _):
        try judgeDial(epoch, at: now)
        lastDialAt = now
        openedAt = nil
      case .ended(_, let cause): try ended(cause, at: now, before: before, after: after)
      case .requestCredentials: lastDialAt = now
      case .startSession, .closeTransport, .abortTransport, .sendPing, .sendBeat, .transmit,
        .settle, .pressureChanged:
        break
      }
    }
  }

  private mutating func judgeDial(_ epoch: Epoch, at now: Instant) throws(Violation) {
    // A replacement has a time of its own, and is no retry.
    if !isAsked, policy.rollover == nil, now < notBefore {
      throw Violation("F13", "dialled \(epoch), and was asked not to before \(notBefore)")
    }
    isAsked = false
  }

  private mutating func ended(
    _ cause: Cause, at now: Instant, before: Machine, after: Machine
  ) throws(Violation) {
    let lived = openedAt.map { (cause == .timedOut(.pong) ? heardAt : now) - $0 }
    openedAt = nil
    let isStable = lived.map { $0 >= policy.backoff.stability } ?? false
    if isStable { failures = 0 }
    let reach: Circumstances.Reach = isStable ? .stable : lived == nil ? .notOpen : .open
    let verdict = policy.verdict(on: cause, in: Circumstances(path: path, reach: reach))
    // The network's own failures are forgotten when it comes back, and what we wished is none.
    // Another endpoint of a list was not asked to be spared.
    if endpoints <= 1, verdict.minimumDelay > .zero { notBefore = now + verdict.minimumDelay }
    guard isPlain, verdict.failureClass == .transient, path != .down, cause.isOthersFault else {
      return
    }
    let known = failures
    failures += 1
    guard case .backingOff(let wait) = after.state, endpoints <= 1, before.phase != .closing,
      !(verdict.retriesAtOnce && known == 0)
    else { return }
    let range = policy.backoff.naiveRange(after: known)
    let span = wait.until - now
    guard span >= range.shortest else {
      throw Violation("I6", "waits \(span) s after failure \(known + 1), not \(range.shortest) s")
    }
    // To the nanosecond the longest: a draw does not come out so, unless nothing was drawn.
    let isDrawn = range.longest - range.shortest >= .seconds(1)
    let isAlone = verdict.minimumDelay == .zero && verdict.spread == .zero
    if isDrawn, isAlone, span == range.longest,
      now + span > lastDialAt + policy.minimumDialSpacing
    {
      throw Violation("I6", "waits \(span) s, which no jitter has touched")
    }
  }
}

extension Cause {
  /// Whether it is a failure, and not the other side of something that we or the device wished.
  fileprivate var isOthersFault: Bool {
    switch self {
    case .closedByUser, .replaced, .suspended, .pathChanged, .pathLost, .localAddressLost: false
    case .closedByPeer, .timedOut, .system, .resolution, .tls, .http, .loading, .slowConsumer,
      .protocolError, .unsupportedEndpoint, .truncated, .sessionRefused, .credentialsRefused,
      .credentialsUnavailable:
      true
    }
  }
}

// MARK: The wait, naively

extension Backoff {
  /// Whether a later step is never shorter than an earlier one; then failures that we do not know
  /// of only make a wait longer.
  fileprivate var growsOnly: Bool {
    if case .table(let table) = strategy {
      return zip(table.steps, table.steps.dropFirst()).allSatisfy { $0 <= $1 }
    }
    return first <= base
  }

  /// Between what a wait after so many failures lies.
  fileprivate func naiveRange(after failures: Int) -> (shortest: TimeSpan, longest: TimeSpan) {
    let step = Double(naiveStep(after: failures).nanoseconds)
    func span(_ nanoseconds: Double) -> TimeSpan { .nanoseconds(Int64(nanoseconds)) }
    switch failures == 0 ? firstJitter ?? jitter : jitter {
    case .none: return (span(step), span(step))
    case .full: return (.zero, span(step))
    case .equal: return (span((step / 2).rounded(.down)), span(step))
    case .within(let percent):
      let share = (step * Double(percent) / 100).rounded(.up)
      return (span(step - share), span(step + share))
    case .above(let percent): return (span(step), span(step * (1 + Double(percent) / 100)))
    case .added(let most): return (span(step), span(step) + most)
    case .fullOver(let least): return (least, max(least, span(step)))
    // Each wait depends on the one before; at least it is never below the base.
    case .decorrelated: return (base, base)
    }
  }

  private func naiveStep(after failures: Int) -> TimeSpan {
    if case .table(let table) = strategy {
      return min(table.steps[min(failures, table.steps.count - 1)], cap)
    }
    if failures == 0 { return min(first, cap) }
    var step = base.nanoseconds
    switch strategy {
    case .constant, .table: break
    case .linear:
      let (product, overflow) = step.multipliedReportingOverflow(by: Int64(failures) + 1)
      step = overflow ? cap.nanoseconds : product
    case .exponential(let percent):
      for _ in 0..<failures where step < cap.nanoseconds {
        step = Int64((Double(step) * Double(percent) / 100).rounded(.down))
      }
    }
    return min(.nanoseconds(step), cap)
  }
}
