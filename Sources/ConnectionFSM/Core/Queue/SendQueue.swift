/// The pending-send queue: up to four lanes, the first served first.
struct SendQueue: Equatable, Sendable {
  static let laneLimit = 4

  // What follows is written here, and where a machine is restored.

  // Made by the first offer: a queue that is never used owns no memory.
  var lanes: [LaneQueue] = []
  /// When the next waiting message expires; `never` if none does. Derived where lanes change, since
  /// the machine asks after every transition, and most of those do not touch the queue.
  var nextExpiry = Instant.never
  /// The lanes that were last said to be under pressure.
  var pressed = LaneSet()
  /// Whether any lane has a high water mark.
  var hasMarks = false

  /// A copy of a lane, to look at; nil before the first offer to any.
  subscript(lane: Int) -> LaneQueue? { lane < lanes.count ? lanes[lane] : nil }

  /// Whether the lane exists.
  @inline(always)
  func has(_ lane: LaneID) -> Bool { Int(lane.rawValue) < lanes.count }
  /// How many lanes and messages there is memory for.
  var memory: (lanes: Int, messages: Int) {
    (lanes.count, lanes.reduce(0) { $0 + $1.capacity })
  }
  /// Whether no message waits.
  var hasNoneWaiting: Bool { lanes.allSatisfy { $0.waiting == 0 } }
  /// Whether no message lives.
  var isEmpty: Bool { lanes.allSatisfy { $0.count == 0 } }
  /// Whether some message was given to the link that drains.
  var fliesOnOldLink: Bool { lanes.contains { $0.fliesOnOldLink } }

  /// How many messages were ever given to a link, redelivery not counted.
  var sentCount: UInt32 {
    lanes.reduce(0) { $0 &+ UInt32(truncatingIfNeeded: $1.sentThrough.sequence) }
  }

  // By pointer: each subscript of an array asks anew whether the array is shared.
  @inline(always)
  private mutating func forEachLane(_ body: (inout LaneQueue) -> Void) {
    var next = Instant.never
    lanes.withUnsafeMutableBufferPointer { lanes in
      for place in lanes.indices {
        body(&lanes[place])
        next = min(next, lanes[place].nextExpiry)
      }
    }
    nextExpiry = next
  }

  /// Does something with a lane that exists.
  @inline(always)
  private mutating func withLane<Result>(
    _ place: Int, _ body: (inout LaneQueue) -> Result
  ) -> Result {
    lanes.withUnsafeMutableBufferPointer { lanes in
      body(&lanes.baseAddress.unsafelyUnwrapped[place])
    }
  }

  /// The expiry that the messages have.
  var derivedExpiry: Instant {
    var next = Instant.never
    for place in lanes.indices { next = min(next, lanes[place].nextExpiry) }
    return next
  }

  /// Whether the expiry that is kept is the one that the messages have.
  var keepsExpiry: Bool {
    lanes.allSatisfy { $0.nextExpiry == $0.derivedExpiry } && nextExpiry == derivedExpiry
  }
}

// MARK: What the machine asks of it

extension SendQueue {
  /// Takes a message or turns it away; may evict older ones, and gives it to the link if it can.
  @inline(always)
  mutating func offer(
    _ id: LaneID, byteCount: UInt32, at now: Instant, launchedOn epoch: Epoch?,
    into effects: inout Effects
  ) -> Disposition {
    let place = Int(id.rawValue)
    var hasNewExpiry = false
    let disposition = withLane(place) { lane in
      let expiry = lane.nextExpiry
      let disposition = lane.offer(
        byteCount: byteCount, at: now, launchedOn: epoch, into: &effects)
      hasNewExpiry = lane.nextExpiry != expiry
      return disposition
    }
    if hasNewExpiry { nextExpiry = derivedExpiry }
    return disposition
  }

  /// Makes the lanes, if they are not there yet; false if this one is none of them.
  @inline(never)
  mutating func make(_ terms: [Lane], for id: LaneID) -> Bool {
    if lanes.isEmpty {
      for (place, lane) in terms.enumerated() {
        lanes.append(LaneQueue(LaneID(UInt8(place)), lane))
        if lane.highWater < .max { hasMarks = true }
      }
    }
    return has(id)
  }

