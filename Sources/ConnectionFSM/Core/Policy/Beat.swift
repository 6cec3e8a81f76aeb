/// A message of the application's own at a fixed rate while the link is open: `heart` each three
/// minutes (F42).
///
/// The machine says when; the driver knows the payload. It tells the peer that we live. That the
/// peer lives is the ``Heartbeat``'s business, or the beat's own where the peer answers it.
public struct Beat: Equatable, BitwiseCopyable, Sendable {
  /// The time between two beats, counted from the open on.
  public var interval: TimeSpan
  /// Whether the first is sent as soon as the link is open, or after one interval. Default false.
  public var isImmediate: Bool
  /// Whether a message that was sent takes a beat's place. Default false.
  public var skipsAfterTraffic: Bool
  /// How long the answer may take; nil, the default, expects none. The transport reports an answer
  /// as the pong of the beat's number.
  public var answerTimeout: TimeSpan?

  /// Makes a beat.
  public init(
    interval: TimeSpan, isImmediate: Bool = false, skipsAfterTraffic: Bool = false,
    answerTimeout: TimeSpan? = nil
  ) {
    self.interval = interval
    self.isImmediate = isImmediate
    self.skipsAfterTraffic = skipsAfterTraffic
    self.answerTimeout = answerTimeout
  }

  func validate() throws(PolicyError) {
    try Policy.requirePositive(interval, "beat.interval")
    guard let answerTimeout else { return }
    try Policy.requirePositive(answerTimeout, "beat.answerTimeout")
    guard answerTimeout < interval else {
      throw PolicyError("beat.answerTimeout", "must be shorter than beat.interval")
    }
  }
}
