public import ConnectionFSM

/// How long a packet is under way from one end of a link to the other, one way, not counting the
/// time it takes to be put on the line (``DataRate``).
///
/// Three parts are added: a permanent one, the drawn one, and a jitter. The sum is never negative.
public struct Latency: Equatable, Sendable {
  /// How the drawn part is distributed.
  public enum Shape: Equatable, Sendable {
    /// Always the same.
    case constant(TimeSpan)
    /// Anything in the range, ends included.
    case uniform(ClosedRange<TimeSpan>)
    /// The shortest and an exponential part of this mean on top of it: mostly close to the
    /// shortest, now and then several times the mean (TigerBeetle's simulator: 30 to 100 ms).
    case exponential(minimum: TimeSpan, mean: TimeSpan)
    /// Mostly anything in the fast range; so often in ten thousand, anything in the slow one. The
    /// network of FoundationDB's simulator is 100 to 800 µs, and in 10 of 10,000 up to 100 ms.
    case bimodal(
      fast: ClosedRange<TimeSpan>, slow: ClosedRange<TimeSpan>, slowPerTenThousand: Int)
    /// As it was measured somewhere.
    case table(QuantileTable)
  }

  /// How the drawn part is distributed.
  public var shape: Shape
  /// The latency is up to so much longer or shorter, uniformly, drawn anew for each packet (the
  /// jitter of netem). What is late holds back what comes behind it: TCP keeps the order.
  public var jitter: TimeSpan
  /// The range of a permanent part, drawn once for a direction of a link: distance, which differs
  /// from one pair of hosts to the next (after FoundationDB's simulator).
  public var pairwise: ClosedRange<TimeSpan>?

  /// Makes a latency.
  public init(
    _ shape: Shape, jitter: TimeSpan = .zero, pairwise: ClosedRange<TimeSpan>? = nil
  ) {
    self.shape = shape
    self.jitter = jitter
    self.pairwise = pairwise
  }

  /// Always the same, but for the jitter.
  public static func constant(_ span: TimeSpan, jitter: TimeSpan = .zero) -> Latency {
    Latency(.constant(span), jitter: jitter)
  }

  /// Anything in the range, ends included.
  public static func uniform(_ range: ClosedRange<TimeSpan>) -> Latency {
    Latency(.uniform(range))
  }
}

extension Latency.Shape {
  func draw(from stream: inout RandomStream) -> TimeSpan {
    switch self {
    case .constant(let span): return span
    case .uniform(let range): return stream.span(in: range)
    case .exponential(let minimum, let mean): return minimum + stream.exponential(mean: mean)
    case .bimodal(let fast, let slow, let share):
      let isSlow = stream.hits(perTenThousand: share)
      return stream.span(in: isSlow ? slow : fast)
    case .table(let table): return table.draw(from: &stream)
    }
  }
}

extension RandomStream {
  /// A span in the range, both ends included.
  mutating func span(in range: ClosedRange<TimeSpan>) -> TimeSpan {
    range.lowerBound + span(through: range.upperBound - range.lowerBound)
  }

  /// So often true in ten thousand; one draw, whatever the share.
  mutating func hits(perTenThousand share: Int) -> Bool { Int(next(through: 9_999)) < share }
}
