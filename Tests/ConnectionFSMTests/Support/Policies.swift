import ConnectionFSM

let here = EndpointID(0)
let elsewhere = EndpointID(1)

extension Instant {
  static func seconds(_ count: Int64) -> Instant { origin + .seconds(count) }
  static func milliseconds(_ count: Int64) -> Instant { origin + .milliseconds(count) }
}

extension Backoff {
  /// 4, 4, 8, 16, 32, 60, 60 … seconds, exactly.
  static let exact = Backoff(
    first: .seconds(4), base: .seconds(2), cap: .seconds(60), jitter: .none,
    stability: .seconds(10), attemptLimit: nil)

  /// No wait at all: only the dial spacing is left.
  static let none = Backoff(
    first: .zero, base: .zero, cap: .seconds(1), jitter: .none,
    stability: .seconds(10), attemptLimit: nil)

  func limited(to attempts: UInt32) -> Backoff {
    var copy = self
    copy.attemptLimit = attempts
    return copy
  }
}

extension PathPolicy {
  static let probing = PathPolicy(
    onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60), returnJitter: .zero)
  static let closing = PathPolicy(
    onLoss: .close, suspectTimeout: .seconds(3), probeInterval: .seconds(60), returnJitter: .zero)
}

extension Lane {
  /// A lane of which every knob is named.
  static func made(
    _ delivery: Delivery, timeToLive: TimeSpan? = nil, countLimit: UInt32 = 100,
    byteLimit: UInt32 = 1_000_000, overflow: Overflow = .reject, window: UInt32 = 100
  ) -> Lane {
    Lane(
      delivery, timeToLive: timeToLive, countLimit: countLimit, byteLimit: byteLimit,
      overflow: overflow, window: window)
  }
}

extension Policy {
  /// The tests' own values, every knob of them, so that no test leans on a default that may change:
  /// connect 10 s, close 5 s, drain 5 s, spacing 1 s, ping after 25 s, pong within 10 s, lane a at
  /// most once, lane b at least once, neither with a time to live; links are kept in the background
  /// and without demand; no beat, no session stage, no credentials.
  static func made(
    connectDeadline: TimeSpan = .seconds(10),
    connectDeadlineLimit: TimeSpan? = nil,
    closeDeadline: TimeSpan = .seconds(5),
    drainDeadline: TimeSpan = .seconds(5),
    backoff: Backoff = .exact,
    spacing: TimeSpan = .seconds(1),
    heartbeat: Heartbeat? = Heartbeat(interval: .seconds(25), timeout: .seconds(10)),
    beat: Beat? = nil,
    path: PathPolicy = .probing,
    lifecycle: LifecyclePolicy = LifecyclePolicy(backgroundGrace: nil, idleGrace: nil),
    session: TimeSpan? = nil,
    resumeWindow: TimeSpan? = nil,
    credentials: TimeSpan? = nil,
    lanes: [Lane] = [.made(.atMostOnce), .made(.atLeastOnce)],
    overrides: [VerdictOverride] = []
  ) throws -> Policy {
    try Policy(
      connectDeadline: connectDeadline, connectDeadlineLimit: connectDeadlineLimit,
      closeDeadline: closeDeadline, drainDeadline: drainDeadline, backoff: backoff,
      minimumDialSpacing: spacing, heartbeat: heartbeat, beat: beat, path: path,
      lifecycle: lifecycle, sessionDeadline: session, resumeWindow: resumeWindow,
      credentialsDeadline: credentials, lanes: lanes, overrides: overrides)
  }
}

extension MessageID {
  /// Of lane 0.
  static func a(_ sequence: UInt64) -> MessageID { MessageID(lane: LaneID(0), sequence: sequence) }
  /// Of lane 1.
  static func b(_ sequence: UInt64) -> MessageID { MessageID(lane: LaneID(1), sequence: sequence) }
}

extension Input {
  /// Offers a message to lane 0.
  static func offerA(_ byteCount: UInt32 = 1) -> Input { .offer(LaneID(0), byteCount: byteCount) }
  /// Offers a message to lane 1.
  static func offerB(_ byteCount: UInt32 = 1) -> Input { .offer(LaneID(1), byteCount: byteCount) }
}

extension Cause {
  /// A transient failure without any modifier.
  static let lost = Cause.system(.brokenPipe)
  /// A failure that no other try would mend.
  static let fatal = Cause.system(.accessDenied)
}
