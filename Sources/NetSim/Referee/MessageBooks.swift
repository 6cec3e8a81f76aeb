import ConnectionFSM

/// The referee's own account of every message: taken, given to a transport, ended exactly once
/// (I11).
struct MessageBooks: Sendable {
  private struct Entry: Sendable {
    let id: MessageID
    let byteCount: UInt32
    let offeredAt: Instant
    var everSent = false
    var inFlight = false
  }

  private var lanes: [[Entry]]
  private let rules: [Lane]

  init(policy: Policy) {
    rules = policy.lanes
    lanes = Array(repeating: [], count: policy.lanes.count)
  }

  mutating func offered(
    _ disposition: Disposition, lane: LaneID, byteCount: UInt32, at now: Instant
  ) throws(Violation) {
    guard case .taken(let id) = disposition else { return }
    let index = Int(lane.rawValue)
    guard id.lane == lane, id > (lanes[index].last?.id ?? MessageID(lane: lane, sequence: 0)) else {
      throw Violation("I22", "\(id) was given out of order")
    }
    lanes[index].append(Entry(id: id, byteCount: byteCount, offeredAt: now))
  }

  mutating func transmitted(_ range: MessageRange) throws(Violation) {
    let index = Int(range.first.lane.rawValue)
    guard let next = lanes[index].firstIndex(where: { !$0.inFlight }) else {
      throw Violation("I11", "sent \(range), where nothing waits")
    }
    guard range.contains(lanes[index][next].id) else {
      throw Violation("I11", "sent \(range) before \(lanes[index][next].id)")
    }
    for place in lanes[index].indices where range.contains(lanes[index][place].id) {
      guard !lanes[index][place].inFlight else {
        throw Violation("I22", "sent \(lanes[index][place].id) twice on one link")
      }
      if lanes[index][place].everSent, rules[index].delivery == .atMostOnce {
        throw Violation("F47", "sent \(lanes[index][place].id) again, at most once")
      }
      lanes[index][place].inFlight = true
      lanes[index][place].everSent = true
    }
  }

  mutating func settled(
    _ range: MessageRange, as outcome: Outcome, after input: Input, at now: Instant
  ) throws(Violation) {
    let index = Int(range.first.lane.rawValue)
    let ended = lanes[index].filter { range.contains($0.id) }
    guard !ended.isEmpty else { throw Violation("I11", "\(range) \(outcome): nothing ended") }
    for entry in ended { try judge(entry, as: outcome, after: input, rule: rules[index], at: now) }
    lanes[index].removeAll { range.contains($0.id) }
  }

  private func judge(
    _ entry: Entry, as outcome: Outcome, after input: Input, rule: Lane, at now: Instant
  ) throws(Violation) {
    let id = entry.id
    let isRight: Bool
    switch outcome {
    case .written:
      isRight = entry.inFlight && rule.delivery == .atMostOnce && input.reports(.written, of: id)
    case .acknowledged:
      isRight =
        entry.inFlight && rule.delivery == .atLeastOnce && input.reports(.acknowledged, of: id)
    case .expired:
      guard let timeToLive = rule.timeToLive else { throw Violation("I11", "\(id) never expires") }
      isRight = !entry.everSent && now - entry.offeredAt >= timeToLive
    case .evicted, .cancelled: isRight = !entry.everSent
    case .inDoubt: isRight = entry.everSent
    }
    if !isRight { throw Violation("I11", "\(id) ended as \(outcome), which it did not") }
  }

  /// The link is gone: what must wait again does; the rest must have ended in the same step.
  mutating func linkIsGone() {
    for index in lanes.indices where rules[index].delivery == .atLeastOnce {
      for place in lanes[index].indices { lanes[index][place].inFlight = false }
    }
  }

  func compare(with machine: Machine) throws(Violation) {
    for index in lanes.indices {
      let (waiting, inFlight) = machine.pendingCount(in: LaneID(UInt8(index)))
      let flying = lanes[index].count { $0.inFlight }
      guard inFlight == flying, waiting == lanes[index].count - flying else {
        throw Violation(
          "I11",
          "lane \(index) holds \(waiting) + \(inFlight), the books \(lanes[index].count - flying)"
            + " + \(flying)")
      }
      for (place, entry) in lanes[index].enumerated() {
        let id = machine.message(place, in: LaneID(UInt8(index)))
        guard id == entry.id else {
          throw Violation("I11", "the machine holds \(id) and the books \(entry.id)")
        }
      }
    }
  }

  func requireNothingLeft() throws(Violation) {
    for lane in lanes {
      if let left = lane.first { throw Violation("I11", "\(left.id) has no end after the close") }
    }
  }

  /// Adds what decides how the messages may end; that the machine holds the same ones was seen.
  func add(to form: inout CanonicalForm, at now: Instant) {
    for index in lanes.indices {
      for entry in lanes[index] {
        form.add(entry.byteCount, bits: 4)
        form.add(entry.inFlight)
        form.add(entry.everSent)
        guard !entry.everSent, let timeToLive = rules[index].timeToLive else { continue }
        form.add(entry.offeredAt, before: now, limit: timeToLive)
      }
    }
  }

  /// The messages of a range that live, oldest first.
  func live(in range: MessageRange) -> [MessageID] {
    lanes[Int(range.first.lane.rawValue)].map(\.id).filter { range.contains($0) }
  }
}

extension Input {
  fileprivate func reports(_ outcome: Outcome, of id: MessageID) -> Bool {
    switch self {
    case .transport(_, .written(let through)):
      outcome == .written && through.lane == id.lane && id <= through
    case .transport(_, .acknowledged(let through)):
      outcome == .acknowledged && through.lane == id.lane && id <= through
    case .connect, .close, .offer, .cancel, .demandChanged, .lifecycleChanged, .pathChanged,
      .deadlineReached, .credentials, .transport, .session:
      false
    }
  }
}
