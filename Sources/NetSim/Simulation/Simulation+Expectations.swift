import ConnectionFSM

extension Simulation {
  mutating func check(_ expectation: Expectation, place: Int) throws(ScenarioError) {
    let (seen, expected) = compare(expectation)
    guard seen != expected else { return }
    let event = story.words(of: place - 1).ev
    throw ScenarioError(
      step: place, "\(event) at \(now) s: expected \(expected), but it was \(seen)")
  }

  /// What was seen and what was expected, as text; equal if it is as it should be.
  private func compare(_ expectation: Expectation) -> (seen: String, expected: String) {
    switch expectation {
    case .state(let state): ("\(machine.phase)", state)
    case .tier(let tier): (tierName, tier)
    case .cause(let cause): (machine.explain().cause.map { "\($0)" } ?? "none", cause)
    case .reason(let reason): (reasonName, reason)
    case .waitsFor(let wait): ("\(machine.explain().waitsFor)", wait)
    case .deadline(let instants): compare(instants)
    case .dials(let range, let since):
      compare(ledger.dials.count { $0.at >= .origin + since }, range)
    case .pings(let range, let since): compare(ledger.pings.count { $0 >= .origin + since }, range)
    case .attempt(let range): compare(Int(machine.explain().attempt), range)
    case .live(let count): ("\(liveTransports)", "\(count)")
    case .epoch(let number): (machine.primary.map { "\($0.epoch)" } ?? "none", "#\(number)")
    case .waits(let waits): ("\(ledger.waits.prefix(waits.count))", "\(waits[...])")
    case .waitCount(let range): compare(ledger.waits.count, range)
    case .waitRange(let range):
      (
        list(ledger.waits.filter { !range.contains(Double($0.nanoseconds) / 1e9) }.map { "\($0)" }),
        ""
      )
    case .wire(let labels): (list(ledger.wire), list(labels))
    case .outcome(let labels, let outcome):
      (
        list(labels.map { "\($0) \(ledger.outcome(of: $0) ?? "never offered")" }),
        list(labels.map { "\($0) \(outcome)" })
      )
    case .ends(let ends):
      (list(ledger.ends.map { "\($0.epoch) \($0.cause)" }), list(ends))
    case .phases(let phases): (list(ledger.phases.map { "\($0)" }), list(phases))
    case .hosts(let names): (list(ledger.dials.map { network.name(of: $0.to) }), list(names))
    case .requests(let range): compare(ledger.requests, range)
    case .sessions(let kinds): (list(ledger.sessions), list(kinds))
    case .ignored(let reason, let range):
      compare(ledger.ignored.count { "\($0)" == reason }, range)
    }
  }

  private func compare(_ count: Int, _ range: ClosedRange<Int>) -> (String, String) {
    if range.contains(count) { return ("", "") }
    return ("\(count)", range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range)")
  }

  private func compare(_ instants: ClosedRange<Double>?) -> (String, String) {
    let seconds = machine.nextDeadline.map { Double(($0 - .origin).nanoseconds) / 1e9 }
    switch (seconds, instants) {
    case (nil, nil): return ("", "")
    case (let seconds?, let instants?) where instants.contains(seconds): return ("", "")
    case (let seconds, let instants):
      return (
        seconds.map { "\($0)" } ?? "none", instants.map { "\($0)" } ?? "none"
      )
    }
  }

  private var tierName: String {
    if case .backingOff(let wait) = machine.state { return "\(wait.tier)" }
    return "none"
  }

  private var reasonName: String {
    if case .closed(let closed) = machine.state { return "\(closed.reason)" }
    return "none"
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ",") }
}

extension Network {
  /// The host behind an endpoint, or its number.
  fileprivate func name(of endpoint: EndpointID) -> String {
    let number = Int(endpoint.rawValue)
    return number < hosts.count ? hosts[number].name : "\(endpoint)"
  }
}
