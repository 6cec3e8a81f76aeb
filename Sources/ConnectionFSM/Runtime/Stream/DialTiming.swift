/// How a dialer spaces its attempts on the addresses of a host, and how long it may take.
///
/// The limits are for whoever wants to know which part of a dial was slow: the whole of it is
/// bounded by whoever dials (`Policy.connectTimeout`), so by default a dialer has none of its own.
public struct DialTiming: Equatable, Sendable {
  /// How long an attempt has to itself before the next address is tried beside it; a failure starts
  /// the next one at once. 250 ms, as RFC 8305 section 8 recommends.
  public let attemptDelay: TimeSpan
  /// How long addresses of version 4 wait for those of version 6 that were asked for with them.
  /// 50 ms, as RFC 8305 section 8 recommends.
  public let resolutionDelay: TimeSpan
  /// From the dial until the name must be resolved: what has no answer by then has failed with
  /// `Cause.timedOut(.resolution)`. Nil is no limit.
  public let resolutionLimit: TimeSpan?
  /// From the first attempt until one must be connected; then the dial fails with
  /// `Cause.timedOut(.connect)`. Nil is no limit but the system's own (Linux: 127 s an address).
  public let connectLimit: TimeSpan?

  /// The delays of RFC 8305, and no limits.
  public static let standard = DialTiming()

  private init() {
    attemptDelay = .milliseconds(250)
    resolutionDelay = .milliseconds(50)
    resolutionLimit = nil
    connectLimit = nil
  }

  /// Makes a timing.
  /// - Parameters:
  ///   - attemptDelay: 100 ms to 2 s, the bounds of RFC 8305 section 8.
  ///   - resolutionDelay: 0 to 2 s.
  ///   - resolutionLimit: Longer than 0, or nil.
  ///   - connectLimit: Longer than 0, or nil.
  /// - Throws: ``DialTimingError`` for the first value out of its range.
  public init(
    attemptDelay: TimeSpan = DialTiming.standard.attemptDelay,
    resolutionDelay: TimeSpan = DialTiming.standard.resolutionDelay,
    resolutionLimit: TimeSpan? = nil, connectLimit: TimeSpan? = nil
  ) throws(DialTimingError) {
    guard (TimeSpan.milliseconds(100)...TimeSpan.seconds(2)).contains(attemptDelay) else {
      throw DialTimingError("attemptDelay", attemptDelay, "from 100 ms to 2 s")
    }
    guard (TimeSpan.zero...TimeSpan.seconds(2)).contains(resolutionDelay) else {
      throw DialTimingError("resolutionDelay", resolutionDelay, "from 0 to 2 s")
    }
    if let resolutionLimit, resolutionLimit <= .zero {
      throw DialTimingError("resolutionLimit", resolutionLimit, "longer than 0, or nil for none")
    }
    if let connectLimit, connectLimit <= .zero {
      throw DialTimingError("connectLimit", connectLimit, "longer than 0, or nil for none")
    }
    self.attemptDelay = attemptDelay
    self.resolutionDelay = resolutionDelay
    self.resolutionLimit = resolutionLimit
    self.connectLimit = connectLimit
  }
}

/// A value that a ``DialTiming`` cannot have, with the mend.
public struct DialTimingError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The name of the parameter.
  public let parameter: String
  /// What was given.
  public let value: TimeSpan
  private let range: String

  init(_ parameter: String, _ value: TimeSpan, _ range: String) {
    self.parameter = parameter
    self.value = value
    self.range = range
  }

  public var description: String {
    "\(parameter) is \(value.nanoseconds) ns; it must be \(range)"
  }
}
