package import ConnectionFSM

/// One part of the machine's behaviour, small enough to be explored to its end: a policy whose
/// spans are a few units of time, and what may happen.
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
  /// What the moves stand for.
  package let scale: Scale
  /// How many moves deep it is explored; nil explores to the fixed point, where nothing is new.
  package let depth: Int?

  init(
    _ name: String, _ summary: String, _ policy: Policy, _ moves: [Move], endpoints: UInt8 = 1,
    depth: Int? = nil
  ) {
    self.name = name
    self.summary = summary
    self.policy = policy
    self.moves = moves
    scale = Scale(unit: .nanoseconds(1), endpoints: endpoints)
    self.depth = depth
  }
}

extension Slice {
  /// The slices that are explored to their fixed points, and the product of all of them, which is
  /// explored to a bound.
  package static func all() throws(PolicyError) -> [Slice] {
    [
      try link(), try lanes(), try session(), try credentials(), try path(), try interfaces(),
      try lifecycle(), try heartbeat(), try beat(), try endpoints(), try rollover(), try pacing(),
      try drain(), try patience(), try product(),
    ]
  }

  private static func link() throws(PolicyError) -> Slice {
    Slice(
      "link", "dials, failures of every class, backoff, spacing, limits",
      try policy(backoff: backoff(attemptLimit: 3, elapsedLimit: units(6))),
      core + answers(.networkFailed, .failedWithCap, .closedToRefresh, .closedWithDelay))
  }

  private static func lanes() throws(PolicyError) -> Slice {
    Slice(
      "lanes", "two lanes: windows, expiry, eviction, redelivery, doubt, pressure",
      try policy(lanes: [once, keep]), core + messages + answers(.blocked, .writable))
  }

  private static func session() throws(PolicyError) -> Slice {
    Slice(
      "session", "login and resumption between opened and open",
      try policy(backoff: backoff(attemptLimit: 2)) {
        $0.sessionDeadline = units(2)
        $0.resumeWindow = units(3)
      },
      core
        + answers(
          .sessionReady, .sessionResumed, .resumeRefused, .sessionDenied,
          .sessionCredentialsRefused, .sessionUnavailable, .received))
  }

  private static func credentials() throws(PolicyError) -> Slice {
    Slice(
      "credentials", "the provider before each dial, one refresh after a refusal",
      try policy(backoff: backoff(attemptLimit: 2, elapsedLimit: units(5))) {
        $0.credentialsDeadline = units(2)
      },
      core + answers(.credentials, .noCredentials, .credentialsRefused, .closedToRefresh))
  }

  private static func path() throws(PolicyError) -> Slice {
    Slice(
      "path", "a path that comes and goes, holds, probes, suspicion",
      try policy(backoff: backoff(attemptLimit: 2)) {
        $0.heartbeat = Heartbeat(interval: units(3), timeout: units(2))
      },
      core + answers(.networkFailed, .received, .notViable, .viable)
        + conditions(.pathUnknown, .pathUp, .pathDown))
  }

  private static func interfaces() throws(PolicyError) -> Slice {
    Slice(
      "interfaces", "paths over two interfaces, debounced, without a heartbeat to ask",
      try policy(backoff: backoff(attemptLimit: 2)) {
        $0.path.debounce = units(1)
        $0.path.onSwitch = .redial
        $0.path.onLoss = .close
      },
      core + conditions(.pathUnknown, .pathDown, .pathOnWire, .pathOnRadio, .pathConstrained))
  }

  private static func lifecycle() throws(PolicyError) -> Slice {
    Slice(
      "lifecycle", "background, sleep and demand with their graces, and a path that is lost",
      try policy(backoff: backoff(attemptLimit: 2)) {
        $0.credentialsDeadline = units(2)
        $0.lifecycle = LifecyclePolicy(backgroundGrace: units(2), idleGrace: units(1))
      },
      core + answers(.credentials)
        + conditions(
          .demand, .noDemand, .foreground, .background, .suspended, .pathUp, .pathDown))
  }

