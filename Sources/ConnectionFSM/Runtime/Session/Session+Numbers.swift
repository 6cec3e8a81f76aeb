// The numbers of a topic's messages: what comes twice is dropped, what is missing is fetched (F51).
//
// The numbers belong to the topic and not to the link: during a rollover two links bring the same
// ones, and whichever is first is delivered.

extension Session {
  /// A message without a number. Where two links bring it, nothing tells the one from the other, so
  /// that those of the open link alone count.
  func published(
    _ message: Message, of topic: String, on place: Int, into actions: inout [SessionAction]
  ) {
    guard wanted.contains(topic), openEpoch == nil || openEpoch == links[place].epoch
    else { return }
    actions.append(.deliver(message, topic: topic))
  }

  mutating func published(
    _ message: Message, _ number: UInt64, of topic: String, on place: Int, at now: Instant,
    into actions: inout [SessionAction]
  ) {
    guard wanted.contains(topic) else { return }
    let isNext: Bool
    if let last = lastNumbers[topic] {
      isNext = number > last && number - last == 1
      if !isNext, !beginsAnew(topic, after: last, on: place) {
        if number > last { missed(topic, after: last, through: number, on: place) }
        return
      }
    }
    deliver(message, number, of: topic, on: place, at: now, into: &actions)
  }

  /// The whole of a topic: what comes next is one above it, whatever was missing.
  mutating func snapshot(
    _ message: Message, _ number: UInt64, of topic: String, on place: Int, at now: Instant,
    into actions: inout [SessionAction]
  ) {
    guard wanted.contains(topic) else { return }
    if let last = lastNumbers[topic], number <= last, lagsBehind(topic, on: place) { return }
    deliver(message, number, of: topic, on: place, at: now, into: &actions)
  }

  private mutating func deliver(
    _ message: Message, _ number: UInt64, of topic: String, on place: Int, at now: Instant,
    into actions: inout [SessionAction]
  ) {
    lastNumbers[topic] = number
    for other in links.indices { links[other].advance(topic, isHere: other == place) }
    gaps.fill(topic, through: number, at: now)
    actions.append(.deliver(message, topic: topic))
  }

  /// Whether a number that is out of the row begins a new one: where nothing can be recovered, a
  /// new subscription goes on from wherever the peer is.
  private func beginsAnew(_ topic: String, after last: UInt64, on place: Int) -> Bool {
    (links[place].asked[topic] ?? .fresh) == .fresh
      && !isCarried(topic, besides: place)
      && dialect.recover(topic, after: last) == nil
  }

  /// Whether a snapshot of old would take the consumer back: another link was or is ahead. From a
  /// link that was alone it means that the peer counts anew.
  private func lagsBehind(_ topic: String, on place: Int) -> Bool {
    links[place].asked[topic] == .joining || isCarried(topic, besides: place)
  }

  func isCarried(_ topic: String, besides place: Int) -> Bool {
    links.indices.contains { $0 != place && links[$0].asked.contains(topic) }
  }
}

// MARK: Gaps

extension Session {
  private mutating func missed(
    _ topic: String, after last: UInt64, through number: UInt64, on place: Int
  ) {
    guard gaps[topic] == nil else { return gaps.widen(topic, through: number) }
    // Of the others one has nothing to say yet, and one has been replaced: the next message, or the
    // link that took over, shows the gap too.
    guard links[place].takesChanges else { return }
    if dialect.recover(topic, after: last) != nil {
      gaps.open(topic, through: number, filledBy: links[place].epoch)
      gaps.ask(topic)
    } else if !isCarried(topic, besides: place) {
      gaps.open(topic, through: number, filledBy: links[place].epoch)
      renew(topic)
    }
    // Else the other link lags behind, and brings it still.
  }

  /// Has a topic with a gap ended and asked for anew; the next message begins the row.
  mutating func renew(_ topic: String) {
    guard let gap = gaps[topic] else { return }
    guard let place = place(of: gap.epoch), links[place].renew(topic) else {
      return gaps.close(topic)
    }
  }
}
