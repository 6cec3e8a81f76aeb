import ConnectionFSM

/// What a run has seen so far, for its expectations: messages by label, dials, pings, waits, ends.
struct Ledger: Sendable {
  /// The label of the message that is being offered.
  var offered: String?
  private(set) var dials: [(at: Instant, to: EndpointID)] = []
  private(set) var pings: [Instant] = []
  private(set) var waits: [TimeSpan] = []
  private(set) var wire: [String] = []
  private(set) var ends: [String] = []
  private(set) var phases: [Phase] = []
  private(set) var requests = 0
  private(set) var sessions: [String] = []
  private(set) var ignored: [IgnoreReason] = []

  // For look-ups alone; what is listed in order is in the arrays.
  private var ids: [String: MessageID] = [:]
  private var labels: [MessageID: String] = [:]
  private var places: [String: Int] = [:]
  private var outcomes: [(label: String, outcome: String)] = []

  mutating func note(_ record: TraceRecord, machine: Machine) {
    for effect in record.effects { note(effect, at: record.instant) }
    if record.to != record.from { phases.append(record.to) }
    if case .ignored(let reason) = record.disposition { ignored.append(reason) }
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

  private mutating func note(_ effect: Effect, at instant: Instant) {
    switch effect {
    case .openTransport(_, let endpoint): dials.append((instant, endpoint))
    case .sendPing: pings.append(instant)
    case .requestCredentials: requests += 1
    case .startSession(_, let resuming): sessions.append(resuming ? "resumed" : "fresh")
    case .ended(let epoch, let cause): ends.append("\(epoch) \(cause)")
    case .closeTransport, .abortTransport, .sendBeat, .transmit, .settle, .pressureChanged: break
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
