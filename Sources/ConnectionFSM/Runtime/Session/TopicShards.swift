/// Spreads topics over several connections, for servers that allow only so many on each (F50).
///
/// A topic goes to the shard with the fewest, and stays there until nobody wants it any more: a
/// topic that moved would miss messages on the way. When all shards are full there is one more.
/// Shards are numbered from 0 and do not vanish; an empty one takes the next topics.
public struct TopicShards: Sendable {
  /// How many topics a shard holds at most.
  public let topicsPerShard: Int
  /// How many topics each shard holds.
  public private(set) var loads: [Int]
  private var places: [String: (shard: Int, count: Int)] = [:]

  /// What became of a topic that is wanted.
  public struct Assignment: Equatable, Sendable {
    /// The shard that carries it.
    public let shard: Int
    /// Whether it was not wanted before: subscribe to it there.
    public let isNew: Bool
  }

  /// Makes shards that hold nothing.
  ///
  /// - Parameters:
  ///   - shards: How many there are from the beginning: 1 to 10,000.
  ///   - topicsPerShard: How many topics one holds at most: 1 to 1,000,000. Binance allows 1,024.
  public init(_ shards: Int, topicsPerShard: Int) throws(PolicyError) {
    guard (1...10_000).contains(shards) else {
      throw PolicyError("shards", "must be 1 to 10,000")
    }
    guard (1...1_000_000).contains(topicsPerShard) else {
      throw PolicyError("topicsPerShard", "must be 1 to 1,000,000")
    }
    self.topicsPerShard = topicsPerShard
    loads = Array(repeating: 0, count: shards)
  }

  /// The shard that carries a topic; nil if nobody wants it.
  public func shard(of topic: String) -> Int? { places[topic]?.shard }

  /// One more wants this topic.
  public mutating func assign(_ topic: String) -> Assignment {
    if let place = places[topic] {
      places[topic] = (place.shard, place.count + 1)
      return Assignment(shard: place.shard, isNew: false)
    }
    let shard = leastLoaded
    if shard == loads.count { loads.append(0) }
    loads[shard] += 1
    places[topic] = (shard, 1)
    return Assignment(shard: shard, isNew: true)
  }

  /// One less wants it. The shard on which to end it, if nobody does any more; nil otherwise, also
  /// for one that nobody wanted.
  public mutating func release(_ topic: String) -> Int? {
    guard let place = places[topic] else { return nil }
    guard place.count == 1 else {
      places[topic] = (place.shard, place.count - 1)
      return nil
    }
    return drop(topic)
  }

  /// Nobody has it any more, however many wanted it: the peer refused it. The shard that it was on.
  @discardableResult
  public mutating func drop(_ topic: String) -> Int? {
    guard let place = places.removeValue(forKey: topic) else { return nil }
    loads[place.shard] -= 1
    return place.shard
  }

  /// The first with the fewest; the next number if all are full.
  private var leastLoaded: Int {
    var least = 0
    for shard in loads.indices where loads[shard] < loads[least] { least = shard }
    return loads[least] < topicsPerShard ? least : loads.count
  }
}
