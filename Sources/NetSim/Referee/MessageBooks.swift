import ConnectionFSM

/// The referee's own account of every message: taken, given to a transport, ended exactly once
/// (I11).
struct MessageBooks: Sendable {
  private struct Entry: Sendable {
    let id: MessageID
    var byteCount: UInt32
    let offeredAt: Instant
    var everSent = false
    /// The link it was given to and has not ended on.
    var link: Epoch?
    var inFlight: Bool { link != nil }
  }

  private var lanes: [[Entry]]
  private let rules: [Lane]
  private let hasPatience: Bool

  init(policy: Policy) {
    rules = policy.lanes
    hasPatience = policy.patience != nil
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

  mutating func transmitted(
    _ range: MessageRange, on epoch: Epoch, at now: Instant
  ) throws(Violation) {
    let index = Int(range.first.lane.rawValue)
    guard let next = lanes[index].firstIndex(where: { !$0.inFlight }) else {
      throw Violation("I11", "sent \(range), where nothing waits")
    }
    guard range.contains(lanes[index][next].id) else {
      throw Violation("I11", "sent \(range) before \(lanes[index][next].id)")
    }
    if let other = lanes[index].first(where: { $0.inFlight && $0.link != epoch }) {
      throw Violation("I22", "sent \(range) on \(epoch) beside \(other.id) on another link")
    }
    for place in lanes[index].indices where range.contains(lanes[index][place].id) {
      guard !lanes[index][place].inFlight else {
        throw Violation("I22", "sent \(lanes[index][place].id) twice on one link")
      }
      if lanes[index][place].everSent, rules[index].delivery == .atMostOnce {
        throw Violation("F47", "sent \(lanes[index][place].id) again, at most once")
      }
      if !lanes[index][place].everSent, let timeToLive = rules[index].timeToLive,
        now - lanes[index][place].offeredAt >= timeToLive
      {
        throw Violation("F47", "sent \(lanes[index][place].id), which had outlived its time")
      }
      lanes[index][place].link = epoch
      lanes[index][place].everSent = true
    }
  }

  mutating func settled(
    _ range: MessageRange, as outcome: Outcome, after input: Input, at now: Instant
  ) throws(Violation) {
    let index = Int(range.first.lane.rawValue)
    // The messages of a range are neighbours, since those between have ended.
    guard let first = lanes[index].firstIndex(where: { range.contains($0.id) }) else {
      throw Violation("I11", "\(range) \(outcome): nothing ended")
    }
    var end = first
    while end < lanes[index].count, range.contains(lanes[index][end].id) {
      try judge(lanes[index][end], as: outcome, after: input, rule: rules[index], at: now)
      end += 1
    }
    lanes[index].removeSubrange(first..<end)
  }

  private func judge(
    _ entry: Entry, as outcome: Outcome, after input: Input, rule: Lane, at now: Instant
  ) throws(Violation) {
    let id = entry.id
    let isRight: Bool
    switch outcome {
    case .written:
      isRight =
        entry.inFlight && rule.delivery == .atMostOnce
        && input.reports(.written, of: id, on: entry.link)
    case .acknowledged:
      isRight =
        entry.inFlight && rule.delivery == .atLeastOnce
        && input.reports(.acknowledged, of: id, on: entry.link)
    case .expired:
      // Or the outage has outlasted the patience.
      let isOver = rule.timeToLive.map { now - entry.offeredAt >= $0 } ?? false
      isRight = !entry.everSent && (isOver || hasPatience)
    case .evicted, .cancelled: isRight = !entry.everSent
    case .inDoubt: isRight = entry.everSent
    }
    if !isRight { throw Violation("I11", "\(id) ended as \(outcome), which it did not") }
  }

  /// The link is gone: what must wait again does; the rest must have ended in the same step.
  mutating func linkIsGone(_ epoch: Epoch) {
    for index in lanes.indices where rules[index].delivery == .atLeastOnce {
      for place in lanes[index].indices where lanes[index][place].link == epoch {
        lanes[index][place].link = nil
      }
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
        guard machine.message(place, in: LaneID(UInt8(index))) == entry.id else {
          throw Violation("I11", "the machine does not hold \(entry.id), which has no end")
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
  func add(to form: inout CanonicalForm) {
    for index in lanes.indices {
      for entry in lanes[index] {
        form.add(Int(entry.byteCount), bits: 4)
        form.add(entry.everSent)
        form.add(entry.inFlight)
        if let link = entry.link { form.add(link) }
        guard !entry.everSent, let timeToLive = rules[index].timeToLive else { continue }
        form.add(entry.offeredAt, before: form.names.now, limit: timeToLive)
      }
    }
  }

  /// The messages of a range that live, oldest first.
  func live(in range: MessageRange) -> [MessageID] {
    lanes[Int(range.first.lane.rawValue)].map(\.id).filter { range.contains($0) }
  }
}

extension Input {
  fileprivate func reports(_ outcome: Outcome, of id: MessageID, on link: Epoch?) -> Bool {
    switch self {
    case .transport(let epoch, .written(let through)):
      outcome == .written && epoch == link && through.lane == id.lane && id <= through
    case .transport(let epoch, .acknowledged(let through)):
      outcome == .acknowledged && epoch == link && through.lane == id.lane && id <= through
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials, .transport, .session:
      false
    }
  }
}
