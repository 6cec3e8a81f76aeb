extension Backoff {
  /// How the steps grow from failure to failure.
  public enum Strategy: Hashable, BitwiseCopyable, Sendable {
    /// Every step after the first is the base.
    case constant
    /// The n-th step is base · (n + 1).
    case linear
    /// Each step is so many percent of the one before, 101 to 1000: the n-th is
    /// base · (percent / 100)ⁿ, rounded up to a nanosecond at each step.
    case exponential(percent: UInt16)
    /// The steps one by one.
    case table(Table)

    /// The n-th step is base · 2ⁿ.
    public static var doubling: Strategy { .exponential(percent: 200) }
  }

  /// Up to 16 steps by value, the first included; the last one repeats.
  public struct Table: Hashable, BitwiseCopyable, Sendable {
    /// How many steps a table can have.
    public static var capacity: Int { 16 }

    // In place, so that a backoff is plain data and a wait counts no references.
    private var nanoseconds = SIMD16<Int64>()
    private var count: UInt8

    /// Makes a table. One without steps, or with more than 16, is refused by ``Policy``.
    public init(_ steps: [TimeSpan]) {
      count = UInt8(min(steps.count, Self.capacity + 1))
      for (index, step) in steps.prefix(Self.capacity).enumerated() {
        nanoseconds[index] = step.nanoseconds
      }
    }

    /// The steps, in order.
    public var steps: [TimeSpan] {
      (0..<min(Int(count), Self.capacity)).map { TimeSpan(nanoseconds: nanoseconds[$0]) }
    }

    subscript(failures: UInt32) -> TimeSpan {
      let last = min(Int(count), Self.capacity) - 1
      guard last >= 0 else { return .zero }
      return TimeSpan(nanoseconds: nanoseconds[failures < last ? Int(failures) : last])
    }

    func validate() throws(PolicyError) {
      guard (1...Self.capacity).contains(Int(count)) else {
        throw PolicyError("backoff.strategy", "a table must have 1 to 16 steps")
      }
      for step in steps { try Policy.requireSpan(step, "backoff.strategy") }
    }
  }
}

extension Backoff.Table: ExpressibleByArrayLiteral {
  public init(arrayLiteral steps: TimeSpan...) { self.init(steps) }
}

extension Backoff.Strategy {
  /// What the unit has become after so many steps, and never more than the cap. A table has no
  /// unit.
  func growth(of unit: TimeSpan, times: UInt32, through cap: TimeSpan) -> TimeSpan {
    switch self {
    case .constant, .table: return min(unit, cap)
    case .linear:
      let (product, overflow) = unit.nanoseconds.multipliedReportingOverflow(by: Int64(times) + 1)
      return overflow ? cap : min(TimeSpan(nanoseconds: product), cap)
    case .exponential(let percent):
      // Nothing else bounds the loop: what does not grow never meets the cap.
      guard percent > 100, unit > .zero else { return min(unit, cap) }
      var step = unit
      var left = times
      // Rounding up adds a nanosecond at least, and soon a share: at 101 percent a year is
      // reached from 1 ns in about 3500 rounds, by doubling in 55.
      while left > 0, step < cap {
        step = step.grown(percent: percent)
        left -= 1
      }
      return min(step, cap)
    }
  }

  func validate() throws(PolicyError) {
    switch self {
    case .constant, .linear: return
    case .exponential(let percent):
      guard (101...1000).contains(percent) else {
        throw PolicyError("backoff.strategy", "must grow to 101 to 1000 percent a step")
      }
    case .table(let table): try table.validate()
    }
  }
}

extension TimeSpan {
  /// So many percent of a span that is not negative, rounded up and saturated.
  fileprivate func grown(percent: UInt16) -> TimeSpan {
    // Hundreds and rest apart, so that the product overflows only if the result does.
    let percent = Int64(percent)
    let (hundreds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 100)
    let (whole, overflow) = hundreds.multipliedReportingOverflow(by: percent)
    guard !overflow else { return TimeSpan(nanoseconds: .max) }
    return TimeSpan(nanoseconds: whole) + TimeSpan(nanoseconds: (rest * percent + 99) / 100)
  }
}
