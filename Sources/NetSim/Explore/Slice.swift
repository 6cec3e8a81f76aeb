package import ConnectionFSM

/// One part of the machine's behaviour, small enough to be explored to its end: a policy whose spans
/// are a few units of time, and what may happen.
///
/// The unit is a nanosecond: every whole number of units is tried, and a draw between a minimum and
/// a maximum is either of them.
package struct Slice: Sendable {
  /// Its name on the command line.
  package let name: String
  /// What it is about, in a few words.
  package let summary: String
  /// The knobs.
  package let policy: Policy
  /// What may happen.
  package let moves: [Move]

  /// The unit of time.
  static let unit = TimeSpan.nanoseconds(1)
}

extension Slice {
  /// The slices that are explored to their fixed points, and the product of all of them, which is
  /// explored to a bound.
  package static func all() throws(PolicyError) -> [Slice] {
    [
      try link(), try lanes(), try session(), try credentials(), try path(), try lifecycle(),
      try heartbeat(), try product(),
    ]
  }

  /// The name of the slice that has everything.
  package static let productName = "product"

  private static let wishes = Move.Wish.allCases.map { Move.wish($0) }
  private static let time = Move.Passage.allCases.map { Move.time($0) }
  private static let core =
    wishes + time + Move.answers(.opened, .failed, .closed, .failedForGood)

  private static func link() throws(PolicyError) -> Slice {
    Slice(
      name: "link", summary: "dials, failures of every class, backoff, spacing, both limits",
      policy: try policy(
        backoff: backoff(attemptLimit: 3, elapsedLimit: units(6))),
      moves: core
        + Move.answers(.networkFailed, .failedWithCap, .closedToRefresh, .closedWithDelay))
  }

  private static func lanes() throws(PolicyError) -> Slice {
    Slice(
      name: "lanes", summary: "two lanes: windows, expiry, eviction, redelivery, doubt",
      policy: try policy(lanes: [once, again]),
      moves: core + messages + Move.answers(.blocked, .writable))
  }

  private static func session() throws(PolicyError) -> Slice {
    Slice(
      name: "session", summary: "the stage between opened and open",
      policy: try policy(backoff: backoff(attemptLimit: 2), sessionDeadline: units(2)),
      moves: core + Move.answers(.sessionReady, .sessionRefused, .received))
  }

  private static func credentials() throws(PolicyError) -> Slice {
    Slice(
      name: "credentials", summary: "the provider before each dial, one refresh after a refusal",
      policy: try policy(
        backoff: backoff(attemptLimit: 2, elapsedLimit: units(5)), credentialsDeadline: units(2)),
      moves: core
        + Move.answers(.credentials, .noCredentials, .credentialsRefused, .closedToRefresh))
  }

  private static func path() throws(PolicyError) -> Slice {
    Slice(
      name: "path", summary: "a path that comes and goes, holds, probes, suspicion",
      policy: try policy(
        backoff: backoff(attemptLimit: 2), heartbeat: Heartbeat(interval: units(3), timeout: units(2))),
      moves: core + Move.answers(.networkFailed, .received)
        + [.condition(.pathUnknown), .condition(.pathUp), .condition(.pathDown)])
  }

  private static func lifecycle() throws(PolicyError) -> Slice {
    Slice(
      name: "lifecycle", summary: "background, sleep and demand, with a path that may be lost",
      policy: try policy(
        backoff: backoff(attemptLimit: 2), credentialsDeadline: units(2)),
      moves: core + Move.answers(.credentials) + Move.Condition.allCases.map { .condition($0) })
  }

  private static func heartbeat() throws(PolicyError) -> Slice {
    Slice(
      name: "heartbeat", summary: "silence, pings, pongs, late timers, stability",
      policy: try policy(heartbeat: Heartbeat(interval: units(3), timeout: units(2))),
      moves: core + Move.answers(.received, .pong, .blocked, .writable))
  }

  private static func product() throws(PolicyError) -> Slice {
    Slice(
      name: productName, summary: "everything at once",
      policy: try policy(
        backoff: backoff(attemptLimit: 3, elapsedLimit: units(6)),
        heartbeat: Heartbeat(interval: units(3), timeout: units(2)), sessionDeadline: units(2),
        credentialsDeadline: units(2), lanes: [once, again]),
      moves: Move.allCases)
  }
}

// MARK: Small policies

extension Slice {
  private static func units(_ count: Int64) -> TimeSpan { .nanoseconds(count) }

  private static let once = Lane(
    .atMostOnce, timeToLive: units(2), countLimit: 2, byteLimit: 3, overflow: .dropOldest,
    window: 1)
  private static let again = Lane(
    .atLeastOnce, timeToLive: units(2), countLimit: 2, byteLimit: 3, overflow: .reject, window: 2)

  private static let messages: [Move] = (0..<2 as Range<UInt8>).flatMap { lane in
    Move.MessageWish.allCases.map { Move.message($0, lane: lane) }
      + Move.Report.allCases.map { Move.report($0, lane: lane, of: .newest) }
      + [.report(.writtenOldest, lane: lane, of: .older)]
      + [.report(.acknowledgedOldest, lane: lane, of: .older)]
  }

  private static func backoff(
    attemptLimit: UInt32? = nil, elapsedLimit: TimeSpan? = nil
  ) -> Backoff {
    Backoff(
      strategy: .doubling, first: units(1), base: units(1), cap: units(2), jitter: .full,
      stability: units(2), attemptLimit: attemptLimit, elapsedLimit: elapsedLimit)
  }

  private static func policy(
    backoff: Backoff = backoff(), heartbeat: Heartbeat? = nil, sessionDeadline: TimeSpan? = nil,
    credentialsDeadline: TimeSpan? = nil, lanes: [Lane] = [once]
  ) throws(PolicyError) -> Policy {
    try Policy(
      connectDeadline: units(2), closeDeadline: units(2), backoff: backoff,
      minimumDialSpacing: units(1), heartbeat: heartbeat,
      path: PathPolicy(
        suspectTimeout: units(1), probeInterval: units(3), returnJitter: units(1)),
      sessionDeadline: sessionDeadline, credentialsDeadline: credentialsDeadline, lanes: lanes,
      overrides: [
        VerdictOverride(
          .closeCodes(Move.delayCode.rawValue...Move.delayCode.rawValue),
          .transient.after(units(3), spread: units(1)))
      ])
  }
}
