import ConnectionFSM

extension LinkProfile {
  /// Every published profile, in the order of their sources.
  ///
  /// What is left out, and why: "100 % Loss" of Network Link Conditioner is no link but none (it is
  /// ``Fault/block(from:to:_:)``); its "Wi-Fi", "LTE" and "Wi-Fi 802.11ac" were not found in a
  /// first-hand source; Jepsen's "slow" and "flaky" are what is done to a link that is there.
  public static let all: [LinkProfile] =
    networkLinkConditioner + augmentedTrafficControl + developerTools + webPageTest + comcast
    + str0m + loadero

  /// The published profile of that name; nil if there is none.
  public static func named(_ name: String) -> LinkProfile? { all.first { $0.name == name } }

  /// A profile whose figures are told in its description.
  static func published(
    _ name: String, _ kind: String, source: String, up: Channel, down: Channel,
    resolverDelay: TimeSpan = .zero
  ) -> LinkProfile {
    LinkProfile(
      name, about: "\(kind): \(figures(up, down, resolverDelay))", source: source, up: up,
      down: down, resolverDelay: resolverDelay)
  }

  private static func figures(_ up: Channel, _ down: Channel, _ resolver: TimeSpan) -> String {
    var parts: [String] = []
    let rates = [down.rate, up.rate].map { $0.map { "\($0.bitsPerSecond / 1000)" } ?? "any" }
    if down.rate != nil || up.rate != nil {
      let isSame = rates[0] == rates[1]
      parts.append(isSame ? "\(rates[0]) kbit/s" : "\(rates[0]) kbit/s down, \(rates[1]) up")
    }
    let ways = [down.latency.figures, up.latency.figures]
    parts.append(ways[0] == ways[1] ? "\(ways[0]) each way" : "\(ways[0]) down, \(ways[1]) up")
    let losses = [down.loss.figures, up.loss.figures]
    if losses[0] == losses[1] {
      if let loss = losses[0] { parts.append(loss) }
    } else {
      if let loss = losses[0] { parts.append("\(loss) down") }
      if let loss = losses[1] { parts.append("\(loss) up") }
    }
    if resolver > .zero { parts.append("\(resolver.milliseconds) more for names") }
    return parts.joined(separator: ", ")
  }
}

extension Channel {
  /// A direction in the units of published tables; no rate is no limit.
  static func published(
    kilobits: Int64? = nil, _ latency: TimeSpan, jitter: TimeSpan = .zero, buffer: Int? = nil,
    loss: Loss = .none
  ) -> Channel {
    Channel(
      latency: .constant(latency, jitter: jitter), rate: kilobits.map { .kilobits($0) },
      buffer: buffer, loss: loss)
  }
}

extension Latency {
  fileprivate var figures: String {
    guard case .constant(let span) = shape else { return "\(shape)" }
    return jitter > .zero ? "\(span.milliseconds) ± \(jitter.milliseconds)" : span.milliseconds
  }
}

extension Loss {
  fileprivate var figures: String? {
    switch self {
    case .none, .independent(perTenThousand: 0): return nil
    case .independent(let share):
      let (whole, rest) = share.quotientAndRemainder(dividingBy: 100)
      return rest == 0 ? "\(whole) % lost" : "\(whole).\(rest / 10) % lost"
    case .bursts(let meanGood, let meanBad): return "\(meanBad) lost after \(meanGood)"
    }
  }
}

extension TimeSpan {
  fileprivate var milliseconds: String {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 ? "\(whole) ms" : "\(whole).\(rest / 100_000) ms"
  }
}
