/// The live messages of one lane, oldest first: those in flight, then those that wait.
///
/// One ring with a split: a lane is first in, first out, so what is in flight is always older than
/// what waits, redelivery moves the split back, and settling pops the front. Only live messages
/// have an entry (cancelling closes the gap), so memory is bounded by the lane's count limit
/// whatever came and went.
struct LaneQueue: Sendable {
  struct Entry: Equatable, BitwiseCopyable, Sendable {
    var id: MessageID
    var offeredAt: Instant
    var byteCount: UInt32
  }

  /// What it promises and how much it holds; fixed for life.
  let lane: Lane
  // What follows is written here, and where a machine is restored.

  // A power of two in size; empty until the first message, so an unused lane owns no memory.
  var ring: [Entry] = []
  private var head: UInt32 = 0
  /// How many messages live in the lane.
  var count: UInt32 = 0
  /// How many of them, the oldest, are with the transport.
  var inFlight: UInt32 = 0
  /// How many payload bytes there is room for.
  var bytesLeft: UInt32
  /// The newest message ever taken.
  var lastID: MessageID
  /// The newest message ever given to a transport: up to here an unsettled end is in doubt.
  var sentThrough: MessageID
  /// When the oldest waiting message expires; `never` if none does. Derived at the end of each
  /// change.
  var nextExpiry = Instant.never
  /// What flies was given to the link that drains beside its replacement. The lane moves over once
  /// nothing flies, so that two links never share its order.
  var fliesOnOldLink = false
  /// The lane is above its high water mark, and has not come down to the low one since.
  var isPressed = false

  init(_ id: LaneID, _ lane: Lane) {
    self.lane = lane
    bytesLeft = lane.byteLimit
    lastID = MessageID(lane: id, sequence: 0)
    sentThrough = lastID
  }

  /// How many messages the ring has room for.
  var capacity: Int { ring.count }

  /// The payload bytes of the messages that live in the lane.
  var byteCount: UInt32 { lane.byteLimit &- bytesLeft }

  /// How many messages wait to be given to a transport.
  var waiting: UInt32 { count &- inFlight }

  /// Neighbours in the ring that end together, none in flight.
  private struct Departure {
    var count: UInt32 = 0
    var bytes: UInt32 = 0
    var first: MessageID
    var last: MessageID

    /// None so far; the id stands in their place.
    init(after id: MessageID) { (first, last) = (id, id) }

    @inline(always)
    mutating func add(_ entry: Entry) {
      if count == 0 { first = entry.id }
      last = entry.id
      count &+= 1
      bytes &+= entry.byteCount
    }
  }

  private(set) subscript(place: UInt32) -> Entry {
    get { ring[Int(truncatingIfNeeded: (head &+ place) & mask)] }
    set { ring[Int(truncatingIfNeeded: (head &+ place) & mask)] = newValue }
  }

  @inline(always)
  private mutating func deriveNextExpiry() { nextExpiry = derivedExpiry }

  @inline(always)
  var derivedExpiry: Instant {
    guard waiting > 0, let timeToLive = lane.timeToLive else { return .never }
    return self[inFlight].offeredAt.later(by: timeToLive)
  }

  private var mask: UInt32 { UInt32(truncatingIfNeeded: ring.count) &- 1 }
}

// MARK: Taking and giving

extension LaneQueue {
  /// Takes a message or turns it away; may evict older ones, and gives it to the link if it can.
  @inline(always)
  mutating func offer(
    byteCount newBytes: UInt32, at now: Instant, launchedOn epoch: Epoch?,
    into effects: inout Effects
  ) -> Disposition {
    if count >= lane.countLimit || newBytes > bytesLeft {
      guard newBytes <= lane.byteLimit else { return .rejected(.tooLarge) }
      guard lane.overflow == .dropOldest, makeRoom(for: newBytes, into: &effects) else {
        return .rejected(.full)
      }
    }
    append(byteCount: newBytes, at: now)
    if count >= lane.highWater { isPressed = true }
    if let epoch, inFlight < lane.window, !fliesOnOldLink {
      launchNewest(on: epoch, into: &effects)
    } else if waiting == 1, let timeToLive = lane.timeToLive {
      // The first to wait; behind others it changes nothing.
      nextExpiry = now.later(by: timeToLive)
    }
    return .taken(lastID)
  }