  private static func heartbeat() throws(PolicyError) -> Slice {
    Slice(
      "heartbeat", "silence, pings, misses, late timers, an interval that learns, stability",
      try policy {
        $0.heartbeat = Heartbeat(
          interval: units(4), timeout: units(2), misses: 2, shortestInterval: units(1))
      },
      core + answers(.received, .pong, .notViable) + conditions(.background, .foreground))
  }

  private static func beat() throws(PolicyError) -> Slice {
    Slice(
      "beat", "the application's own heartbeat beside that of the transport, with traffic",
      try policy {
        $0.heartbeat = Heartbeat(interval: units(4), timeout: units(2), anyByteCounts: false)
        $0.beat = Beat(
          interval: units(3), isImmediate: true, skipsAfterTraffic: true, answerTimeout: units(2))
      },
      core + answers(.received, .pong)
        + [.message(.offer, lane: 0), .report(.writtenOldest, lane: 0, of: .current)])
  }

  private static func endpoints() throws(PolicyError) -> Slice {
    Slice(
      "endpoints", "a list of three endpoints in an order that is drawn",
      try policy(backoff: backoff(attemptLimit: 4)) { $0.shufflesEndpoints = true },
      core + answers(.networkFailed, .closedWithDelay) + conditions(.pathUp, .pathDown),
      endpoints: 3)
  }

  private static func rollover() throws(PolicyError) -> Slice {
    Slice(
      "rollover", "make before break: a replacement beside the link, and the old one's end",
      try policy(lanes: [keep]) {
        $0.rollover = Rollover(maxAge: units(3), dither: units(1), returnAfter: units(2))
        $0.credentialsDeadline = units(1)
      },
      core + answers(.credentials, .noCredentials, .drainRequested, .betterPath, .blocked)
        + answers(to: .standby)
        + [.message(.offer, lane: 0), .report(.acknowledgedOldest, lane: 0, of: .current)]
        + Move.Report.allCases.map { .report($0, lane: 0, of: .standby) },
      endpoints: 2)
  }

  private static func pacing() throws(PolicyError) -> Slice {
    Slice(
      "pacing", "a backlog that leaves in bursts",
      try policy(lanes: [again]) { $0.pacing = Pacing(burst: 1, interval: units(2)) },
      core + answers(.blocked, .writable)
        + [
          .message(.offer, lane: 0), .message(.cancelOldestWaiting, lane: 0),
          .report(.acknowledgedOldest, lane: 0, of: .current),
        ])
  }

  private static func drain() throws(PolicyError) -> Slice {
    Slice(
      "drain", "links that finish what they were given, by wish and for the background",
      try policy(lanes: [plain]) { $0.lifecycle = LifecyclePolicy(backgroundGrace: units(1)) },
      core + [.wish(.drain)] + answers(.blocked, .writable)
        + conditions(.background, .foreground)
        + Move.MessageWish.allCases.map { .message($0, lane: 0) }
        + Move.Attempt.allCases.flatMap { attempt in
          Move.Report.allCases.map { .report($0, lane: 0, of: attempt) }
        })
  }

  private static func patience() throws(PolicyError) -> Slice {
    Slice(
      "patience", "the slow tier, a budget of retries, a connect deadline that grows",
      try policy {
        $0.patience = Patience(fastFor: units(4), slowWait: units(4))
        $0.retryBudget = RetryBudget(burst: 2, interval: units(2))
        $0.connectDeadlineLimit = units(3)
      },
      core + [.message(.offer, lane: 0)])
  }

  private static func product() throws(PolicyError) -> Slice {
    Slice(
      "product", "everything at once, to a bound",
      try policy(backoff: backoff(attemptLimit: 3, elapsedLimit: units(6)), lanes: [once, keep]) {
        $0.heartbeat = Heartbeat(interval: units(3), timeout: units(2))
        $0.sessionDeadline = units(2)
        $0.resumeWindow = units(2)
        $0.credentialsDeadline = units(2)
        $0.lifecycle = LifecyclePolicy(backgroundGrace: units(2), idleGrace: units(2))
        $0.rollover = Rollover(maxAge: units(3), dither: units(1), returnAfter: units(2))
        $0.patience = Patience(fastFor: units(5), slowWait: units(2))
      },
      Move.all, endpoints: 2, depth: 7)
  }
}

