/// How long pings took to be answered, measured by the driver's clock: what the loops of both ends
/// add is in it.
public struct RoundTrip: Equatable, Sendable {
  /// The latest.
  public private(set) var last: TimeSpan
  /// The smoothed one (RFC 6298 section 2, SRTT, with its gain of 1/8).
  public private(set) var smoothed: TimeSpan
  /// How far they stray from the smoothed one (RFC 6298 section 2, RTTVAR, with its gain of 1/4).
  public private(set) var variation: TimeSpan
  /// The shortest.
  public private(set) var least: TimeSpan
  /// The longest.
  public private(set) var most: TimeSpan
  /// How many there were.
  public private(set) var count = 1

  package init(first sample: TimeSpan) {
    last = sample
    smoothed = sample
    variation = TimeSpan(nanoseconds: sample.nanoseconds / 2)
    least = sample
    most = sample
  }

  package mutating func add(_ sample: TimeSpan) {
    count += 1
    last = sample
    least = min(least, sample)
    most = max(most, sample)
    // In this order: the variation is measured from the estimate before. Differences first, so that
    // nothing overflows.
    let error = sample.nanoseconds - smoothed.nanoseconds
    let stray = Int64(clamping: error.magnitude)
    variation.nanoseconds += (stray - variation.nanoseconds) / 4
    smoothed.nanoseconds += error / 8
  }
}
