import ConnectionFSM
import Testing

@Suite("Queue against a naive model")
struct QueueModelTests {
  /// A machine and a naive queue that go through the same weather and must agree at every step.
  struct Pair {
    var rig: Rig
    var model: NaiveQueue
    var walk: Walk
    var story: [String] = []

    init(seed: UInt64) throws {
      walk = Walk(seed: seed)
      var lanes: [Lane] = []
      for _ in 0...walk.below(3) { lanes.append(Self.lane(&walk)) }
      // Only the queue's own deadlines may fall into the walk.
      let backoff = Backoff(
        first: .zero, base: .zero, cap: .seconds(1), jitter: .none, stability: .zero,
        attemptLimit: nil)
      rig = Rig(
        try Policy.made(
          connectDeadline: .seconds(1_000_000), closeDeadline: .seconds(1_000_000),
          backoff: backoff, spacing: .zero, heartbeat: nil, lanes: lanes), seed: seed)
      model = NaiveQueue(lanes)
    }

    private static func lane(_ walk: inout Walk) -> Lane {
      .made(
        walk.chance(50) ? .atMostOnce : .atLeastOnce,
        timeToLive: walk.chance(50) ? .milliseconds(Int64(1 + walk.below(3000))) : nil,
        countLimit: UInt32(1 + walk.below(20)), byteLimit: UInt32(1 + walk.below(200)),
        overflow: walk.chance(50) ? .reject : .dropOldest, window: UInt32(1 + walk.below(6)))
    }
  }

  @Test("I11: for any seed the queue ends, sends and keeps what a naive queue does")
  func agrees() throws {
    var tally: [Outcome: Int] = [:]
    for seed in 1...150 as ClosedRange<UInt64> {
      var pair = try Pair(seed: seed)
      for _ in 1...400 {
        guard try pair.step() else {
          Issue.record("seed \(seed): \(pair.story.suffix(12).joined(separator: "\n"))")
          break
        }
      }
      for message in pair.rig.ledger.messages.values {
        if let outcome = message.outcome { tally[outcome, default: 0] += 1 }
      }
    }
    for outcome in Outcome.allCases {
      #expect(tally[outcome, default: 0] > 200, "the walk hardly ever meets \(outcome)")
    }
  }
}

extension QueueModelTests.Pair {
  /// One input to both; false if they disagree.
  mutating func step() throws -> Bool {
    model.begin()
    let living = Set(model.lanes.flatMap { $0.flying + $0.waiting }.map(\.id))
    let (input, answer) = try choose()
    let step = rig.feed(input, at: rig.now)
    story.append("\(input) at \(rig.now.nanoseconds): \(render(step.disposition)), \(step.text)")
    if render(step.disposition) != answer { return differ("answer \(answer)") }
    var sent: [String] = []
    var ended: [String] = []
    for effect in step.effects {
      if case .transmit(_, let range) = effect { sent += each(range, living, step).map(render) }
      if case .settle(let range, let outcome) = effect {
        ended += each(range, living, step).map { "\(render($0)) \(outcome)" }
      }
    }
    if sent != model.sent { return differ("sends \(model.sent)") }
    if ended.sorted() != model.ended.sorted() { return differ("ends \(model.ended)") }
    for (index, lane) in model.lanes.enumerated() {
      let count = rig.machine.pendingCount(in: LaneID(UInt8(index)))
      if count != (lane.waiting.count, lane.flying.count) { return differ("counts of \(index)") }
    }
    if [.open, .idle].contains(rig.phase), rig.machine.nextDeadline != model.nextExpiry {
      return differ("expiry \(String(describing: model.nextExpiry))")
    }
    return true
  }

  private mutating func differ(_ expected: String) -> Bool {
    story.append("expected: \(expected)")
    return false
  }

  /// The ids of a range that lived before this step, or came with it.
  private func each(_ range: MessageRange, _ living: Set<MessageID>, _ step: Step) -> [MessageID] {
    (range.first.sequence...range.last.sequence)
      .map { MessageID(lane: range.first.lane, sequence: $0) }
      .filter { living.contains($0) || step.disposition == .taken($0) }
  }

  /// An input, played to the model already, and the answer the machine must give.
  private mutating func choose() throws -> (Input, String) {
    if let due = rig.machine.nextDeadline, due <= rig.now {
      model.expire(at: rig.now)
      return (.deadlineReached, "accepted")
    }
    switch walk.below(100) {
    case 0..<35: return offer()
    case 35..<45:
      let id = anyID()
      return (.cancel(id), model.cancel(id) ? "accepted" : "redundant")
    case 45..<55: return report(.atMostOnce)
    case 55..<65: return report(.atLeastOnce)
    case 65..<72: return writability()
    case 72..<74: return close()
    case 74..<82: return linkDies()
    default: return wait()
    }
  }

  private mutating func offer() -> (Input, String) {
    let lane = LaneID(UInt8(walk.below(model.lanes.count + 1)))
    let bytes = walk.below(walk.chance(10) ? 250 : 40)
    let answer = model.offer(lane, bytes, at: rig.now)
    return (.offer(lane, byteCount: UInt32(bytes)), answer)
  }

  private mutating func anyID() -> MessageID {
    let lane = walk.below(model.lanes.count)
    let taken = Int(model.lanes[lane].taken)
    return MessageID(
      lane: LaneID(UInt8(lane)), sequence: UInt64(max(0, taken + 2 - walk.below(25))))
  }

  private mutating func report(_ promise: Lane.Delivery) -> (Input, String) {
    let id = anyID()
    let event =
      promise == .atMostOnce
      ? TransportEvent.written(through: id) : .acknowledged(through: id)
    let answer = model.report(id, promise) ? "accepted" : "redundant"
    return (.transport(rig.epoch, event), rig.ledger.live == nil ? "staleEpoch" : answer)
  }

  private mutating func writability() -> (Input, String) {
    guard model.link != .none else { return wait() }
    let value = walk.chance(60)
    let isNews = value != model.isWritable
    model.isWritable = value
    if isNews { model.launch() }
    return (
      .transport(rig.epoch, .writabilityChanged(value)), isNews ? "accepted" : "redundant"
    )
  }

  private mutating func close() -> (Input, String) {
    let isNews = !model.isClosed && model.link != .closing
    if isNews { model.close() }
    return (.close, isNews ? "accepted" : "redundant")
  }

  private mutating func linkDies() -> (Input, String) {
    guard rig.ledger.live != nil else { return wait() }
    model.linkDies()
    return (.transport(rig.epoch, walk.chance(50) ? .closed(nil) : .failed(.lost)), "accepted")
  }

  /// Lets time pass, or moves the link on; a pass of time is an input that counts for nothing.
  private mutating func wait() -> (Input, String) {
    if walk.chance(40) {
      if rig.phase == .closed || rig.phase == .idle {
        model.isClosed = false
        return (.connect(here), "accepted")
      }
      if rig.phase == .connecting {
        model.linkOpens()
        return (.transport(rig.epoch, .opened), "accepted")
      }
    }
    let later = rig.now + .milliseconds(Int64(walk.below(800)))
    rig.advance(to: min(later, rig.machine.nextDeadline ?? later))
    return (.transport(Epoch(0), .opened), "staleEpoch")
  }
}
