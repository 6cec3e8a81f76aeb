import ConnectionFSM

/// What a trace amounts to, folded from its records.
struct RunSummary {
  private(set) var steps = 0
  private(set) var attempts = 0
  private(set) var end = Instant.origin
  private(set) var phase = Phase.idle
  /// How many messages ended in which way, in the order of the outcomes.
  private var ended: [Outcome: Int] = [:]
  private var rejected = 0
  private var alive: [LaneID: [MessageID]] = [:]

  mutating func add(_ record: TraceRecord) {
    steps += 1
    end = record.instant
    phase = record.to
    switch record.disposition {
    case .taken(let id): alive[id.lane, default: []].append(id)
    case .rejected: rejected += 1
    case .accepted, .ignored: break
    }
    for effect in record.effects {
      switch effect {
      case .openTransport: attempts += 1
      case .settle(let range, let outcome): settle(range, outcome)
      case .requestCredentials, .startSession, .closeTransport, .abortTransport, .sendPing,
        .sendBeat, .transmit, .ended, .pressureChanged:
        break
      }
    }
  }

  /// A range may name messages that have ended before: only the live ones count.
  private mutating func settle(_ range: MessageRange, _ outcome: Outcome) {
    let lane = range.first.lane
    let before = alive[lane, default: []].count
    alive[lane]?.removeAll { range.contains($0) }
    ended[outcome, default: 0] += before - alive[lane, default: []].count
  }

  /// `2 written, 3 acknowledged, 1 expired`; nil without any message.
  var messages: String? {
    var parts: [String] = []
    for outcome in Outcome.allCases {
      if let count = ended[outcome], count > 0 { parts.append("\(count) \(outcome.words)") }
    }
    if rejected > 0 { parts.append("\(rejected) rejected") }
    let left = alive.values.reduce(0) { $0 + $1.count }
    if left > 0 { parts.append("\(left) still under way") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// `36 steps, 7 attempts in 75.042 s`
  var figures: String {
    let milliseconds = Instant(nanoseconds: end.nanoseconds / 1_000_000 * 1_000_000)
    return "\(count(steps, "step")), \(count(attempts, "attempt")) in \(milliseconds) s"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

extension Outcome {
  /// The outcome in words for people.
  var words: String {
    switch self {
    case .written, .acknowledged, .expired, .evicted, .cancelled: "\(self)"
    case .inDoubt: "in doubt"
    }
  }
}
