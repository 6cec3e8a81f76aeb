/// The live messages of one lane, oldest first: those in flight, then those that wait.
///
/// One ring with a split: a lane is first in, first out, so what is in flight is always older than
/// what waits, redelivery moves the split back, and settling pops the front. Only live messages
/// have an entry (cancelling closes the gap), so memory is bounded by the lane's count limit
/// whatever came and went.
struct LaneQueue: Sendable {
  struct Entry: BitwiseCopyable, Sendable {
    var sequence: UInt64
    var offeredAt: Instant
    var byteCount: UInt32
  }

  // A power of two in size; empty until the first message, so an unused lane owns no memory.
  private var ring: [Entry] = []
  private var head: UInt32 = 0
  /// How many messages live in the lane.
  private(set) var count: UInt32 = 0
  /// How many of them, the oldest, are with the transport.
  private(set) var inFlight: UInt32 = 0
  /// Their payload bytes.
  private(set) var byteCount: UInt32 = 0
  /// The sequence of the newest message ever taken.
  private(set) var lastSequence: UInt64 = 0
  /// The highest sequence ever given to a transport: up to here an unsettled end is in doubt.
  private var sentThrough: UInt64 = 0

  /// How many messages wait to be given to a transport.
  var waiting: UInt32 { count &- inFlight }

  /// When the oldest waiting message was offered.
  var oldestWaitingSince: Instant? {
    inFlight < count ? self[inFlight].offeredAt : nil
  }

  private subscript(place: UInt32) -> Entry {
    get { ring[Int(truncatingIfNeeded: (head &+ place) & mask)] }
    set { ring[Int(truncatingIfNeeded: (head &+ place) & mask)] = newValue }
  }

  private var mask: UInt32 { UInt32(truncatingIfNeeded: ring.count) &- 1 }
}

/// The ids of a lane that ended together, in two parts: those that some transport was given before,
/// whose fate is in doubt, and those that never left.
struct Ended {
  var everSent: ClosedRange<UInt64>?
  var neverSent: ClosedRange<UInt64>?
}

// MARK: Taking and giving

extension LaneQueue {
  /// How many waiting messages must go to make room; nil if there is none to be made.
  func evictionsNeeded(for newBytes: UInt32, in lane: Lane) -> UInt32? {
    guard newBytes <= lane.byteLimit else { return nil }
    var live = count
    var bytes = byteCount
    var evictions: UInt32 = 0
    while live >= lane.countLimit || bytes > lane.byteLimit - newBytes {
      guard evictions < waiting else { return nil }
      bytes -= self[inFlight + evictions].byteCount
      live -= 1
      evictions += 1
    }
    return evictions
  }

  /// Takes a message at the end of the lane and returns its sequence. The caller made room.
  mutating func append(byteCount newBytes: UInt32, at now: Instant) -> UInt64 {
    if count == UInt32(truncatingIfNeeded: ring.count) { grow() }
    lastSequence &+= 1
    self[count] = Entry(sequence: lastSequence, offeredAt: now, byteCount: newBytes)
    count &+= 1
    byteCount &+= newBytes
    return lastSequence
  }

  private mutating func grow() {
    let unused = Entry(sequence: 0, offeredAt: .origin, byteCount: 0)
    var larger: [Entry] = []
    larger.reserveCapacity(max(8, ring.count * 2))
    for place in 0..<count { larger.append(self[place]) }
    while larger.count < max(8, ring.count * 2) { larger.append(unused) }
    ring = larger
    head = 0
  }

  /// Moves waiting messages into flight, as many as the window admits, and returns their ids.
  mutating func launch(window: UInt32) -> ClosedRange<UInt64>? {
    guard inFlight < window, inFlight < count else { return nil }
    let launched = min(window &- inFlight, count &- inFlight)
    let first = self[inFlight].sequence
    inFlight &+= launched
    let last = self[inFlight &- 1].sequence
    if sentThrough < last { sentThrough = last }
    return first...last
  }

  /// The messages in flight wait again, in their old order: the link they were given to is gone.
  mutating func returnToWaiting() { inFlight = 0 }
}

// MARK: Ending

extension LaneQueue {
  /// Ends what is in flight up to a sequence and returns those ids; nil if there are none.
  mutating func settle(through sequence: UInt64) -> ClosedRange<UInt64>? {
    guard inFlight > 0 else { return nil }
    let first = self[0].sequence
    guard first <= sequence else { return nil }
    var last = first
    repeat {
      let entry = self[0]
      last = entry.sequence
      byteCount &-= entry.byteCount
      head &+= 1
      count &-= 1
      inFlight &-= 1
    } while inFlight > 0 && self[0].sequence <= sequence
    return first...last
  }

  /// Ends all that is in flight.
  mutating func settleInFlight() -> ClosedRange<UInt64>? { settle(through: .max) }

  /// Ends the oldest waiting messages.
  mutating func dropWaiting(_ dropped: UInt32) -> Ended {
    remove(dropped, at: inFlight)
  }

  /// Ends the waiting messages offered at or before an instant.
  mutating func expire(offeredThrough instant: Instant) -> Ended {
    var expired: UInt32 = 0
    while expired < waiting, self[inFlight + expired].offeredAt <= instant { expired += 1 }
    return dropWaiting(expired)
  }

  /// Ends one waiting message; nil if it does not wait here.
  mutating func cancel(_ sequence: UInt64) -> Ended? {
    var low = inFlight
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    guard low < count, self[low].sequence == sequence else { return nil }
    return remove(1, at: low)
  }

  /// Ends everything.
  mutating func removeAll() -> Ended {
    inFlight = 0
    return remove(count, at: 0)
  }

  /// Removes entries that do not fly and closes the gap by moving the older ones up.
  private mutating func remove(_ removed: UInt32, at place: UInt32) -> Ended {
    var ended = Ended()
    guard removed > 0 else { return ended }
    for offset in place..<place + removed {
      let entry = self[offset]
      byteCount -= entry.byteCount
      if entry.sequence <= sentThrough {
        ended.everSent = (ended.everSent?.lowerBound ?? entry.sequence)...entry.sequence
      } else {
        ended.neverSent = (ended.neverSent?.lowerBound ?? entry.sequence)...entry.sequence
      }
    }
    for offset in stride(from: Int64(place) - 1, through: 0, by: -1) {
      self[UInt32(offset) + removed] = self[UInt32(offset)]
    }
    head &+= removed
    count -= removed
    return ended
  }
}

// Equal as queues, wherever their rings begin.
extension LaneQueue: Equatable {
  static func == (left: LaneQueue, right: LaneQueue) -> Bool {
    guard
      left.count == right.count, left.inFlight == right.inFlight,
      left.byteCount == right.byteCount, left.lastSequence == right.lastSequence,
      left.sentThrough == right.sentThrough
    else { return false }
    for place in 0..<left.count {
      let (one, other) = (left[place], right[place])
      guard one.sequence == other.sequence, one.offeredAt == other.offeredAt else { return false }
    }
    return true
  }
}

#if !hasFeature(Embedded)
  extension LaneQueue: Hashable {
    func hash(into hasher: inout Hasher) {
      hasher.combine(count)
      hasher.combine(inFlight)
      hasher.combine(lastSequence)
      hasher.combine(sentThrough)
      for place in 0..<count { hasher.combine(self[place].sequence) }
    }
  }
#endif
