public import ConnectionFSM

/// A distribution as it was measured: some quantiles, with straight lines between them.
public struct QuantileTable: Equatable, Sendable {
  /// So many of ten thousand packets take at most so long.
  public struct Quantile: Equatable, Sendable {
    /// 0 to 10,000: the median is 5,000.
    public var perTenThousand: Int
    /// How long those take at most.
    public var span: TimeSpan

    /// Makes a quantile.
    public init(_ perTenThousand: Int, _ span: TimeSpan) {
      self.perTenThousand = perTenThousand
      self.span = span
    }
  }

  /// In rising order, the shortest (0) first and the longest (10,000) last.
  public var quantiles: [Quantile]

  /// Makes a table.
  public init(_ quantiles: [Quantile]) { self.quantiles = quantiles }

  // Draws are finer than the table: 10,000 · 2³² steps.
  private static let stepBits: UInt64 = 32

  func draw(from stream: inout RandomStream) -> TimeSpan {
    span(at: stream.next(through: 10_000 << Self.stepBits))
  }

  /// The span at a place from 0 to 10,000 · 2³².
  private func span(at place: UInt64) -> TimeSpan {
    guard let above = quantiles.firstIndex(where: { Self.place(of: $0) >= place }) else {
      return quantiles.last?.span ?? .zero
    }
    guard above > 0 else { return quantiles[above].span }
    let (low, high) = (quantiles[above - 1], quantiles[above])
    let start = Self.place(of: low)
    let width = Self.place(of: high) - start
    let rise = max(0, (high.span - low.span).nanoseconds)
    // The product is below rise · width, so that the quotient is below rise.
    let product = UInt64(rise).multipliedFullWidth(by: place - start)
    return low.span + .nanoseconds(Int64(width.dividingFullWidth(product).quotient))
  }

  private static func place(of quantile: Quantile) -> UInt64 {
    UInt64(min(max(0, quantile.perTenThousand), 10_000)) << stepBits
  }
}
