// What is left of the queue in a snapshot, and how a queue is made of it again.

extension LaneQueue {
  /// What a lane keeps, and nothing that follows from it.
  struct Kept: Equatable, Sendable {
    /// The sequence of the newest message ever taken.
    var newest: UInt64 = 0
    /// The sequence of the newest message ever given to a transport.
    var sentThrough: UInt64 = 0
    var inFlight: UInt32 = 0
    var fliesOnOldLink = false
    var isPressed = false
    /// The live messages, oldest first.
    var entries: [Entry] = []
  }

  var kept: Kept {
    Kept(
      newest: lastID.sequence, sentThrough: sentThrough.sequence, inFlight: inFlight,
      fliesOnOldLink: fliesOnOldLink, isPressed: isPressed,
      entries: (0..<count).map { self[$0] })
  }

  /// A lane as it was.
  init(_ id: LaneID, _ lane: Lane, restoring kept: Kept) throws(SnapshotError) {
    try kept.validate(for: lane)
    self.init(id, lane)
    for entry in kept.entries {
      ring.append(
        Entry(
          id: MessageID(lane: id, sequence: entry.id.sequence), offeredAt: entry.offeredAt,
          byteCount: entry.byteCount))
      bytesLeft -= entry.byteCount
    }
    count = UInt32(kept.entries.count)
    let unused = Entry(id: lastID, offeredAt: .origin, byteCount: 0)
    // Filled up to a power of two, unless no message was there.
    while !ring.isEmpty, ring.count < 8 || ring.count & (ring.count - 1) != 0 {
      ring.append(unused)
    }
    lastID = MessageID(lane: id, sequence: kept.newest)
    sentThrough = MessageID(lane: id, sequence: kept.sentThrough)
    inFlight = kept.inFlight
    fliesOnOldLink = kept.fliesOnOldLink
    isPressed = kept.isPressed
    nextExpiry = derivedExpiry
  }
}

extension SendQueue {
  /// What the lanes keep; none before the first offer.
  var kept: [LaneQueue.Kept] { lanes.map(\.kept) }

  /// A queue as it was; without lanes nothing was ever offered to it.
  init(_ terms: [Lane], restoring kept: [LaneQueue.Kept]) throws(SnapshotError) {
    self.init()
    guard !kept.isEmpty else { return }
    guard kept.count == terms.count else {
      throw SnapshotError("lanes", "must be as many as the policy has, or none")
    }
    for (place, terms) in terms.enumerated() {
      let lane = try LaneQueue(LaneID(UInt8(place)), terms, restoring: kept[place])
      lanes.append(lane)
      if terms.highWater < .max { hasMarks = true }
      if lane.isPressed { pressed.insert(place) }
    }
    nextExpiry = derivedExpiry
  }
}

extension LaneQueue.Kept {
  /// Looks whether a lane with these terms can be so.
  func validate(for lane: Lane) throws(SnapshotError) {
    guard newest < 1 << 61, sentThrough <= newest else {
      throw SnapshotError("lanes", "sent: no message above the newest was sent")
    }
    guard UInt32(entries.count) <= lane.countLimit else {
      throw SnapshotError("lanes", "messages: there are more than the lane's countLimit")
    }
    guard inFlight <= UInt32(entries.count) else {
      throw SnapshotError("lanes", "inFlight: there are more than there are messages")
    }
    var (sequence, time, bytesLeft) = (UInt64(0), Instant.longAgo, lane.byteLimit)
    for entry in entries {
      guard entry.id.sequence > sequence, entry.id.sequence <= newest, entry.offeredAt >= time
      else { throw SnapshotError("lanes", "messages: must rise, up to the newest") }
      guard entry.byteCount <= bytesLeft else {
        throw SnapshotError("lanes", "messages: have more bytes than the lane's byteLimit")
      }
      (sequence, time) = (entry.id.sequence, entry.offeredAt)
      bytesLeft -= entry.byteCount
    }
    guard inFlight == 0 || entries[Int(inFlight) - 1].id.sequence <= sentThrough else {
      throw SnapshotError("lanes", "inFlight: what flies was sent")
    }
  }
}
