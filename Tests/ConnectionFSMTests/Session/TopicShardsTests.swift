import ConnectionFSM
import Testing

@Suite("Session: topic shards")
struct TopicShardsTests {
  @Test("F50: topics go to the shard with the fewest, and to a new one when all are full")
  func spreads() throws {
    var shards = try TopicShards(2, topicsPerShard: 2)
    #expect(["a", "b", "c", "d", "e"].map { shards.assign($0).shard } == [0, 1, 0, 1, 2])
    #expect(shards.loads == [2, 2, 1])
  }

  @Test("F50: a topic stays where it is, however many want it, until nobody does")
  func counted() throws {
    var shards = try TopicShards(2, topicsPerShard: 2)
    let first = shards.assign("a")
    #expect(first.shard == 0 && first.isNew)
    _ = shards.assign("b")
    let second = shards.assign("a")
    #expect(second.shard == 0 && !second.isNew)
    let early = shards.release("a")
    #expect(early == nil && shards.shard(of: "a") == 0)
    let last = shards.release("a")
    #expect(last == 0 && shards.shard(of: "a") == nil)
    let again = shards.release("a")
    #expect(again == nil)
    #expect(shards.loads == [0, 1])
  }

  @Test("F50: room that was freed is used before a new shard")
  func frees() throws {
    var shards = try TopicShards(1, topicsPerShard: 2)
    for topic in ["a", "b", "c"] { _ = shards.assign(topic) }
    shards.drop("a")
    let next = shards.assign("d")
    #expect(next.shard == 0)
    #expect(shards.loads == [2, 1])
  }

  @Test("F50: for any storm of topics no shard is above its maximum, and counts are those held")
  func storm() throws {
    var walk = Walk(seed: 5)
    var shards = try TopicShards(2, topicsPerShard: 7)
    var wanted: [String: (shard: Int, count: Int)] = [:]
    for _ in 1...20_000 {
      let topic = "t\(walk.below(60))"
      if walk.chance(50) {
        let assignment = shards.assign(topic)
        let before = wanted[topic]
        if before != nil { try #require(assignment.shard == before?.shard) }
        try #require(assignment.isNew == (before == nil))
        wanted[topic] = (assignment.shard, (before?.count ?? 0) + 1)
      } else {
        let freed = shards.release(topic)
        let count = wanted[topic]?.count ?? 0
        try #require(freed == (count == 1 ? wanted[topic]?.shard : nil))
        if count == 1 { wanted[topic] = nil } else { wanted[topic]?.count -= 1 }
      }
      for (shard, load) in shards.loads.enumerated() {
        try #require(load <= 7 && load == wanted.values.filter { $0.shard == shard }.count)
      }
    }
    #expect(shards.loads.count <= 60 / 7 + 2)
  }

  @Test("measures that cannot work are refused by name", arguments: [(0, 1), (1, 0), (10_001, 1)])
  func invalid(shards: Int, topics: Int) {
    #expect(throws: PolicyError.self) { try TopicShards(shards, topicsPerShard: topics) }
  }
}
