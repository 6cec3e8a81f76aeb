/// What belongs to live messages, beside the machine that knows only their ids.
///
/// One ring a lane, ordered by sequence, with a hole where a message ended out of order. Holes at
/// the old end are given up at once and the others when the ring is full, so that memory follows
/// the number of live messages and not the distance of their ids.
struct PayloadStore<Payload> {
  private var lanes: [PayloadLane<Payload>]

  init(laneCount: Int) {
    lanes = Array(repeating: PayloadLane(), count: laneCount)
  }

  /// Keeps the payload of a message just taken.
  mutating func insert(_ payload: Payload, for id: MessageID) {
    lanes[Int(id.lane.rawValue)].append(payload, sequence: id.sequence)
  }

  /// Calls the body with the live messages of a range, oldest first.
  func forEach(in range: MessageRange, _ body: (MessageID, Payload, _ isLast: Bool) -> Void) {
    let lane = lanes[Int(range.first.lane.rawValue)]
    if range.first == range.last {
      // Nearly always: a message that is sent at once.
      if let payload = lane.payload(of: range.first.sequence) { body(range.first, payload, true) }
      return
    }
    var found: (id: MessageID, payload: Payload)?
    for place in lane.place(of: range.first.sequence)..<lane.count {
      let entry = lane[place]
      if entry.sequence > range.last.sequence { break }
      guard let payload = entry.payload else { continue }
      if let found { body(found.id, found.payload, false) }
      found = (MessageID(lane: range.first.lane, sequence: entry.sequence), payload)
    }
    if let found { body(found.id, found.payload, true) }
  }

  /// The last message of a lane, oldest first, up to the first that is not meant.
  func lastID(in lane: LaneID, while isMeant: (Payload, UInt64) -> Bool) -> MessageID? {
    let entries = lanes[Int(lane.rawValue)]
    var last: MessageID?
    for place in 0..<entries.count {
      guard let payload = entries[place].payload else { continue }
      guard isMeant(payload, entries[place].sequence) else { break }
      last = MessageID(lane: lane, sequence: entries[place].sequence)
    }
    return last
  }

  /// Puts a payload in the place of a live message's, and gives that.
  mutating func replace(_ payload: Payload, for id: MessageID) -> Payload? {
    lanes[Int(id.lane.rawValue)].replace(payload, sequence: id.sequence)
  }

  /// Takes out the live messages of a range, oldest first; the body must not come back here.
  mutating func removeAll(in range: MessageRange, _ body: (MessageID, Payload) -> Void) {
    let lane = range.first.lane
    lanes[Int(lane.rawValue)].removeAll(
      from: range.first.sequence, through: range.last.sequence
    ) { sequence, payload in body(MessageID(lane: lane, sequence: sequence), payload) }
  }
}

private struct PayloadLane<Payload> {
  struct Entry {
    var sequence: UInt64
    var payload: Payload?
  }

  // A power of two in size; empty until the first message.
  private var ring: [Entry] = []
  private var head = 0
  private(set) var count = 0
  private var live = 0

  subscript(place: Int) -> Entry {
    _read { yield ring[(head &+ place) & (ring.count &- 1)] }
    _modify { yield &ring[(head &+ place) & (ring.count &- 1)] }
  }

  /// The first place whose sequence is not below the given one.
  func place(of sequence: UInt64) -> Int {
    // What ends or is sent is nearly always the oldest or the newest.
    if count == 0 || self[0].sequence >= sequence { return 0 }
    if self[count - 1].sequence <= sequence {
      return self[count - 1].sequence < sequence ? count : count - 1
    }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func payload(of sequence: UInt64) -> Payload? {
    let place = place(of: sequence)
    return place < count && self[place].sequence == sequence ? self[place].payload : nil
  }

  mutating func append(_ payload: Payload, sequence: UInt64) {
    if count == ring.count { makeRoom() }
    count += 1
    live += 1
    self[count - 1] = Entry(sequence: sequence, payload: payload)
  }

  mutating func replace(_ payload: Payload, sequence: UInt64) -> Payload? {
    let place = place(of: sequence)
    guard place < count, self[place].sequence == sequence, let old = self[place].payload else {
      return nil
    }
    self[place].payload = payload
    return old
  }

  private mutating func makeRoom() {
    let capacity = max(8, live * 2 > ring.count ? ring.count * 2 : ring.count)
    var larger: [Entry] = []
    larger.reserveCapacity(capacity)
    for place in 0..<count where self[place].payload != nil { larger.append(self[place]) }
    count = larger.count
    while larger.count < capacity { larger.append(Entry(sequence: 0, payload: nil)) }
    ring = larger
    head = 0
  }

  /// In one pass: older messages may live on, and each hole would be passed again and again.
  mutating func removeAll(
    from first: UInt64, through last: UInt64, _ body: (UInt64, Payload) -> Void
  ) {
    var place = place(of: first)
    while place < count, self[place].sequence <= last {
      if let payload = self[place].payload.take() {
        live -= 1
        body(self[place].sequence, payload)
      }
      place += 1
    }
    giveUpHoles()
  }

  private mutating func giveUpHoles() {
    while count > 0, self[0].payload == nil {
      head = (head &+ 1) & (ring.count &- 1)
      count -= 1
    }
  }
}
