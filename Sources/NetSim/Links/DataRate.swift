package import ConnectionFSM

/// How fast a link carries bytes: payload, as headers are not counted.
public struct DataRate: Hashable, Comparable, Sendable {
  /// Bits a second. Below 1 it counts as 1.
  public var bitsPerSecond: Int64

  /// Makes a rate from bits a second.
  public init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

  /// So many times 1,000 bits a second: the unit of the published link profiles.
  public static func kilobits(_ count: Int64) -> DataRate {
    let (product, overflow) = count.multipliedReportingOverflow(by: 1000)
    return DataRate(bitsPerSecond: overflow ? (count < 0 ? .min : .max) : product)
  }

  /// So many times 1,000,000 bits a second.
  public static func megabits(_ count: Int64) -> DataRate {
    let (product, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
    return DataRate(bitsPerSecond: overflow ? (count < 0 ? .min : .max) : product)
  }

  public static func < (left: DataRate, right: DataRate) -> Bool {
    left.bitsPerSecond < right.bitsPerSecond
  }

  /// How long so many bytes take, rounded up to a nanosecond and saturated.
  package func time(forBytes count: Int) -> TimeSpan {
    guard count > 0 else { return .zero }
    let rate = UInt64(max(1, bitsPerSecond))
    // Eight bits a byte, 10⁹ nanoseconds a second.
    let (high, low) = UInt64(count).multipliedFullWidth(by: 8_000_000_000)
    guard high < rate else { return .nanoseconds(.max) }
    let (quotient, remainder) = rate.dividingFullWidth((high, low))
    let rounded = quotient &+ (remainder > 0 ? 1 : 0)
    return .nanoseconds(Int64(min(rounded, UInt64(Int64.max))))
  }
}
