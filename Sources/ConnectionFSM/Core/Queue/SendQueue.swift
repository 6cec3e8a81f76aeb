/// The pending-send queue: up to four lanes, inline, the first served first.
struct SendQueue: Sendable {
  static let laneLimit = 4

  // Four properties, because the lanes must lie inside the machine: an array would put even an
  // unused queue on the heap. A lane that the policy does not have stays empty for ever.
  private var lane0: LaneQueue
  private var lane1: LaneQueue
  private var lane2: LaneQueue
  private var lane3: LaneQueue
  private let laneCount: UInt8
  /// When the next waiting message expires; `never` if none does. Derived where lanes change, since
  /// the machine asks after every transition, and most of those do not touch the queue.
  private(set) var nextExpiry = Instant.never

  /// Makes an empty queue; the policy has seen to it that there are 1 to 4 lanes.
  init(lanes: [Lane]) {
    laneCount = UInt8(lanes.count)
    let last = lanes.count - 1
    lane0 = LaneQueue(LaneID(0), lanes[0])
    lane1 = LaneQueue(LaneID(1), lanes[min(1, last)])
    lane2 = LaneQueue(LaneID(2), lanes[min(2, last)])
    lane3 = LaneQueue(LaneID(3), lanes[min(3, last)])
  }

  /// A copy, to look at.
  subscript(lane: Int) -> LaneQueue {
    switch lane {
    case 0: lane0
    case 1: lane1
    case 2: lane2
    default: lane3
    }
  }

  // Not a subscript that yields the lane: a coroutine that is not inlined allocates its frame.
  @inline(always)
  private mutating func withLane<Result>(
    _ id: LaneID, _ body: (inout LaneQueue) -> Result
  ) -> Result {
    switch id.rawValue {
    case 0: body(&lane0)
    case 1: body(&lane1)
    case 2: body(&lane2)
    default: body(&lane3)
    }
  }

  @inline(always)
  private mutating func forEachLane(_ body: (inout LaneQueue) -> Void) {
    body(&lane0)
    body(&lane1)
    body(&lane2)
    body(&lane3)
    deriveNextExpiry()
  }

  @inline(always)
  private mutating func deriveNextExpiry() {
    nextExpiry =
      min(min(lane0.nextExpiry, lane1.nextExpiry), min(lane2.nextExpiry, lane3.nextExpiry))
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
    guard id.rawValue < laneCount else { return .rejected(.noSuchLane) }
    let (disposition, hasNewExpiry) = withLane(id) { lane in
      let expiry = lane.nextExpiry
      let disposition = lane.offer(
        byteCount: byteCount, at: now, launchedOn: epoch, into: &effects)
      return (disposition, lane.nextExpiry != expiry)
    }
    if hasNewExpiry { deriveNextExpiry() }
    return disposition
  }

  /// Gives waiting messages to the link, lane by lane, as far as the windows admit.
  @inline(always)
  mutating func launch(on epoch: Epoch, into effects: inout Effects) {
    forEachLane { lane in
      if lane.waiting > 0 { lane.launch(on: epoch, into: &effects) }
    }
  }

  /// Ends what the transport reported of a lane with the given promise; false if it ended nothing.
  @inline(always)
  mutating func settle(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome, into effects: inout Effects
  ) -> Bool {
    // What flies does not expire, so there is nothing to derive.
    withLane(id.lane) { lane in
      lane.settle(through: id, promise: promise, as: outcome, into: &effects)
    }
  }

  /// The link is gone: at-most-once messages in flight are in doubt, at-least-once ones wait again.
  mutating func linkEnded(into effects: inout Effects) {
    forEachLane { $0.linkEnded(into: &effects) }
  }

  /// Takes one waiting message back; false if it does not wait.
  mutating func cancel(_ id: MessageID, into effects: inout Effects) -> Bool {
    let cancelled = withLane(id.lane) { $0.cancel(id, into: &effects) }
    deriveNextExpiry()
    return cancelled
  }

  /// Takes every waiting message back.
  mutating func cancelWaiting(into effects: inout Effects) {
    forEachLane { $0.cancelWaiting(into: &effects) }
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

  /// Whether the expiry that is kept is the one that the messages have.
  var keepsExpiry: Bool {
    let first = min(lane0.derivedExpiry, lane1.derivedExpiry)
    return nextExpiry == min(first, min(lane2.derivedExpiry, lane3.derivedExpiry))
  }
}

extension SendQueue: Equatable {
  static func == (left: SendQueue, right: SendQueue) -> Bool {
    left.lane0 == right.lane0 && left.lane1 == right.lane1 && left.lane2 == right.lane2
      && left.lane3 == right.lane3
  }
}

#if !hasFeature(Embedded)
  extension SendQueue: Hashable {
    func hash(into hasher: inout Hasher) {
      for lane in 0..<Self.laneLimit { hasher.combine(self[lane]) }
    }
  }
#endif
