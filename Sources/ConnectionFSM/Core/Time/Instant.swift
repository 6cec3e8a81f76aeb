/// A point in monotonic time: nanoseconds since the driver's own origin.
///
/// The core never reads a clock; every instant is an argument. There is no calendar and no wall
/// clock here, so that setting the device's clock changes nothing (RC099 to RC104).
public struct Instant: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// Nanoseconds since ``origin``.
  public var nanoseconds: Int64

  /// Makes an instant from nanoseconds since the origin.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Where the driver starts to count.
  @inlinable
  public static var origin: Instant { Instant(nanoseconds: 0) }

  /// Earlier than anything that happens.
  package static var longAgo: Instant { Instant(nanoseconds: .min) }

  /// Later than anything that happens.
  @usableFromInline static var never: Instant { Instant(nanoseconds: .max) }

  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The instant a span later, saturated at both ends.
  @inlinable
  public static func + (instant: Instant, span: TimeSpan) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return Instant(nanoseconds: overflow ? (span.nanoseconds < 0 ? .min : .max) : sum)
  }

  /// The instant a span later that is known not to be negative, saturated.
  @inline(always)
  func later(by span: TimeSpan) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(span.nanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// The span from the right instant to the left one, saturated at both ends.
  @inlinable
  public static func - (left: Instant, right: Instant) -> TimeSpan {
    let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? (left < right ? .min : .max) : difference)
  }
}

#if !hasFeature(Embedded)
  extension Instant: InstantProtocol {
    public func advanced(by duration: Duration) -> Instant { self + TimeSpan(duration) }
    public func duration(to other: Instant) -> Duration { Duration(other - self) }
  }
#endif
