/// Keeps the messages of a lane that has an outbox and waits outside of the machine: recovered
/// ones, those for which the lane has no room, and those that a close has left. Confined to the
/// loop.
struct OutboxDesk {
  let outbox: any Outbox
  let lane: LaneID
  // By number, the lowest first.
  private var kept: [Offer]

  init(_ outbox: any Outbox, for lane: LaneID) {
    self.outbox = outbox
    self.lane = lane
    kept = outbox.recovered.map {
      Offer(message: $0.message, lane: lane, ticket: SendTicket(number: $0.number))
    }
  }

  var isEmpty: Bool { kept.isEmpty }

  /// Adds a message in its place.
  mutating func add(_ offer: Offer) {
    let place =
      kept.lastIndex { ($0.ticket?.number ?? 0) < (offer.ticket?.number ?? 0) }.map { $0 + 1 } ?? 0
    kept.insert(offer, at: place)
  }

  /// The first that waits; it leaves by ``removeFirst()``.
  var first: Offer? { kept.first }

  mutating func removeFirst() { kept.removeFirst() }

  /// Takes out the message of a ticket, if it waits here.
  mutating func remove(_ ticket: SendTicket) -> Offer? {
    guard let place = kept.firstIndex(where: { $0.ticket === ticket }) else { return nil }
    return kept.remove(at: place)
  }

  /// Takes out all, since the connection is released; the outbox has them still.
  mutating func removeAll() -> [Offer] {
    defer { kept = [] }
    return kept
  }
}