  /// Moves the message just taken into flight. With an open window it is the only one that waits:
  /// any other was launched when it came, or when the window opened.
  @inline(always)
  private mutating func launchNewest(on epoch: Epoch, into effects: inout Effects) {
    inFlight &+= 1
    sentThrough = lastID
    effects.append(.transmit(epoch, MessageRange(lastID, lastID)))
  }

  /// Evicts the oldest waiting messages, as many as must go; none and false if that is too few.
  @inline(never)
  private mutating func makeRoom(for newBytes: UInt32, into effects: inout Effects) -> Bool {
    var evicted = Departure(after: lastID)
    repeat {
      guard evicted.count < waiting else { return false }
      evicted.add(self[inFlight &+ evicted.count])
    } while count &- evicted.count >= lane.countLimit || newBytes > bytesLeft &+ evicted.bytes
    remove(evicted, at: inFlight, as: .evicted, into: &effects)
    deriveNextExpiry()
    return true
  }

  @inline(always)
  private mutating func append(byteCount newBytes: UInt32, at now: Instant) {
    if count == UInt32(truncatingIfNeeded: ring.count) { grow() }
    lastID = lastID.next
    self[count] = Entry(id: lastID, offeredAt: now, byteCount: newBytes)
    count &+= 1
    bytesLeft &-= newBytes
  }

  @inline(never)
  private mutating func grow() {
    let unused = Entry(id: lastID, offeredAt: .origin, byteCount: 0)
    var larger: [Entry] = []
    larger.reserveCapacity(max(8, ring.count * 2))
    for place in 0..<count { larger.append(self[place]) }
    while larger.count < max(8, ring.count * 2) { larger.append(unused) }
    ring = larger
    head = 0
  }

  /// Moves waiting messages into flight, as many as the window admits and no more than `most`.
  /// - Returns: How many.
  @discardableResult
  mutating func launch(
    on epoch: Epoch, atMost most: UInt32 = .max, into effects: inout Effects
  ) -> UInt32 {
    guard inFlight < lane.window, inFlight < count, most > 0, !fliesOnOldLink else { return 0 }
    let launched = min(lane.window &- inFlight, count &- inFlight, most)
    let first = self[inFlight].id
    inFlight &+= launched
    let last = self[inFlight &- 1].id
    if sentThrough < last { sentThrough = last }
    effects.append(.transmit(epoch, MessageRange(first, last)))
    deriveNextExpiry()
    return launched
  }

  /// The payload of a waiting message was replaced: it keeps its place and its age.
  /// - Returns: False if it does not wait here, or the new size has no room.
  mutating func resize(_ id: MessageID, byteCount newBytes: UInt32) -> Bool {
    guard let place = waitingPlace(of: id), id > sentThrough else { return false }
    let oldBytes = self[place].byteCount
    guard newBytes <= bytesLeft &+ oldBytes else { return false }
    self[place].byteCount = newBytes
    bytesLeft = bytesLeft &+ oldBytes &- newBytes
    return true
  }

  /// A replacement took over: what flies stays with the old link.
  mutating func linkReplaced() { fliesOnOldLink = inFlight > 0 }
}

// MARK: Ending

extension LaneQueue {
  /// Ends what is in flight up to an id, if that is the promise of this lane; false if it
  /// ended nothing.
  @inline(always)
  mutating func settle(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome,
    into effects: inout Effects
  ) -> Bool {
    guard lane.delivery == promise, inFlight > 0 else { return false }
    let first = self[0].id
    guard first <= id else { return false }
    var last = first
    repeat {
      let entry = self[0]
      last = entry.id
      bytesLeft &+= entry.byteCount
      head &+= 1
      count &-= 1
      inFlight &-= 1
    } while inFlight > 0 && self[0].id <= id
    if inFlight == 0 { fliesOnOldLink = false }
    noteRelief()
    effects.append(.settle(MessageRange(first, last), outcome))
    return true
  }

  @inline(always)
  private mutating func noteRelief() {
    if isPressed, count <= lane.lowWater { isPressed = false }
  }

