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
    /// A replacement is wanted and not dialled yet.
    var isReplacing = false
    var takeovers = 0

    init(seed: UInt64) throws {
      walk = Walk(seed: seed)
      var lanes: [Lane] = []
      for _ in 0...walk.below(3) { lanes.append(Self.lane(&walk)) }
      // Only the queue's own deadlines may fall into the walk.
      let backoff = Backoff(
        first: .zero, base: .zero, cap: .seconds(1), jitter: .none, stability: .zero,
        attemptLimit: nil)
      rig = Rig(
        try Policy.long(
          connectDeadline: Self.far, closeDeadline: Self.far, drainDeadline: Self.far,
          backoff: backoff, spacing: .zero, rollover: Rollover(), lanes: lanes), seed: seed)
      model = NaiveQueue(lanes)
    }

    /// Beyond the walk.
    static let far = TimeSpan.seconds(1_000_000)

    private static func lane(_ walk: inout Walk) -> Lane {
      let low = UInt32(walk.below(6))
      return Lane(
        walk.chance(50) ? .atMostOnce : .atLeastOnce,
        timeToLive: walk.chance(50) ? .milliseconds(Int64(1 + walk.below(3000))) : nil,
        countLimit: UInt32(1 + walk.below(20)), byteLimit: UInt32(1 + walk.below(200)),
        overflow: walk.chance(50) ? .reject : .dropOldest, window: UInt32(1 + walk.below(6)),
        highWater: walk.chance(30) ? .max : low + 1 + UInt32(walk.below(9)), lowWater: low)
    }
  }

  @Test("I11: for any seed the queue ends, sends and keeps what a naive queue does")
  func agrees() throws {
    var tally: [Outcome: Int] = [:]
    var takeovers = 0
    for seed in 1...250 as ClosedRange<UInt64> {
      var pair = try Pair(seed: seed)
      for _ in 1...400 {
        guard try pair.step() else {
          Issue.record("seed \(seed): \(pair.story.suffix(12).joined(separator: "\n"))")
          break
        }
      }
      takeovers += pair.takeovers
      for message in pair.rig.ledger.messages.values {
        if let outcome = message.outcome { tally[outcome, default: 0] += 1 }
      }
    }
    #expect(takeovers > 150)
    for outcome in Outcome.allCases {
      #expect(tally[outcome, default: 0] > 200, "the walk hardly ever meets \(outcome)")
    }
  }
}

extension QueueModelTests.Pair {
  /// One input to both; false if they disagree.
  mutating func step() throws -> Bool {
    model.begin()
    let living = Set(model.lanes.flatMap(\.living).map(\.id))
    let pressed = model.pressed
    let (input, answer) = try choose()
    let step = rig.feed(input, at: rig.now)
    story.append("\(input) at \(rig.now.nanoseconds): \(render(step.disposition)), \(step.text)")
    if render(step.disposition) != answer { return differ("answer \(answer)") }
    var sent: [String] = []
    var ended: [String] = []
    var pressures: [String] = []
    for effect in step.effects {
      if case .transmit(_, let range) = effect { sent += each(range, living, step).map(render) }
      if case .settle(let range, let outcome) = effect {
        ended += each(range, living, step).map { "\(render($0)) \(outcome)" }
      }
      if case .pressureChanged(let lanes) = effect { pressures.append(letters(lanes)) }
    }
    if sent != model.sent { return differ("sends \(model.sent)") }
    if pressures != (model.pressed == pressed ? [] : [model.pressed]) {
      return differ("pressure \(model.pressed)")
    }
    if ended.sorted() != model.ended.sorted() { return differ("ends \(model.ended)") }
    for (index, lane) in model.lanes.enumerated() {
      let count = rig.machine.pendingCount(in: LaneID(UInt8(index)))
      if count != (lane.waiting.count, lane.flying.count + lane.flyingOnOld.count) {
        return differ("counts of \(index)")
      }
    }
    let deadline = rig.machine.nextDeadline.flatMap { $0 < .origin + Self.far ? $0 : nil }
    if [.open, .idle].contains(rig.phase), !isReplacing, deadline != model.nextExpiry {
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
      isReplacing = false
      return (.deadlineReached, "accepted")
    }
    switch walk.below(100) {
    case 0..<35: return offer()
    case 35..<38:
      let id = anyID()
      let bytes = walk.below(60)
      let answer = model.resize(id, bytes) ? "accepted" : "redundant"
      return (.resized(id, byteCount: UInt32(bytes)), answer)
    case 38..<46: return replace()
    case 46..<50:
      let id = anyID()
      return (.cancel(id), model.cancel(id) ? "accepted" : "redundant")
    case 50..<56: return report(.atMostOnce)
    case 56..<65: return report(.atLeastOnce)
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
    let old = rig.machine.standby.flatMap { $0.stage == .connecting ? nil : $0.epoch }
    let isOld = old != nil && walk.chance(60)
    guard let epoch = isOld ? old : rig.machine.primary?.epoch else {
      return (.transport(rig.epoch, event), "staleEpoch")
    }
    let answer = model.report(id, promise, onOld: isOld) ? "accepted" : "redundant"
    return (.transport(epoch, event), answer)
  }

  private mutating func writability() -> (Input, String) {
    guard model.link != .none, let primary = rig.machine.primary else { return wait() }
    let value = walk.chance(60)
    let isNews = value != model.isWritable
    model.isWritable = value
    if isNews { model.launch() }
    return (
      .transport(primary.epoch, .writabilityChanged(value)), isNews ? "accepted" : "redundant"
    )
  }

  private mutating func close() -> (Input, String) {
    let isNews = !model.isClosed && model.link != .closing
    if isNews { model.close() }
    return (.close, isNews ? "accepted" : "redundant")
  }

  private mutating func linkDies() -> (Input, String) {
    guard let primary = rig.machine.primary else { return wait() }
    model.linkDies()
    isReplacing = false
    return (.transport(primary.epoch, walk.chance(50) ? .closed(nil) : .failed(.lost)), "accepted")
  }

  /// Moves a planned replacement on: wanted, open, or the end of the old link.
  private mutating func replace() -> (Input, String) {
    guard rig.phase == .open, let primary = rig.machine.primary else { return wait() }
    guard let standby = rig.machine.standby else {
      isReplacing = true
      return (.transport(primary.epoch, .betterPathAvailable), "accepted")
    }
    guard standby.stage == .connecting else {
      model.oldLinkDies(at: rig.now)
      return (
        .transport(standby.epoch, walk.chance(50) ? .closed(nil) : .failed(.lost)), "accepted"
      )
    }
    model.takeOver()
    takeovers += 1
    return (.transport(standby.epoch, .opened), "accepted")
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
