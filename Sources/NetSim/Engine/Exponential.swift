package import ConnectionFSM

// No libm: its logarithm differs in the last bit between systems, and a run would not replay.

extension RandomStream {
  /// A span from the exponential distribution: how long until something happens that is as likely
  /// in one moment as in the next. One draw a call, whatever the mean.
  ///
  /// Inversion, -mean · ln(u) with u from 2⁻⁶⁴ to 1, so that no span is above 44.4 times the mean.
  /// Right to within 10⁻⁹ of the mean, rounded down to a nanosecond; saturated where that is above
  /// 292 years. A mean that is not positive gives zero.
  package mutating func exponential(mean: TimeSpan) -> TimeSpan {
    let logarithm = Self.negativeLogarithm(of: max(next(through: .max), 1))
    let product = UInt64(max(0, mean.nanoseconds)).multipliedFullWidth(by: logarithm)
    guard product.high >> 57 == 0 else { return .nanoseconds(.max) }
    return .nanoseconds(Int64(product.high << 6 | product.low >> 58))
  }

  /// -ln(draw / 2⁶⁴) · 2⁵⁸, for a draw from 1.
  ///
  /// With x the draw shifted into [1, 2), it is a whole number of ln 2 and ln(2 / x), and
  /// ln(2 / x) = 2 · artanh((2 - x) / (2 + x)), whose argument s is at most 1/3: nine terms of the
  /// series s + s³/3 + s⁵/5 + … leave out less than 10⁻¹⁰.
  private static func negativeLogarithm(of draw: UInt64) -> UInt64 {
    let halvings = draw.leadingZeroBitCount
    // x and 2 in units of 2⁻⁶², so that their sum has room.
    let x = (draw << UInt64(halvings)) >> 1
    let two: UInt64 = 1 << 63
    // Below 2⁶³ · 1/3, and all fractions from here on are in units of 2⁻⁶³.
    let s = (two + x).dividingFullWidth(((two - x) >> 1, (two - x) << 63)).quotient
    let square = s.multipliedFullWidth(by: s << 1).high
    var sum: UInt64 = 0
    for odd in stride(from: 17, through: 1, by: -2) {
      sum = two / UInt64(odd) + sum.multipliedFullWidth(by: square << 1).high
    }
    let artanh = sum.multipliedFullWidth(by: s << 1).high
    return UInt64(halvings) * naturalLogarithmOf2 + artanh >> 4
  }

  /// ln 2 · 2⁵⁸.
  private static var naturalLogarithmOf2: UInt64 { 199_786_072_581_291_495 }
}