  /// The link is gone: what was in flight is in doubt, or waits again in its old order.
  mutating func linkEnded(into effects: inout Effects) {
    switch lane.delivery {
    case .atLeastOnce:
      inFlight = 0
      fliesOnOldLink = false
      deriveNextExpiry()
    case .atMostOnce:
      _ = settle(through: lastID, promise: .atMostOnce, as: .inDoubt, into: &effects)
    }
  }

  /// Ends the waiting messages whose time to live has passed.
  mutating func expire(at now: Instant, into effects: inout Effects) {
    guard let timeToLive = lane.timeToLive else { return }
    let deadline = Instant(nanoseconds: now.nanoseconds - timeToLive.nanoseconds)
    var expired = Departure(after: lastID)
    while expired.count < waiting, self[inFlight &+ expired.count].offeredAt <= deadline {
      expired.add(self[inFlight &+ expired.count])
    }
    remove(expired, at: inFlight, as: .expired, into: &effects)
    deriveNextExpiry()
  }

  /// Takes one waiting message back; false if it does not wait here.
  mutating func cancel(_ id: MessageID, into effects: inout Effects) -> Bool {
    guard let place = waitingPlace(of: id) else { return false }
    var cancelled = Departure(after: lastID)
    cancelled.add(self[place])
    remove(cancelled, at: place, as: .cancelled, into: &effects)
    deriveNextExpiry()
    return true
  }

  private func waitingPlace(of id: MessageID) -> UInt32? {
    var low = inFlight
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].id == id ? low : nil
  }

  /// Ends every waiting message.
  mutating func endWaiting(as outcome: Outcome, into effects: inout Effects) {
    var ended = Departure(after: lastID)
    for place in inFlight..<count { ended.add(self[place]) }
    remove(ended, at: inFlight, as: outcome, into: &effects)
    deriveNextExpiry()
  }

  /// Ends everything.
  mutating func endAll(into effects: inout Effects) {
    inFlight = 0
    fliesOnOldLink = false
    endWaiting(as: .cancelled, into: &effects)
  }

  /// Ends entries that do not fly and closes the gap by moving the older ones up.
  @inline(always)
  private mutating func remove(
    _ removed: Departure, at place: UInt32, as outcome: Outcome, into effects: inout Effects
  ) {
    guard removed.count > 0 else { return }
    reportEnd(of: removed, at: place, as: outcome, into: &effects)
    if place > 0 { closeGap(of: removed.count, at: place) }
    head &+= removed.count
    count &-= removed.count
    bytesLeft &+= removed.bytes
    noteRelief()
  }

  /// Never-sent and in-doubt are different words: what some transport was given before is in doubt,
  /// whatever ends the rest. The ids rise, so what was sent comes first.
  @inline(always)
  private func reportEnd(
    of removed: Departure, at place: UInt32, as outcome: Outcome, into effects: inout Effects
  ) {
    guard removed.first <= sentThrough else {
      return effects.append(.settle(MessageRange(removed.first, removed.last), outcome))
    }
    var sent: UInt32 = 1
    while sent < removed.count, self[place &+ sent].id <= sentThrough { sent &+= 1 }
    effects.append(.settle(MessageRange(removed.first, self[place &+ sent &- 1].id), .inDoubt))
    guard sent < removed.count else { return }
    effects.append(.settle(MessageRange(self[place &+ sent].id, removed.last), outcome))
  }

  private mutating func closeGap(of removed: UInt32, at place: UInt32) {
    for offset in stride(from: Int64(place) - 1, through: 0, by: -1) {
      self[UInt32(offset) + removed] = self[UInt32(offset)]
    }
  }
}

// Equal as queues, wherever their rings begin.
extension LaneQueue: Equatable {
  static func == (left: LaneQueue, right: LaneQueue) -> Bool {
    guard
      left.count == right.count, left.inFlight == right.inFlight,
      left.byteCount == right.byteCount, left.lastID == right.lastID,
      left.sentThrough == right.sentThrough, left.fliesOnOldLink == right.fliesOnOldLink,
      left.isPressed == right.isPressed
    else { return false }
    for place in 0..<left.count {
      let (one, other) = (left[place], right[place])
      guard
        one.id == other.id, one.offeredAt == other.offeredAt,
        one.byteCount == other.byteCount
      else { return false }
    }
    return true
  }
}
