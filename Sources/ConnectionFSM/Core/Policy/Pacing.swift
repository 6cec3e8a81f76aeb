/// How fast a backlog leaves after a link opened: so many messages at a time (F50's limit of a
/// server on messages per second).
///
/// Ends when nothing waits any more; from then on a message leaves when it is offered.
public struct Pacing: Equatable, BitwiseCopyable, Sendable {
  /// How many messages leave at a time, all lanes together.
  public var burst: UInt32
  /// The time between two bursts.
  public var interval: TimeSpan

  /// Makes a pacing.
  public init(burst: UInt32, interval: TimeSpan) {
    self.burst = burst
    self.interval = interval
  }

  func validate() throws(PolicyError) {
    guard burst > 0 else { throw PolicyError("pacing.burst", "must be at least 1") }
    try Policy.requirePositive(interval, "pacing.interval")
  }
}
