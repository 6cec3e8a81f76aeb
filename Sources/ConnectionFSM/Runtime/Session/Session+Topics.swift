// Which topics are wanted, and what of that the peer has to be told (F50).

extension Session {
  /// One more wants this topic.
  package mutating func subscribe(
    to topic: String, at now: Instant, into actions: inout [SessionAction]
  ) {
    let count = wanted[topic] ?? 0
    wanted[topic] = count + 1
    if count == 0 { changed(topic) }
    talk(at: now, into: &actions)
  }

  /// One less wants it; without effect where nobody did.
  package mutating func unsubscribe(
    from topic: String, at now: Instant, into actions: inout [SessionAction]
  ) {
    guard let count = wanted[topic] else { return }
    if count > 1 { wanted[topic] = count - 1 } else { drop(topic) }
    talk(at: now, into: &actions)
  }

  /// Nobody wants it any more: neither does anybody care where its numbers were.
  private mutating func drop(_ topic: String) {
    wanted.remove(topic)
    lastNumbers[topic] = nil
    gaps.close(topic)
    changed(topic)
  }

  private mutating func changed(_ topic: String) {
    for place in links.indices where links[place].takesChanges {
      links[place].change(topic, isWanted: wanted.contains(topic))
    }
  }

  // Where nothing is to be confirmed, both words mean nothing.

  mutating func subscribed(_ topics: [String], on place: Int, at now: Instant) {
    guard let timeout = settings.confirmationTimeout else { return }
    for topic in topics { links[place].confirm(topic, at: now, within: timeout) }
  }

  mutating func unsubscribed(_ topics: [String], on place: Int, at now: Instant) {
    guard settings.confirmationTimeout != nil, links[place].takesChanges else { return }
    for topic in topics { links[place].ended(topic, at: now) }
  }

  mutating func topicRefused(
    _ topic: String, because reason: String, on place: Int,
    into actions: inout [SessionAction]
  ) {
    // The link that took over has asked too, and has its own answer.
    guard links[place].takesChanges else { return }
    links[place].forget(topic)
    guard wanted.contains(topic) else { return }
    drop(topic)
    actions.append(.topicRefused(topic, reason: reason))
  }
}
