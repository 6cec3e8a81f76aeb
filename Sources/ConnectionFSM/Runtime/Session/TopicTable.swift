/// Something about each of many topics, in the order in which they were put in.
///
/// A dictionary alone would show its hash order in what is sent; an array alone would be searched.
/// What is taken out leaves a hole, and holes are swept before they outnumber the entries, so that
/// a storm of topics that come and go holds no more memory than those that stay.
struct TopicTable<Value> {
  private var places: [String: Int] = [:]
  private var slots: [(topic: String, value: Value)?] = []
  /// Where the first entry is; the end if there is none.
  private var head = 0

  var isEmpty: Bool { places.isEmpty }
  var count: Int { places.count }

  func contains(_ topic: String) -> Bool { places[topic] != nil }

  /// The first entry.
  var first: (topic: String, value: Value)? { isEmpty ? nil : slots[head] }

  /// The topics, in order.
  var topics: [String] { slots[head...].compactMap { $0?.topic } }

  /// What stands with a topic. To set it keeps the place of the topic, or puts it last.
  subscript(topic: String) -> Value? {
    get { places[topic].flatMap { slots[$0]?.value } }
    set {
      guard let newValue else { return remove(topic) }
      if let place = places[topic] {
        slots[place] = (topic, newValue)
      } else {
        places[topic] = slots.count
        slots.append((topic, newValue))
      }
    }
  }

  /// Puts a topic last, also if it has a place.
  mutating func append(_ topic: String, _ value: Value) {
    remove(topic)
    self[topic] = value
  }

  mutating func remove(_ topic: String) {
    guard let place = places.removeValue(forKey: topic) else { return }
    slots[place] = nil
    while head < slots.count, slots[head] == nil { head += 1 }
    if slots.count > 2 * places.count + 16 { sweep() }
  }

  mutating func removeAll() { self = TopicTable() }

  /// Takes out the first topics, at most so many.
  mutating func popFirst(_ limit: Int) -> [String] {
    var topics: [String] = []
    while topics.count < limit, let topic = first?.topic {
      topics.append(topic)
      remove(topic)
    }
    return topics
  }

  private mutating func sweep() {
    slots = slots.filter { $0 != nil }
    head = 0
    for (place, slot) in slots.enumerated() {
      if let slot { places[slot.topic] = place }
    }
  }
}

/// Topics in the order in which they were put in.
typealias TopicList = TopicTable<Void>

extension TopicTable where Value == Void {
  /// Puts a topic last, unless it has a place.
  mutating func insert(_ topic: String) { self[topic] = () }
}