// MARK: Moves

extension Slice {
  private static let core: [Move] =
    [.wish(.connect), .wish(.connectElsewhere), .wish(.close)]
    + Move.Passage.allCases.map { .time($0) }
    + answers(.opened, .failed, .closed, .failedForGood)

  /// Answers, each to every attempt.
  private static func answers(_ answers: Move.Answer...) -> [Move] {
    Move.Attempt.allCases.flatMap { attempt in answers.map { .answer($0, to: attempt) } }
  }

  private static func answers(to attempt: Move.Attempt) -> [Move] {
    Move.Answer.allCases.map { .answer($0, to: attempt) }
  }

  private static func conditions(_ conditions: Move.Condition...) -> [Move] {
    conditions.map { .condition($0) }
  }

  private static let messages: [Move] = (0..<2 as Range<UInt8>).flatMap { lane in
    Move.MessageWish.allCases.map { Move.message($0, lane: lane) }
      + Move.Report.allCases.map { Move.report($0, lane: lane, of: .current) }
      + [.report(.writtenOldest, lane: lane, of: .past)]
      + [.report(.acknowledgedOldest, lane: lane, of: .past)]
  }
}

// MARK: Small policies

extension Slice {
  /// The knobs that slices turn.
  private struct Knobs {
    var connectDeadlineLimit: TimeSpan?
    var retryBudget: RetryBudget?
    var patience: Patience?
    var heartbeat: Heartbeat?
    var beat: Beat?
    var path = PathPolicy(
      suspectTimeout: units(1), probeInterval: units(3), returnJitter: units(1))
    var lifecycle = LifecyclePolicy(idleGrace: nil)
    var shufflesEndpoints = false
    var sessionDeadline: TimeSpan?
    var resumeWindow: TimeSpan?
    var credentialsDeadline: TimeSpan?
    var pacing: Pacing?
    var rollover: Rollover?
  }

  private static func units(_ count: Int64) -> TimeSpan { .nanoseconds(count) }

  private static let once = Lane(
    .atMostOnce, timeToLive: units(2), countLimit: 2, byteLimit: 3, overflow: .dropOldest,
    window: 1, highWater: 2)
  private static let again = Lane(
    .atLeastOnce, timeToLive: units(2), countLimit: 2, byteLimit: 3, overflow: .reject, window: 2)
  private static let plain = Lane(
    .atMostOnce, timeToLive: nil, countLimit: 2, byteLimit: 3, overflow: .reject, window: 2)
  private static let keep = Lane(
    .atLeastOnce, timeToLive: nil, countLimit: 2, byteLimit: 3, overflow: .reject, window: 2)

  private static func backoff(
    attemptLimit: UInt32? = nil, elapsedLimit: TimeSpan? = nil
  ) -> Backoff {
    Backoff(
      strategy: .doubling, first: units(1), base: units(1), cap: units(2), jitter: .full,
      stability: units(2), attemptLimit: attemptLimit, elapsedLimit: elapsedLimit)
  }

  private static func policy(
    backoff: Backoff = backoff(), lanes: [Lane] = [again], _ turn: (inout Knobs) -> Void = { _ in }
  ) throws(PolicyError) -> Policy {
    var knobs = Knobs()
    turn(&knobs)
    let code = Move.delayCode.rawValue
    return try Policy(
      connectDeadline: units(2), connectDeadlineLimit: knobs.connectDeadlineLimit,
      closeDeadline: units(2), drainDeadline: units(2), backoff: backoff,
      minimumDialSpacing: units(1), retryBudget: knobs.retryBudget, patience: knobs.patience,
      heartbeat: knobs.heartbeat, beat: knobs.beat, path: knobs.path, lifecycle: knobs.lifecycle,
      shufflesEndpoints: knobs.shufflesEndpoints, sessionDeadline: knobs.sessionDeadline,
      resumeWindow: knobs.resumeWindow, credentialsDeadline: knobs.credentialsDeadline,
      pacing: knobs.pacing, rollover: knobs.rollover, lanes: lanes,
      overrides: [
        VerdictOverride(.closeCodes(code...code), .transient.after(units(3), spread: units(1)))
      ])
  }
}
