/// The topics that have missed something, from the first message beyond the gap until it is filled.
struct GapTable {
  struct Gap {
    /// The link that fills it.
    let epoch: Epoch
    /// The highest number that was dropped: whatever fills the gap brings that one again too.
    var through: UInt64
  }

  private var gaps = TopicTable<Gap>()
  /// What is to be asked for.
  private(set) var toAsk = TopicList()
  /// What was asked for, and when it last brought something; the longest ago first.
  private var asked = TopicTable<Instant>()

  var firstAskedAt: Instant? { asked.first?.value }

  subscript(topic: String) -> Gap? { gaps[topic] }

  /// Something is missing; the caller sees to it that it is asked for.
  mutating func open(_ topic: String, through number: UInt64, filledBy epoch: Epoch) {
    gaps[topic] = Gap(epoch: epoch, through: number)
  }

  /// Has the peer asked for what is missing.
  mutating func ask(_ topic: String) { toAsk.insert(topic) }

  mutating func widen(_ topic: String, through number: UInt64) {
    if let gap = gaps[topic], gap.through < number { gaps[topic]?.through = number }
  }

  /// Takes the next topic that is to be asked for.
  mutating func popToAsk(at now: Instant) -> (topic: String, gap: Gap)? {
    guard let topic = toAsk.popFirst(1).first, let gap = gaps[topic] else { return nil }
    asked.append(topic, now)
    return (topic, gap)
  }

  /// A message has come in its turn: the gap is smaller, or closed.
  mutating func fill(_ topic: String, through number: UInt64, at now: Instant) {
    guard let gap = gaps[topic] else { return }
    if number >= gap.through {
      close(topic)
    } else if asked.contains(topic) {
      asked.append(topic, now)
    }
  }

  mutating func close(_ topic: String) {
    gaps.remove(topic)
    toAsk.remove(topic)
    asked.remove(topic)
  }

  /// The link that was to fill them is not asked any more: the next one shows its gaps itself.
  mutating func forget(filledBy epoch: Epoch) {
    for topic in gaps.topics where gaps[topic]?.epoch == epoch { close(topic) }
  }

  /// Takes a topic whose recovery has brought nothing for so long. Its gap stays.
  mutating func popAsked(before now: Instant, _ timeout: TimeSpan) -> String? {
    guard let first = asked.first, now - first.value >= timeout else { return nil }
    asked.remove(first.topic)
    return first.topic
  }
}