  /// Gives waiting messages to the link, lane by lane, as far as the windows admit.
  @inline(always)
  mutating func launch(on epoch: Epoch, into effects: inout Effects) {
    let hasLaunched = lanes.withUnsafeMutableBufferPointer { lanes in
      var launched: UInt32 = 0
      for place in lanes.indices where lanes[place].waiting > 0 {
        launched |= lanes[place].launch(on: epoch, into: &effects)
      }
      return launched > 0
    }
    if hasLaunched { nextExpiry = derivedExpiry }
  }

  /// Gives so many waiting messages to the link, the first lane's first.
  mutating func launch(on epoch: Epoch, atMost most: UInt32, into effects: inout Effects) {
    var left = most
    forEachLane { lane in left -= lane.launch(on: epoch, atMost: left, into: &effects) }
  }

  /// Ends what the transport reported of a lane with the given promise, and lets the lane give the
  /// link what its window admits now; no other lane has got room.
  /// - Returns: False if it ended nothing.
  @inline(always)
  mutating func settle(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome, onOldLink: Bool,
    launchingOn epoch: Epoch?, into effects: inout Effects
  ) -> Bool {
    let place = Int(id.lane.rawValue)
    guard place < lanes.count else { return false }
    // What flies does not expire, so without a launch there is nothing to derive.
    var hasLaunched = false
    let ended = withLane(place) { lane in
      guard lane.fliesOnOldLink == onOldLink,
        lane.settle(through: id, promise: promise, as: outcome, into: &effects)
      else { return false }
      if let epoch, lane.waiting > 0 {
        lane.launch(on: epoch, into: &effects)
        hasLaunched = true
      }
      return true
    }
    if hasLaunched { nextExpiry = derivedExpiry }
    return ended
  }

  /// The link is gone: at-most-once messages in flight are in doubt, at-least-once ones wait again.
  mutating func linkEnded(into effects: inout Effects) {
    forEachLane { $0.linkEnded(into: &effects) }
  }

  /// A replacement took over: what flies stays with the old link until that ends.
  mutating func linkReplaced() { forEachLane { $0.linkReplaced() } }

  /// The old link is gone; what the new one carries flies on.
  mutating func oldLinkEnded(into effects: inout Effects) {
    forEachLane { if $0.fliesOnOldLink { $0.linkEnded(into: &effects) } }
  }

  /// Takes one waiting message back; false if it does not wait.
  mutating func cancel(_ id: MessageID, into effects: inout Effects) -> Bool {
    let place = Int(id.lane.rawValue)
    guard place < lanes.count, lanes[place].cancel(id, into: &effects) else { return false }
    nextExpiry = derivedExpiry
    return true
  }

  /// Notes the new size of a waiting message; false if it does not wait, or has no room.
  mutating func resize(_ id: MessageID, byteCount: UInt32) -> Bool {
    let place = Int(id.lane.rawValue)
    return place < lanes.count && lanes[place].resize(id, byteCount: byteCount)
  }

  /// Ends every waiting message.
  mutating func endWaiting(as outcome: Outcome, into effects: inout Effects) {
    forEachLane { $0.endWaiting(as: outcome, into: &effects) }
  }

  /// Ends every message there is.
  mutating func endAll(into effects: inout Effects) {
    forEachLane { $0.endAll(into: &effects) }
  }

  /// Ends the waiting messages whose time to live has passed.
  @inline(always)
  mutating func expire(at now: Instant, into effects: inout Effects) {
    guard nextExpiry <= now else { return }
    forEachLane { $0.expire(at: now, into: &effects) }
  }

  /// Tells once of each change of pressure.
  @inline(never)
  mutating func reportPressure(into effects: inout Effects) {
    var now = LaneSet()
    for place in lanes.indices where lanes[place].isPressed { now.insert(place) }
    guard now != pressed else { return }
    pressed = now
    effects.append(.pressureChanged(now))
  }
}
