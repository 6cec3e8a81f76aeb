/// How long to wait before the next dial, as a pure function of failures and one random draw.
///
/// Three parts make a wait. The ``strategy`` gives a series of steps, one for each failure since
/// the last reset (n from 0); the ``cap`` bounds them; the ``jitter`` draws the wait around the
/// bounded step. So jitter is left on every step, the first and the capped ones included, and
/// clients which lost one server at one moment do not return together (RFC 6455 section 7.2.3;
/// AWS "Exponential backoff and jitter"). Series of known clients: ``Preset``.
public struct Backoff: Hashable, BitwiseCopyable, Sendable {
  /// How the steps grow. Default doubling.
  public var strategy: Strategy
  /// The first step, n = 0. Default 5 s, the range of RFC 6455 section 7.2.3. A table has its own.
  public var first: TimeSpan
  /// The unit of the steps after the first. Default 8 s. A table does without.
  public var base: TimeSpan
  /// No step is above this. Default 15 s, so that the default steps are 5, 15, 15 … s: found by a
  /// sweep over fleets that come back to a restarted server. Jitter that lengthens a wait may lead
  /// beyond it, by its share and no more.
  public var cap: TimeSpan
  /// How the wait is drawn around its step. Default full.
  public var jitter: Jitter
  /// How the first wait is drawn, where it is another way; nil, the default, is as the others.
  public var firstJitter: Jitter?
  /// How long a link must be open before its failures are forgotten. Default 10 s.
  ///
  /// Never on a bare open: a server that accepts and drops would be hammered (F12, RC032).
  public var stability: TimeSpan
  /// How many dials in a row may fail before the machine gives up; nil never gives up.
  public var attemptLimit: UInt32?
  /// After how much time, spent on dials and on waits since the last reset, a failure ends the
  /// machine's tries; nil never gives up.
  ///
  /// A hold and a path that is down cost nothing: nobody tried meanwhile. Judged when an attempt
  /// fails, so that no attempt and no wait is cut short.
  public var elapsedLimit: TimeSpan?

  /// Makes a backoff.
  public init(
    strategy: Strategy = .doubling,
    first: TimeSpan = .seconds(5),
    base: TimeSpan = .seconds(8),
    cap: TimeSpan = .seconds(15),
    jitter: Jitter = .full,
    firstJitter: Jitter? = nil,
    stability: TimeSpan = .seconds(10),
    attemptLimit: UInt32? = nil,
    elapsedLimit: TimeSpan? = nil
  ) {
    self.strategy = strategy
    self.first = first
    self.base = base
    self.cap = cap
    self.jitter = jitter
    self.firstJitter = firstJitter
    self.stability = stability
    self.attemptLimit = attemptLimit
    self.elapsedLimit = elapsedLimit
  }
}

// MARK: Waits

extension Backoff {
  /// The step after `failures` earlier failures: what is waited but for the jitter. Never
  /// overflows.
  public func step(afterFailures failures: UInt32) -> TimeSpan {
    switch strategy {
    case .table(let table): return min(table[failures], cap)
    case .constant, .linear, .exponential:
      guard failures > 0 else { return min(first, cap) }
      return strategy.growth(of: base, times: failures, through: cap)
    }
  }

  /// The longest that the wait after `failures` earlier failures can be. Never overflows.
  public func ceiling(afterFailures failures: UInt32) -> TimeSpan {
    let first = range(afterFailures: 0, previous: .zero).longest
    guard failures > 0 else { return first }
    // A decorrelated wait is longest if each before it was: then they grow threefold.
    let previous = Strategy.exponential(percent: 300)
      .growth(of: max(first, base), times: failures - 1, through: cap)
    return range(afterFailures: failures, previous: previous).longest
  }

  /// The wait itself, at most ``ceiling(afterFailures:)``, with at most one draw.
  /// - Parameters:
  ///   - failures: How many failures there were before, since the last reset.
  ///   - previous: The wait before this one. Only decorrelated jitter asks for it.
  ///   - random: Where the draw comes from.
  public func wait(
    afterFailures failures: UInt32, previous: TimeSpan = .zero, using random: inout SplitMix64
  ) -> TimeSpan {
    let range = range(afterFailures: failures, previous: previous)
    if jitter(afterFailures: failures) == .none { return range.longest }
    return range.shortest + .uniform(through: range.longest - range.shortest, using: &random)
  }

  /// The longest wait there can be, after whatever number of failures. From the cap alone, so that
  /// it judges the steps.
  package var longestWait: TimeSpan {
    max(
      range(around: cap, jitter(afterFailures: 0), previous: cap).longest,
      range(around: cap, jitter, previous: cap).longest)
  }

  private func jitter(afterFailures failures: UInt32) -> Jitter {
    failures == 0 ? firstJitter ?? jitter : jitter
  }

  private func range(
    afterFailures failures: UInt32, previous: TimeSpan
  ) -> (shortest: TimeSpan, longest: TimeSpan) {
    range(
      around: max(.zero, step(afterFailures: failures)), jitter(afterFailures: failures),
      // What a forgotten run left behind does not count.
      previous: failures == 0 ? .zero : previous)
  }

  private func range(
    around step: TimeSpan, _ jitter: Jitter, previous: TimeSpan
  ) -> (shortest: TimeSpan, longest: TimeSpan) {
    switch jitter {
    case .none: return (step, step)
    case .full: return (.zero, step)
    case .equal: return (step.share(percent: 50), step)
    case .within(let percent):
      let share = step.share(percent: percent)
      return (step - share, step + share)
    case .above(let percent): return (step, step + step.share(percent: percent))
    case .added(let most): return (step, step + max(.zero, most))
    case .fullOver(let least): return (least, least + max(.zero, min(step, cap - least)))
    case .decorrelated:
      let shortest = max(.zero, min(base, cap))
      let unit = max(previous, shortest)
      return (shortest, max(shortest, min(unit + unit + unit, cap)))
    }
  }
}

// MARK: Validation

extension Backoff {
  func validate() throws(PolicyError) {
    try strategy.validate()
    try Policy.requireSpan(first, "backoff.first")
    try Policy.requireSpan(base, "backoff.base")
    try Policy.requirePositive(cap, "backoff.cap")
    try validate(jitter, "backoff.jitter")
    if let firstJitter { try validate(firstJitter, "backoff.firstJitter") }
    try Policy.requireSpan(stability, "backoff.stability")
    if attemptLimit == 0 {
      throw PolicyError("backoff.attemptLimit", "must be at least 1, or nil for no limit")
    }
    if let elapsedLimit { try Policy.requirePositive(elapsedLimit, "backoff.elapsedLimit") }
  }

  private func validate(_ jitter: Jitter, _ knob: StaticString) throws(PolicyError) {
    switch jitter {
    case .none, .full, .equal: return
    case .within(let percent), .above(let percent):
      guard (1...100).contains(percent) else { throw PolicyError(knob, "must be 1 to 100 percent") }
    case .added(let most): try Policy.requireSpan(most, knob)
    case .fullOver(let least):
      try Policy.requireSpan(least, knob)
      guard least < cap else { throw PolicyError(knob, "must start below the cap") }
    case .decorrelated:
      guard base > .zero, base < cap else {
        throw PolicyError(
          knob, "must not be decorrelated unless the base is above 0, below the cap")
      }
    }
  }
}
