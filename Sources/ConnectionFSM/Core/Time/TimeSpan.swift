/// A length of time in whole nanoseconds, from minus to plus 292 years.
///
/// The core counts in 64-bit nanoseconds because `Swift.Duration` is 128 bits of attoseconds, whose
/// division alone costs more than a transition. At a call site the two read alike:
/// `.seconds(10)`, `.milliseconds(250)`. Arithmetic saturates; nothing here traps.
public struct TimeSpan: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The length in nanoseconds.
  public var nanoseconds: Int64

  /// Makes a span from a count of nanoseconds.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes a span from a `Duration`, rounded towards zero to a nanosecond and saturated.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let sum = whole.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000)
    let overflow = whole.overflow || sum.overflow
    nanoseconds = overflow ? (seconds < 0 ? .min : .max) : sum.partialValue
  }

  /// No time at all.
  @inlinable
  public static var zero: TimeSpan { TimeSpan(nanoseconds: 0) }

  /// Longer than anything that is waited for.
  static var endless: TimeSpan { TimeSpan(nanoseconds: .max) }

  /// A whole number of seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { scaled(count, by: 1_000_000_000) }

  /// A whole number of milliseconds.
  public static func milliseconds(_ count: Int64) -> TimeSpan { scaled(count, by: 1_000_000) }

  /// A whole number of microseconds.
  public static func microseconds(_ count: Int64) -> TimeSpan { scaled(count, by: 1_000) }

  /// A whole number of nanoseconds.
  public static func nanoseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: count) }

  private static func scaled(_ count: Int64, by unit: Int64) -> TimeSpan {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    return TimeSpan(nanoseconds: overflow ? (count < 0 ? .min : .max) : product)
  }

  @inlinable
  public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The same length of time as a `Duration`.
  public init(_ span: TimeSpan) { self = .nanoseconds(span.nanoseconds) }
}
