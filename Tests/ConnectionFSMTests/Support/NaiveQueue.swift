import ConnectionFSM

/// The queue as anyone would write it: arrays, no ranges, no ring, no thought for speed.
///
/// Written from the promise of ``Lane`` and ``Outcome`` alone; it shares nothing with the core.
struct NaiveQueue {
  struct Item {
    let id: MessageID
    let offeredAt: Instant
    var byteCount: Int
    var wasSent = false
  }

  struct OneLane {
    let rules: Lane
    /// With the link that drains beside its replacement.
    var flyingOnOld: [Item] = []
    var flying: [Item] = []
    var waiting: [Item] = []
    var taken: UInt64 = 0
    var isPressed = false

    var living: [Item] { flyingOnOld + flying + waiting }
  }

  enum Link { case none, open, closing }

  var lanes: [OneLane]
  var link = Link.none
  var isWritable = true
  var isClosed = false
  /// What was sent, in order, and what ended, sorted: of the last operation.
  private(set) var sent: [String] = []
  private(set) var ended: [String] = []

  init(_ lanes: [Lane]) { self.lanes = lanes.map { OneLane(rules: $0) } }

  mutating func begin() { (sent, ended) = ([], []) }

  private mutating func end(_ item: Item, _ outcome: Outcome) {
    let isLie = item.wasSent && [.expired, .evicted, .cancelled].contains(outcome)
    ended.append("\(render(item.id)) \(isLie ? .inDoubt : outcome)")
  }

  mutating func offer(_ lane: LaneID, _ byteCount: Int, at now: Instant) -> String {
    if isClosed || link == .closing { return "rejected(closed)" }
    expire(at: now)
    let index = Int(lane.rawValue)
    guard index < lanes.count else { return finish("rejected(noSuchLane)") }
    let rules = lanes[index].rules
    if byteCount > rules.byteLimit { return finish("rejected(tooLarge)") }
    if isFull(index, byteCount) {
      guard rules.overflow == .dropOldest else { return finish("rejected(full)") }
      let before = lanes[index].waiting
      var evicted: [Item] = []
      while isFull(index, byteCount), !lanes[index].waiting.isEmpty {
        evicted.append(lanes[index].waiting.removeFirst())
      }
      if isFull(index, byteCount) {
        lanes[index].waiting = before
        return finish("rejected(full)")
      }
      for item in evicted { end(item, .evicted) }
      notePressure()
    }
    lanes[index].taken += 1
    let id = MessageID(lane: lane, sequence: lanes[index].taken)
    lanes[index].waiting.append(Item(id: id, offeredAt: now, byteCount: byteCount))
    notePressure()
    return finish("taken \(render(id))")
  }

  private mutating func finish(_ answer: String) -> String {
    launch()
    return answer
  }

  private func isFull(_ index: Int, _ byteCount: Int) -> Bool {
    let living = lanes[index].living
    let rules = lanes[index].rules
    return living.count + 1 > rules.countLimit
      || living.map(\.byteCount).reduce(byteCount, +) > rules.byteLimit
  }

  mutating func launch() {
    guard link == .open, isWritable else { return }
    for index in lanes.indices where lanes[index].flyingOnOld.isEmpty {
      while lanes[index].flying.count < lanes[index].rules.window, !lanes[index].waiting.isEmpty {
        var item = lanes[index].waiting.removeFirst()
        item.wasSent = true
        lanes[index].flying.append(item)
        sent.append(render(item.id))
      }
    }
  }

  mutating func expire(at now: Instant) {
    for index in lanes.indices {
      guard let life = lanes[index].rules.timeToLive else { continue }
      for item in lanes[index].waiting where item.offeredAt + life <= now { end(item, .expired) }
      lanes[index].waiting.removeAll { $0.offeredAt + life <= now }
    }
    notePressure()
  }

  /// When the first waiting message expires.
  var nextExpiry: Instant? {
    lanes.flatMap { lane in
      lane.waiting.compactMap { item in lane.rules.timeToLive.map { item.offeredAt + $0 } }
    }.min()
  }

  mutating func cancel(_ id: MessageID) -> Bool {
    let index = Int(id.lane.rawValue)
    guard index < lanes.count, let place = lanes[index].waiting.firstIndex(where: { $0.id == id })
    else { return false }
    end(lanes[index].waiting.remove(at: place), .cancelled)
    notePressure()
    return true
  }

  mutating func resize(_ id: MessageID, _ byteCount: Int) -> Bool {
    let index = Int(id.lane.rawValue)
    guard index < lanes.count, let place = lanes[index].waiting.firstIndex(where: { $0.id == id }),
      !lanes[index].waiting[place].wasSent
    else { return false }
    let others = lanes[index].living.filter { $0.id != id }.map(\.byteCount).reduce(0, +)
    guard others + byteCount <= lanes[index].rules.byteLimit else { return false }
    lanes[index].waiting[place].byteCount = byteCount
    return true
  }

  /// A mark counts at each change: pressed from the high one on, until down to the low one.
  private mutating func notePressure() {
    for index in lanes.indices {
      let count = lanes[index].living.count
      if count >= lanes[index].rules.highWater { lanes[index].isPressed = true }
      if count <= lanes[index].rules.lowWater { lanes[index].isPressed = false }
    }
  }

  /// The letters of the lanes under pressure.
  var pressed: String {
    zip(["a", "b", "c", "d"], lanes).filter { $0.1.isPressed }.map(\.0).joined()
  }

  mutating func report(_ id: MessageID, _ promise: Lane.Delivery, onOld: Bool) -> Bool {
    let index = Int(id.lane.rawValue)
    guard link != .none, index < lanes.count, lanes[index].rules.delivery == promise
    else { return false }
    let flying = onOld ? \OneLane.flyingOnOld : \.flying
    let done = lanes[index][keyPath: flying].filter { $0.id <= id }
    lanes[index][keyPath: flying].removeAll { $0.id <= id }
    for item in done { end(item, promise == .atMostOnce ? .written : .acknowledged) }
    notePressure()
    if !done.isEmpty { launch() }
    return !done.isEmpty
  }

  mutating func linkOpens() {
    (link, isWritable) = (.open, true)
    launch()
  }

  /// The replacement is open: what flies stays with the old link.
  mutating func takeOver() {
    for index in lanes.indices {
      (lanes[index].flyingOnOld, lanes[index].flying) = (lanes[index].flying, [])
    }
    linkOpens()
  }

  /// What flew beyond its time to live waits again; no link takes it.
  mutating func oldLinkDies(at now: Instant) {
    lose(\.flyingOnOld)
    if link == .open, isWritable { expire(at: now) }
    launch()
  }

  private mutating func lose(_ flying: WritableKeyPath<OneLane, [Item]>) {
    for index in lanes.indices {
      if lanes[index].rules.delivery == .atLeastOnce {
        lanes[index].waiting = lanes[index][keyPath: flying] + lanes[index].waiting
      } else {
        for item in lanes[index][keyPath: flying] { end(item, .inDoubt) }
      }
      lanes[index][keyPath: flying] = []
    }
    notePressure()
  }

  mutating func linkDies() {
    lose(\.flyingOnOld)
    lose(\.flying)
    if link == .closing { endAll() }
    link = .none
  }

  mutating func close() {
    lose(\.flyingOnOld)
    for index in lanes.indices {
      for item in lanes[index].waiting { end(item, .cancelled) }
      lanes[index].waiting = []
    }
    notePressure()
    if link == .open { link = .closing } else { isClosed = true }
  }

  private mutating func endAll() {
    close()
    isClosed = true
  }
}
