import ConnectionFSM

// What may be expected, and when: the bounds within which a connection is well again, computed from
// its policy, and whether a story that expects something gives it that time.

extension Policy {
  /// How long it takes at most, once everything is well, until a link is open and what waited was
  /// sent: the slowest way there, step by step. A silent link is found out, what was under way then
  /// fails once more, and the next attempt opens.
  var recoveryBound: TimeSpan {
    var bound = foundOut + closeDeadline + drainDeadline + attempt + attempt
    // The backlog leaves in bursts.
    if let pacing {
      let messages = lanes.reduce(0) { $0 + Int64($1.countLimit) }
      let (span, overflow) = pacing.interval.nanoseconds.multipliedReportingOverflow(by: messages)
      bound = bound + .nanoseconds(overflow ? .max / 4 : span)
    }
    return bound + .seconds(5)
  }

  /// A silent peer is found out: the silence, each answer that is missed, and one fresh probe.
  private var foundOut: TimeSpan {
    guard let heartbeat else { return .zero }
    let interval = TimeSpan.nanoseconds(
      heartbeat.interval.nanoseconds / 100 * Int64(heartbeat.stretch))
    let answers = heartbeat.timeout.nanoseconds * (Int64(heartbeat.misses) + 1)
    return interval + .nanoseconds(answers) + path.suspectTimeout + (beat?.interval ?? .zero)
  }

  /// The longest wait, and an attempt that takes as long as it may.
  private var attempt: TimeSpan {
    var wait = max(backoff.longestWait, minimumDialSpacing, Self.longestDelay)
    wait = max(wait, patience?.slowWait ?? .zero, retryBudget?.interval ?? .zero)
    wait = wait + path.probeInterval + path.returnJitter + path.debounce
    return wait + (connectDeadlineLimit ?? connectDeadline) + (sessionDeadline ?? .zero)
      + (credentialsDeadline ?? .zero)
  }

  /// What servers of the stories ask for (busy: 30 s and a quarter; code 1013: 30 to 60 s).
  private static var longestDelay: TimeSpan { .seconds(60) }

  /// Whether it gives up by itself.
  var hasLimit: Bool { backoff.attemptLimit != nil || backoff.elapsedLimit != nil }
}

/// The end of every story that was drawn: everything is well; the connection is open again, and a
/// message is delivered; the application closes, and nothing is left.
struct Ending {
  static let delivery = TimeSpan.seconds(5)

  let policy: Policy
  /// Whether the connection may have come to rest against the application's will; then it connects
  /// again once nothing ends a connection any more.
  let mayRest: Bool

  func steps(from instant: Instant) -> [Story.Step] {
    var now = instant
    var steps: [Story.Step] = []
    func add(_ action: Action, after gap: TimeSpan = .zero) {
      now = now + gap
      steps.append(Story.Step(at: now, action: action))
    }
    add(.environment(.heal))
    if mayRest { add(.app(.connect(nil)), after: policy.recoveryBound) }
    add(.expectation(.state("open")), after: policy.recoveryBound)
    if let lane = policy.lanes.firstIndex(where: { $0.delivery == .atLeastOnce }) {
      steps.append(
        Story.Step(at: now, action: .app(.send(["last"])), lane: LaneID(UInt8(lane)), byteCount: 1))
      add(.expectation(.outcome(["last"], "acknowledged")), after: Self.delivery)
    }
    add(.app(.close))
    add(.expectation(.state("closed")), after: policy.closeDeadline)
    add(.expectation(.live(0)))
    return steps
  }
}

extension Story {
  /// Whether everything that it expects was given its time: nothing goes wrong between the healing
  /// and what is expected, and that is as far off as the policy allows.
  var isFair: Bool {
    var healed: Instant?
    var connected: Instant?
    var closed: Instant?
    var sentLast: Instant?
    var mayRest = policy.hasLimit
    var isWanted = false
    /// From when on the link must be open; nil if it need not.
    var isOpen: Instant? {
      guard isWanted, let healed else { return nil }
      guard mayRest else { return healed + policy.recoveryBound }
      guard let connected, connected - healed >= policy.recoveryBound else { return nil }
      return connected + policy.recoveryBound
    }
    for step in steps {
      switch step.action {
      case .environment(.heal): healed = step.at
      case .app(.connect): (connected, isWanted) = (step.at, true)
      case .app(.close): (closed, connected, isWanted) = (step.at, nil, false)
      case .app(.send(["last"])):
        let lane = Int(step.lane.rawValue)
        guard let isOpen, step.at >= isOpen, lane < policy.lanes.count,
          policy.lanes[lane].delivery == .atLeastOnce
        else { return false }
        sentLast = step.at
      case .expectation(.state("open")):
        guard let isOpen, step.at >= isOpen else { return false }
      case .expectation(.outcome):
        guard let sentLast, step.at - sentLast >= Ending.delivery else { return false }
      case .expectation(.state), .expectation(.live):
        guard let closed, step.at - closed >= policy.closeDeadline else { return false }
      case .app, .device, .network, .environment, .provider, .callback, .expectation, .fleet,
        .mark:
        (healed, closed, sentLast) = (nil, nil, nil)
        mayRest = mayRest || step.action.mayRest
        if step.action == .app(.reconnect) { isWanted = true }
        if step.action == .app(.drain) { isWanted = false }
      }
    }
    return true
  }
}

extension Action {
  /// Whether it can bring a connection to rest that the application wants, in the end.
  fileprivate var mayRest: Bool {
    switch self {
    case .app(.close), .app(.drain), .callback, .provider: true
    case .network(let action, let aim, _, _):
      switch action {
      case .fails(.resolution), .fails(.http), .session, .sessionAgain, .finish(_?), .serverClose:
        true
      case .open, .openBare, .hang, .fails, .finish(nil), .reset, .goSilent, .message, .pong,
        .acknowledge, .writable, .viability, .drainRequested, .betterPath:
        aim != .next
      }
    case .app, .device, .environment, .expectation, .fleet, .mark: false
    }
  }
}
