/// How much may be done just now: once in an interval on average, some of it at once.
///
/// Kept as the instant at which the bucket is full again, so there is nothing to refill and nothing
/// to round: in any window of length W at most burst + W / interval tokens are taken.
struct TokenBucket {
  /// The time in which one token comes; nil knows no limit.
  private let interval: TimeSpan?
  /// The time in which an empty bucket comes to hold all its tokens but one.
  private let reach: TimeSpan
  private var fullAt = Instant.longAgo

  /// A bucket of at least one token; an interval of zero, or below, is no limit.
  init(interval: TimeSpan, burst: Int) {
    guard interval > .zero else {
      self.interval = nil
      reach = .zero
      return
    }
    self.interval = interval
    let rest = Int64(max(burst, 1) - 1)
    let (product, overflow) = interval.nanoseconds.multipliedReportingOverflow(by: rest)
    reach = TimeSpan(nanoseconds: overflow ? .max : product)
  }

  /// The interval is rounded up: never above the rate.
  init(messagesPerSecond: Int?, burst: Int) {
    let rate = Int64(messagesPerSecond ?? 0)
    let nanoseconds = rate > 0 ? (1_000_000_000 + rate - 1) / rate : 0
    self.init(interval: .nanoseconds(nanoseconds), burst: burst)
  }

  /// Takes a token, if there is one.
  mutating func take(at now: Instant) -> Bool {
    guard let interval else { return true }
    guard fullAt - now <= reach else { return false }
    fullAt = max(fullAt, now) + interval
    return true
  }

  /// When there is a token again, if there is none.
  var nextTokenAt: Instant { fullAt + TimeSpan(nanoseconds: -reach.nanoseconds) }

  /// Its instants are told by another clock from now on, which is ahead by that span.
  mutating func move(by span: TimeSpan) { fullAt = fullAt + span }
}
