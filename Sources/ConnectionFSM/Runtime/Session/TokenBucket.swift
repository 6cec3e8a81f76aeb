/// How much may be sent just now: so many messages a second on average, some of them at once.
///
/// Kept as the instant at which the bucket is full again, so there is nothing to refill and nothing
/// to round: in any window of length W at most burst + W · rate messages leave.
struct TokenBucket {
  /// The time in which one token comes; nil knows no limit. Rounded up: never above the rate.
  private let interval: TimeSpan?
  /// The time in which an empty bucket comes to hold all its tokens but one.
  private let reach: TimeSpan
  private var fullAt = Instant.longAgo

  init(messagesPerSecond: Int?, burst: Int) {
    guard let messagesPerSecond else {
      interval = nil
      reach = .zero
      return
    }
    let rate = Int64(messagesPerSecond)
    let nanoseconds = (1_000_000_000 + rate - 1) / rate
    interval = TimeSpan(nanoseconds: nanoseconds)
    reach = TimeSpan(nanoseconds: nanoseconds * Int64(burst - 1))
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
}
