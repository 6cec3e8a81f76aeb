/// Two levels of patience: after a while of fruitless tries the machine slows down and stops
/// holding messages, as Ably's clients do after two minutes.
public struct Patience: Equatable, BitwiseCopyable, Sendable {
  /// How long an outage may last before the slow tier begins, counted from its first failure
  /// whatever happened since. The messages that wait then end as expired, and new ones are rejected
  /// until a link is open.
  public var fastFor: TimeSpan
  /// The wait of the slow tier; drawn between half of it and all, so that a fleet does not beat in
  /// step. Never shorter than the backoff's own.
  public var slowWait: TimeSpan

  /// Makes a patience. The defaults are Ably's: 120 s and 30 s.
  public init(fastFor: TimeSpan = .seconds(120), slowWait: TimeSpan = .seconds(30)) {
    self.fastFor = fastFor
    self.slowWait = slowWait
  }

  func validate() throws(PolicyError) {
    try Policy.requirePositive(fastFor, "patience.fastFor")
    try Policy.requirePositive(slowWait, "patience.slowWait")
  }
}

/// A bound on retries over time, whatever the backoff says: a bucket of tokens, one a dial that
/// nobody asked for, refilled at a fixed rate.
public struct RetryBudget: Equatable, BitwiseCopyable, Sendable {
  /// How many such dials may follow each other.
  public var burst: UInt32
  /// The time after which one more may.
  public var interval: TimeSpan

  /// Makes a budget.
  public init(burst: UInt32, interval: TimeSpan) {
    self.burst = burst
    self.interval = interval
  }

  func validate() throws(PolicyError) {
    guard (1...1_000_000).contains(burst) else {
      throw PolicyError("retryBudget.burst", "must be 1 to 1,000,000")
    }
    try Policy.requirePositive(interval, "retryBudget.interval")
  }
}
