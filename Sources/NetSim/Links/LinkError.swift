import ConnectionFSM

/// A link that cannot be, with the knob at fault and what to do about it.
public struct LinkError: Error, Equatable, CustomStringConvertible {
  /// The knob, as it is spelled in ``LinkProfile``.
  public let knob: String
  /// What is wrong with it and which values would do.
  public let mend: String

  init(_ knob: String, _ mend: String) {
    self.knob = knob
    self.mend = mend
  }

  public var description: String { "link: \(knob): \(mend)" }
}

extension LinkProfile {
  /// Throws the first thing that is wrong with the link.
  package func validate() throws(LinkError) {
    try up.validate("up.")
    try down.validate("down.")
    try resolverDelay.requireSpan("resolverDelay")
  }
}

extension Channel {
  /// Throws the first thing that is wrong with a direction of a link.
  /// - Parameter place: What stands before the knob in the error, as in `up.`.
  package func validate(_ place: String = "") throws(LinkError) {
    try latency.validate(place + "latency")
    if let rate, rate.bitsPerSecond < 1 {
      throw LinkError(place + "rate", "must be 1 bit a second at least")
    }
    if let buffer, buffer < 1 { throw LinkError(place + "buffer", "must be 1 byte at least") }
    try loss.validate(place + "loss")
    try spikes?.validate(place + "spikes")
    if let wakeUp {
      try wakeUp.idle.requirePositive(place + "wakeUp.idle")
      try wakeUp.promotion.requireSpan(place + "wakeUp.promotion")
    }
  }
}

extension Latency {
  func validate(_ place: String) throws(LinkError) {
    switch shape {
    case .constant(let span): try span.requireSpan(place + ".constant")
    case .uniform(let range): try range.lowerBound.requireSpan(place + ".uniform")
    case .exponential(let minimum, let mean):
      try minimum.requireSpan(place + ".exponential.minimum")
      try mean.requireSpan(place + ".exponential.mean")
    case .bimodal(let fast, let slow, let share):
      try fast.lowerBound.requireSpan(place + ".bimodal.fast")
      try slow.lowerBound.requireSpan(place + ".bimodal.slow")
      try Self.requireShare(share, place + ".bimodal.slowPerTenThousand")
    case .table(let table): try table.validate(place + ".table")
    }
    try jitter.requireSpan(place + ".jitter")
    try pairwise?.lowerBound.requireSpan(place + ".pairwise")
  }

  static func requireShare(_ share: Int, _ knob: String) throws(LinkError) {
    guard (0...10_000).contains(share) else { throw LinkError(knob, "must be 0 to 10,000") }
  }
}

extension QuantileTable {
  func validate(_ place: String) throws(LinkError) {
    guard let first = quantiles.first, let last = quantiles.last,
      first.perTenThousand == 0, last.perTenThousand == 10_000
    else { throw LinkError(place, "must start with the quantile 0 and end with 10,000") }
    try first.span.requireSpan(place)
    for (low, high) in zip(quantiles, quantiles.dropFirst()) {
      guard low.perTenThousand < high.perTenThousand, low.span <= high.span else {
        throw LinkError(place, "must rise from quantile to quantile")
      }
    }
  }
}

extension Loss {
  func validate(_ place: String) throws(LinkError) {
    switch self {
    case .none: break
    case .independent(let share): try Latency.requireShare(share, place + ".perTenThousand")
    case .bursts(let meanGood, let meanBad):
      guard meanGood >= 1 else { throw LinkError(place + ".meanGood", "must be 1 at least") }
      guard meanBad >= 1 else { throw LinkError(place + ".meanBad", "must be 1 at least") }
    }
  }
}

extension Spikes {
  func validate(_ place: String) throws(LinkError) {
    switch self {
    case .periodic(let every, let opening, let closing):
      try every.requirePositive(place + ".every")
      try opening.requireSpan(place + ".opening")
      try closing.requireSpan(place + ".closing")
      guard opening + closing <= every else {
        throw LinkError(place, "opening and closing must not be longer than the period together")
      }
    case .poisson(let meanGap, let hold):
      try meanGap.requirePositive(place + ".meanGap")
      try hold.requireSpan(place + ".hold")
    }
  }
}

extension TimeSpan {
  func requirePositive(_ knob: String) throws(LinkError) {
    guard self > .zero else { throw LinkError(knob, "must be longer than zero") }
  }

  func requireSpan(_ knob: String) throws(LinkError) {
    guard self >= .zero else { throw LinkError(knob, "must not be negative") }
  }
}
