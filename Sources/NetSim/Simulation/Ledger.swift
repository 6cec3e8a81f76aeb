import ConnectionFSM

/// What a run has seen so far, for its expectations: messages by label, dials, pings, waits, ends.
struct Ledger: Sendable {
  private struct Message {
    let label: String
    let id: MessageID?
    var end: End?
  }

  private enum End: CustomStringConvertible {
    case outcome(Outcome)
    case rejected(Rejection)

    var description: String {
      switch self {
      case .outcome(let outcome): "\(outcome)"
      case .rejected(let rejection): "rejected(\(rejection))"
      }
    }
  }

  /// The label of the message that is being offered.
  var offered: String?
  private(set) var dials: [(at: Instant, to: EndpointID)] = []
  private(set) var pings: [Instant] = []
  private(set) var waits: [TimeSpan] = []
  private(set) var wire: [String] = []
  private(set) var ends: [(epoch: Epoch, cause: Cause)] = []
  private(set) var phases: [Phase] = []
  private(set) var requests = 0
  private(set) var sessions: [String] = []
  private(set) var ignored: [IgnoreReason] = []

  private var messages: [Message] = []
  // For look-ups alone; what is listed in order is in the arrays.
  private var places: [String: Int] = [:]
  /// The places of a lane's messages: ids are dense.
  private var byLane: [[Int]] = [[], [], [], []]
  /// The messages that have ended, in that order.
  private var ended: [Int] = []

  mutating func note(
    _ disposition: Disposition, _ effects: Effects, from: Phase, to machine: Machine,
    at now: Instant
  ) {
    // By place: to walk through them takes a copy of all.
    for place in effects.indices { note(effects[place], at: now) }
    let to = machine.phase
    if to != from { phases.append(to) }
    if to == .backingOff, from != .backingOff || !effects.isEmpty,
      case .backingOff(let wait) = machine.state
    {
      waits.append(wait.until - now)
    }
    switch disposition {
    case .ignored(let reason): ignored.append(reason)
    case .taken(let id):
      guard let label = offered.take() else { return }
      add(label, id)
    case .rejected(let rejection):
      guard let label = offered.take() else { return }
      end(add(label, nil), .rejected(rejection))
    case .accepted: break
    }
  }

  @discardableResult
  private mutating func add(_ label: String, _ id: MessageID?) -> Int {
    places[label] = messages.count
    if let id { byLane[Int(id.lane.rawValue)].append(messages.count) }
    messages.append(Message(label: label, id: id))
    return messages.count - 1
  }

  private mutating func note(_ effect: Effect, at instant: Instant) {
    switch effect {
    case .openTransport(_, let endpoint): dials.append((instant, endpoint))
    case .sendPing: pings.append(instant)
    case .requestCredentials: requests += 1
    case .startSession(_, let resuming): sessions.append(resuming ? "resumed" : "fresh")
    case .ended(let epoch, let cause): ends.append((epoch, cause))
    case .closeTransport, .abortTransport, .sendBeat, .transmit, .settle, .pressureChanged: break
    }
  }

  private func place(of id: MessageID) -> Int? {
    let lane = byLane[Int(id.lane.rawValue)]
    return id.sequence <= UInt64(lane.count) ? lane[Int(id.sequence) - 1] : nil
  }

  mutating func sent(_ id: MessageID) {
    if let place = place(of: id) { wire.append(messages[place].label) }
  }

  mutating func ended(_ id: MessageID, _ outcome: Outcome) {
    if let place = place(of: id) { end(place, .outcome(outcome)) }
  }

  private mutating func end(_ place: Int, _ end: End) {
    messages[place].end = end
    ended.append(place)
  }

  func id(of label: String) -> MessageID? { places[label].flatMap { messages[$0].id } }

  func knows(_ label: String) -> Bool { places[label] != nil }

  /// Every message that ended and how, in that order.
  var allOutcomes: [String] {
    ended.compactMap { place in
      messages[place].end.map { "\(messages[place].label) \($0)" }
    }
  }

  /// How many messages ended so; every message turned away counts as rejected.
  var endCounts: [(name: String, count: Int)] {
    var counts = Array(repeating: 0, count: Outcome.allCases.count + 1)
    for place in ended {
      switch messages[place].end {
      case .outcome(let outcome): counts[Int(outcome.rawValue)] += 1
      case .rejected, nil: counts[Outcome.allCases.count] += 1
      }
    }
    let names = Self.outcomeNames
    return counts.indices.filter { counts[$0] > 0 }.map { (names[$0], counts[$0]) }
  }

  private static let outcomeNames = Outcome.allCases.map { "\($0)" } + ["rejected"]

  /// How the message ended; `pending` while it lives.
  func outcome(of label: String) -> String? {
    places[label].map { messages[$0].end?.description ?? "pending" }
  }
}
