import ConnectionFSM

/// What a run has seen so far, for its expectations: messages by label, dials, pings, waits.
struct Ledger: Sendable {
  /// The label of the message that is being offered.
  var offered: String?
  private(set) var dials = 0
  private(set) var pings = 0
  private(set) var waits: [TimeSpan] = []
  private(set) var wire: [String] = []

  // For look-ups alone; what is listed in order is in the arrays.
  private var ids: [String: MessageID] = [:]
  private var labels: [MessageID: String] = [:]
  private var places: [String: Int] = [:]
  private var outcomes: [(label: String, outcome: String)] = []

  mutating func note(_ record: TraceRecord, machine: Machine) {
    for effect in record.effects {
      switch effect {
      case .openTransport: dials += 1
      case .sendPing: pings += 1
      case .requestCredentials, .startSession, .closeTransport, .abortTransport, .sendBeat,
        .transmit, .settle, .ended, .pressureChanged:
        break
      }
    }
    if record.to == .backingOff, record.from != .backingOff || !record.effects.isEmpty,
      case .backingOff(let wait) = machine.state
    {
      waits.append(wait.until - record.instant)
    }
    guard let label = offered.take() else { return }
    switch record.disposition {
    case .taken(let id):
      ids[label] = id
      labels[id] = label
    case .rejected(let rejection): end(label, "rejected(\(rejection))")
    case .accepted, .ignored: break
    }
  }

  mutating func sent(_ id: MessageID) {
    if let label = labels[id] { wire.append(label) }
  }

  mutating func ended(_ id: MessageID, _ outcome: String) {
    if let label = labels[id] { end(label, outcome) }
  }

  private mutating func end(_ label: String, _ outcome: String) {
    places[label] = outcomes.count
    outcomes.append((label, outcome))
  }

  func id(of label: String) -> MessageID? { ids[label] }

  func knows(_ label: String) -> Bool { ids[label] != nil || places[label] != nil }

  /// Every message that ended and how, in that order.
  var allOutcomes: [String] { outcomes.map { "\($0.label) \($0.outcome)" } }

  /// How the message ended; `pending` while it lives.
  func outcome(of label: String) -> String? {
    places[label].map { outcomes[$0].outcome } ?? (ids[label] == nil ? nil : "pending")
  }
}

extension Simulation {
  func check(_ expectation: Expectation, place: Int) throws(ScenarioError) {
    func expect(_ seen: String, _ expected: String) throws(ScenarioError) {
      guard seen != expected else { return }
      let event = scenario.steps[place - 1].ev
      throw ScenarioError(
        step: place, "\(event) at \(now) s: expected \(expected), but it was \(seen)")
    }
    switch expectation {
    case .state(let state): try expect("\(machine.phase)", state)
    case .cause(let cause):
      try expect(machine.explain().cause.map { "\($0)" } ?? "none", cause)
    case .dials(let dials):
      let isRight = dials.contains(ledger.dials)
      let expected = dials.count == 1 ? "\(dials.lowerBound)" : "\(dials)"
      try expect("\(ledger.dials)", isRight ? "\(ledger.dials)" : expected)
    case .live(let count): try expect("\(liveTransports)", "\(count)")
    case .pings(let count): try expect("\(ledger.pings)", "\(count)")
    case .waits(let waits):
      try expect("\(ledger.waits.prefix(waits.count))", "\(waits[...])")
    case .wire(let labels):
      try expect(
        ledger.wire.joined(separator: ","), labels.joined(separator: ","))
    case .outcome(let labels, let outcome):
      for label in labels {
        try expect(
          "\(label) \(ledger.outcome(of: label) ?? "never offered")", "\(label) \(outcome)")
      }
    }
  }
}
