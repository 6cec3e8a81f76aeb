/// A planned replacement: the new link opens beside the old one and takes over, then the old one
/// finishes what it was given and closes (F54). At most two links live at a time.
public struct Rollover: Equatable, BitwiseCopyable, Sendable {
  /// The age at which an open link is replaced; nil, the default, only on notice of the server or
  /// for a better path. Services that cut a link after 24 h want a little less.
  public var maxAge: TimeSpan?
  /// How much earlier a link may be replaced, drawn for each: a fleet does not move together.
  /// Default zero. A notice is followed within the same span.
  public var dither: TimeSpan
  /// How long a link that was opened on another endpoint than the preferred one is kept before the
  /// preferred one is tried; nil, the default, keeps it.
  public var returnAfter: TimeSpan?

  /// Makes a rollover.
  public init(
    maxAge: TimeSpan? = nil, dither: TimeSpan = .zero, returnAfter: TimeSpan? = nil
  ) {
    self.maxAge = maxAge
    self.dither = dither
    self.returnAfter = returnAfter
  }

  func validate() throws(PolicyError) {
    try Policy.requireSpan(dither, "rollover.dither")
    if let maxAge {
      try Policy.requirePositive(maxAge, "rollover.maxAge")
      guard dither < maxAge else {
        throw PolicyError("rollover.dither", "must be shorter than rollover.maxAge")
      }
    }
    if let returnAfter { try Policy.requirePositive(returnAfter, "rollover.returnAfter") }
  }
}
