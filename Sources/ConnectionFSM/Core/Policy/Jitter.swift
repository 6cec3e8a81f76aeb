extension Backoff {
  /// How a wait is drawn around its step; every draw is uniform and includes both ends.
  public enum Jitter: Hashable, BitwiseCopyable, Sendable {
    /// The wait is the step itself. For tests and for servers that asked for it.
    case none
    /// From zero to the step (AWS "full jitter").
    case full
    /// From half the step to the step (AWS "equal jitter").
    case equal
    /// From the base to three times the wait before, which counts as the base at first; the
    /// strategy and the first step play no part (AWS "decorrelated jitter").
    ///
    /// The cap bounds the range and not the draw, as it does in the article: there the draws above
    /// the cap become the cap, and clients meet at it.
    case decorrelated
    /// From this share below the step to this share above it, 1 to 100 percent.
    case within(percent: UInt8)
    /// From the step to this share above it, 1 to 100 percent.
    case above(percent: UInt8)
    /// From the step to this span above it.
    case added(TimeSpan)
    /// Full jitter on top of a shortest wait; the sum stays under the cap.
    case fullOver(TimeSpan)
  }
}

extension TimeSpan {
  /// A span from zero to the bound, both included; one draw.
  static func uniform(through bound: TimeSpan, using random: inout SplitMix64) -> TimeSpan {
    TimeSpan(nanoseconds: Int64(random.next(through: UInt64(max(0, bound.nanoseconds)))))
  }

  /// A share of a span that is not negative, rounded down; above 100 percent it is all of it.
  func share(percent: UInt8) -> TimeSpan {
    // Hundreds and rest apart, so that nothing overflows.
    let percent = Int64(min(percent, 100))
    let (hundreds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 100)
    return TimeSpan(nanoseconds: hundreds * percent + rest * percent / 100)
  }

  package static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? (left < .zero ? .min : .max) : sum)
  }

  package static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? (left < .zero ? .min : .max) : difference)
  }
}
