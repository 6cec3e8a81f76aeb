import ConnectionFSM

extension Policy {
  /// The tests' own values, with the knobs of a connection that is to last for days, none of which
  /// is set unless named: connect 10 s, close 5 s, drain 7 s, spacing 1 s, no heartbeat.
  static func long(
    connectDeadline: TimeSpan = .seconds(10),
    closeDeadline: TimeSpan = .seconds(5),
    drainDeadline: TimeSpan = .seconds(7),
    backoff: Backoff = .exact,
    spacing: TimeSpan = .seconds(1),
    budget: RetryBudget? = nil,
    patience: Patience? = nil,
    heartbeat: Heartbeat? = nil,
    path: PathPolicy = .probing,
    shuffles: Bool = false,
    session: TimeSpan? = nil,
    credentials: TimeSpan? = nil,
    pacing: Pacing? = nil,
    rollover: Rollover? = nil,
    lanes: [Lane] = [.made(.atMostOnce), .made(.atLeastOnce)],
    overrides: [VerdictOverride] = []
  ) throws -> Policy {
    try Policy(
      connectDeadline: connectDeadline, connectDeadlineLimit: nil, closeDeadline: closeDeadline,
      drainDeadline: drainDeadline, backoff: backoff, minimumDialSpacing: spacing,
      retryBudget: budget, patience: patience, heartbeat: heartbeat, beat: nil, path: path,
      lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: nil),
      shufflesEndpoints: shuffles, sessionDeadline: session, resumeWindow: nil,
      credentialsDeadline: credentials, pacing: pacing, rollover: rollover, lanes: lanes,
      overrides: overrides)
  }
}

extension Lane {
  /// A lane with marks.
  static func marked(
    _ delivery: Delivery, high: UInt32, low: UInt32, countLimit: UInt32 = 100,
    overflow: Overflow = .reject, window: UInt32 = 100
  ) -> Lane {
    Lane(
      delivery, timeToLive: nil, countLimit: countLimit, byteLimit: 1_000_000, overflow: overflow,
      window: window, highWater: high, lowWater: low)
  }
}

extension Rig {
  /// Says something on behalf of the transport of an epoch.
  @discardableResult
  mutating func transport(
    _ epoch: UInt64, _ event: TransportEvent, at instant: Instant? = nil
  ) -> Step {
    feed(.transport(Epoch(epoch), event), at: instant)
  }

  /// The endpoints that were dialled, in order.
  var endpoints: [UInt32] { ledger.dials.map(\.endpoint.rawValue) }

  /// How many messages of a lane wait, and how many fly.
  func pending(_ lane: UInt8) -> [Int] {
    let count = machine.pendingCount(in: LaneID(lane))
    return [count.waiting, count.inFlight]
  }
}
