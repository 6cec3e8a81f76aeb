/// How long to wait before the next dial, as a pure function of failures and one random draw.
///
/// The ceiling for the n-th wait since the last reset (n from 0) is `first` for n = 0 and
/// min(`cap`, `base` · 2ⁿ) after that; with full jitter the wait is uniform between 0 and the
/// ceiling on every step, the first and the capped ones included, so that clients which lost one
/// server at one moment do not return together (RFC 6455 section 7.2.3; AWS "Exponential backoff
/// and jitter").
public struct Backoff: Equatable, BitwiseCopyable, Sendable {
  /// How the wait is drawn below its ceiling.
  public enum Jitter: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// The wait is the ceiling itself. For tests and for servers that asked for it.
    case none
    /// Uniform from zero to the ceiling.
    case full
  }

  /// The ceiling of the first wait. Default 5 s, the range of RFC 6455 section 7.2.3.
  public var first: TimeSpan
  /// The unit that doubles. Default 2 s.
  public var base: TimeSpan
  /// No ceiling is above this. Default 60 s, so that the default ceilings are 5, 4, 8, 16, 32, 60,
  /// 60 … s.
  public var cap: TimeSpan
  /// How the wait is drawn. Default full.
  public var jitter: Jitter
  /// How long a link must be open before its failures are forgotten. Default 10 s.
  ///
  /// Never on a bare open: a server that accepts and drops would be hammered (F12, RC032).
  public var stability: TimeSpan
  /// How many dials in a row may fail before the machine gives up; nil never gives up.
  public var attemptLimit: UInt32?

  /// Makes a backoff.
  public init(
    first: TimeSpan = .seconds(5),
    base: TimeSpan = .seconds(2),
    cap: TimeSpan = .seconds(60),
    jitter: Jitter = .full,
    stability: TimeSpan = .seconds(10),
    attemptLimit: UInt32? = nil
  ) {
    self.first = first
    self.base = base
    self.cap = cap
    self.jitter = jitter
    self.stability = stability
    self.attemptLimit = attemptLimit
  }

  /// The longest that the wait after `failures` earlier failures can be. Never overflows.
  public func ceiling(afterFailures failures: UInt32) -> TimeSpan {
    guard failures > 0 else { return min(first, cap) }
    let base = base.nanoseconds
    let cap = cap.nanoseconds
    // Swift's shifts take any count; what is shifted out is zero.
    guard base <= cap >> Int64(failures) else { return self.cap }
    return TimeSpan(nanoseconds: base << Int64(failures))
  }

  /// The wait itself: between zero and ``ceiling(afterFailures:)``, with at most one draw.
  public func wait(afterFailures failures: UInt32, using random: inout SplitMix64) -> TimeSpan {
    let ceiling = ceiling(afterFailures: failures)
    switch jitter {
    case .none: return ceiling
    case .full: return TimeSpan.uniform(through: ceiling, using: &random)
    }
  }

  func validate() throws(PolicyError) {
    try Policy.requireSpan(first, "backoff.first")
    try Policy.requireSpan(base, "backoff.base")
    try Policy.requirePositive(cap, "backoff.cap")
    try Policy.requireSpan(stability, "backoff.stability")
    if attemptLimit == 0 {
      throw PolicyError("backoff.attemptLimit", "must be at least 1, or nil for no limit")
    }
  }
}

extension TimeSpan {
  /// A span from zero to the bound, both included; one draw.
  static func uniform(through bound: TimeSpan, using random: inout SplitMix64) -> TimeSpan {
    TimeSpan(nanoseconds: Int64(random.next(through: UInt64(max(0, bound.nanoseconds)))))
  }
}

#if !hasFeature(Embedded)
  extension Backoff: Hashable {}
#endif
