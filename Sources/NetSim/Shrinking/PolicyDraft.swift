import ConnectionFSM

/// The knobs of a policy, to be turned one by one.
struct PolicyDraft {
  var connectDeadline: TimeSpan
  var connectDeadlineLimit: TimeSpan?
  var closeDeadline: TimeSpan
  var drainDeadline: TimeSpan
  var backoff: Backoff
  var minimumDialSpacing: TimeSpan
  var retryBudget: RetryBudget?
  var patience: Patience?
  var heartbeat: Heartbeat?
  var beat: Beat?
  var path: PathPolicy
  var lifecycle: LifecyclePolicy
  var shufflesEndpoints: Bool
  var sessionDeadline: TimeSpan?
  var resumeWindow: TimeSpan?
  var credentialsDeadline: TimeSpan?
  var pacing: Pacing?
  var rollover: Rollover?
  var lanes: [Lane]
  var overrides: [VerdictOverride]

  init(_ policy: Policy) {
    connectDeadline = policy.connectDeadline
    connectDeadlineLimit = policy.connectDeadlineLimit
    closeDeadline = policy.closeDeadline
    drainDeadline = policy.drainDeadline
    backoff = policy.backoff
    minimumDialSpacing = policy.minimumDialSpacing
    retryBudget = policy.retryBudget
    patience = policy.patience
    heartbeat = policy.heartbeat
    beat = policy.beat
    path = policy.path
    lifecycle = policy.lifecycle
    shufflesEndpoints = policy.shufflesEndpoints
    sessionDeadline = policy.sessionDeadline
    resumeWindow = policy.resumeWindow
    credentialsDeadline = policy.credentialsDeadline
    pacing = policy.pacing
    rollover = policy.rollover
    lanes = policy.lanes
    overrides = policy.overrides
  }

  /// The policy; nil if there is no such one.
  var policy: Policy? {
    try? Policy(
      connectDeadline: connectDeadline, connectDeadlineLimit: connectDeadlineLimit,
      closeDeadline: closeDeadline, drainDeadline: drainDeadline, backoff: backoff,
      minimumDialSpacing: minimumDialSpacing, retryBudget: retryBudget, patience: patience,
      heartbeat: heartbeat, beat: beat, path: path, lifecycle: lifecycle,
      shufflesEndpoints: shufflesEndpoints, sessionDeadline: sessionDeadline,
      resumeWindow: resumeWindow, credentialsDeadline: credentialsDeadline, pacing: pacing,
      rollover: rollover, lanes: lanes, overrides: overrides)
  }

  // First whole knobs, then what is in them, each towards the default or the simplest there is.
  // The defaults are those of an absent key, so that a knob which does not matter is not written.
  static let simplifications: [@Sendable (inout PolicyDraft) -> Void] = [
    {
      guard let plain = try? PolicyDraft(Policy()) else { return }
      $0 = plain
    },
    { $0.retryBudget = nil }, { $0.patience = nil }, { $0.beat = nil }, { $0.pacing = nil },
    { $0.rollover = nil }, { $0.connectDeadlineLimit = nil }, { $0.overrides = [] },
    { $0.shufflesEndpoints = false }, { $0.resumeWindow = nil },
    {
      $0.sessionDeadline = nil
      $0.resumeWindow = nil
    },
    { $0.credentialsDeadline = nil }, { $0.path = PathPolicy() },
    { $0.lifecycle = LifecyclePolicy() }, { $0.backoff = Backoff() },
    { $0.heartbeat = Heartbeat() }, { $0.heartbeat = nil },
    { $0.lanes = [Lane(.atMostOnce), Lane(.atLeastOnce, timeToLive: nil)] },
    { draft in if draft.lanes.count > 1 { draft.lanes.removeLast() } },
    { draft in if draft.lanes.count > 1 { draft.lanes.removeFirst() } },
    { $0.rollover?.dither = .zero }, { $0.rollover?.maxAge = nil },
    { $0.rollover?.returnAfter = nil },
    { $0.backoff.attemptLimit = nil }, { $0.backoff.elapsedLimit = nil },
    { $0.backoff.jitter = Backoff().jitter }, { $0.backoff.jitter = .none },
    { $0.backoff.strategy = Backoff().strategy }, { $0.backoff.first = Backoff().first },
    { $0.backoff.base = Backoff().base }, { $0.backoff.cap = Backoff().cap },
    { $0.backoff.stability = Backoff().stability }, { $0.minimumDialSpacing = .seconds(1) },
    { $0.connectDeadline = .seconds(10) }, { $0.closeDeadline = .seconds(5) },
    { $0.drainDeadline = .seconds(5) }, { $0.heartbeat?.misses = 1 },
    { $0.heartbeat?.isServerDriven = false }, { $0.heartbeat?.anyByteCounts = true },
    { $0.heartbeat?.shortestInterval = nil }, { $0.heartbeat?.stretch = 100 },
    { $0.heartbeat?.interval = Heartbeat().interval },
    { $0.heartbeat?.timeout = Heartbeat().timeout },
    { $0.path.onLoss = PathPolicy().onLoss }, { $0.path.onSwitch = PathPolicy().onSwitch },
    { $0.path.suspectTimeout = PathPolicy().suspectTimeout },
    { $0.path.probeInterval = PathPolicy().probeInterval },
    { $0.path.returnJitter = PathPolicy().returnJitter }, { $0.path.debounce = .zero },
    { $0.lifecycle.backgroundGrace = nil },
    { $0.lifecycle.idleGrace = LifecyclePolicy().idleGrace },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].timeToLive = nil } },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].countLimit = 1000 } },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].byteLimit = 8 << 20 } },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].overflow = .reject } },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].window = 64 } },
    { draft in for lane in draft.lanes.indices { draft.lanes[lane].highWater = .max } },
  ]
}
