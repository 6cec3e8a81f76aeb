import ConnectionFSM

/// One thing that was seen: an input in a phase, and what came of it.
struct Finding: Hashable, Sendable {
  /// What a row of the table is about.
  struct Place: Hashable, Sendable {
    let phase: Phase
    let kind: InputKind
    let next: Phase
    let disposition: String
  }

  let place: Place
  /// The effects by their names, in order.
  let effects: [String]
}

/// All that was seen, each thing once.
struct Findings: Sendable {
  private var known: Set<Finding> = []
  private var list: [Finding] = []

  mutating func add(_ finding: Finding) {
    if known.insert(finding).inserted { list.append(finding) }
  }

  /// One row a place, by phase, then by kind, then in the order in which they were found.
  var rows: [TransitionTable.Row] {
    var rows: [TransitionTable.Row] = []
    for phase in Phase.allCases {
      for kind in InputKind.allCases {
        let ours = list.filter { $0.place.phase == phase && $0.place.kind == kind }
        var places: [Finding.Place] = []
        for finding in ours where !places.contains(finding.place) { places.append(finding.place) }
        for place in places { rows.append(row(place, of: ours.filter { $0.place == place })) }
      }
    }
    return rows
  }

  private func row(_ place: Finding.Place, of findings: [Finding]) -> TransitionTable.Row {
    let seen = Self.order.filter { verb in findings.contains { $0.effects.contains(verb) } }
    return TransitionTable.Row(
      phase: place.phase, input: place.kind, next: place.next, disposition: place.disposition,
      effects: seen.filter { verb in findings.allSatisfy { $0.effects.contains(verb) } },
      sometimes: seen.filter { verb in findings.contains { !$0.effects.contains(verb) } })
  }

  /// The order in which a transition has its effects: an end, what it settles, what starts anew.
  private static let order: [String] =
    ["close", "abort", "ended"] + Outcome.allCases.map { "settle \($0)" }
    + ["credentials", "dial", "login", "resume", "ping", "beat", "transmit", "pressure"]
}

extension Effect {
  /// The effect without its numbers.
  var verb: String {
    switch self {
    case .requestCredentials: "credentials"
    case .openTransport: "dial"
    case .startSession(_, let resuming): resuming ? "resume" : "login"
    case .closeTransport: "close"
    case .abortTransport: "abort"
    case .sendPing: "ping"
    case .sendBeat: "beat"
    case .transmit: "transmit"
    case .pressureChanged: "pressure"
    case .settle(_, let outcome): "settle \(outcome)"
    case .ended: "ended"
    }
  }
}

extension Disposition {
  /// The disposition without its numbers.
  var verb: String {
    switch self {
    case .taken: "taken"
    case .accepted, .rejected, .ignored: description
    }
  }
}
