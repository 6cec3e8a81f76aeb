import ConnectionFSM
import Testing

/// Lane a holds 10 messages and 100 bytes, one of them with the transport.
private let narrow = Lane.made(
  .atLeastOnce, timeToLive: .seconds(20), countLimit: 10, byteLimit: 100, window: 1)

@Suite("Queue: a payload replaced while it waits")
struct CoalescingTests {
  private func made(_ lane: Lane = narrow) throws -> Rig {
    Rig(try Policy.long(lanes: [lane]))
  }

  @Test("F46: what is replaced keeps its place and its age; only the bytes change")
  func placeAndAge() throws {
    var rig = try made()
    rig.feed(.offerA(10), at: .seconds(1))
    rig.feed(.offerA(10), at: .seconds(2))
    rig.feed(.offerA(10), at: .seconds(3))
    let step = rig.feed(.resized(.a(1), byteCount: 50), at: .seconds(9))
    #expect(step.disposition == .accepted && step.effects.isEmpty)
    #expect(rig.machine.nextDeadline == .seconds(21), "its age is that of the offer")
    #expect(rig.feed(.offerA(31)).disposition == .rejected(.full))
    #expect(rig.feed(.offerA(30)).disposition == .taken(.a(4)))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 a1", "its place is the first")
    #expect(rig.transport(.failed(.lost), at: .seconds(20)).text == "ended 1 brokenPipe")
    #expect(try rig.serveDeadline().text == "a1 inDoubt")
    #expect(rig.now == .seconds(21))
  }

  @Test("F46: a smaller payload gives its room back")
  func smaller() throws {
    var rig = try made()
    rig.feed(.offerA(100))
    #expect(rig.feed(.offerA(1)).disposition == .rejected(.full))
    #expect(rig.feed(.resized(.a(1), byteCount: 0)).disposition == .accepted)
    #expect(rig.feed(.offerA(100)).disposition == .taken(.a(2)))
    #expect(rig.feed(.cancel(.a(1))).text == "a1 cancelled")
    #expect(rig.feed(.offerA(1)).disposition == .rejected(.full))
  }

  @Test("F46: a payload for which there is no room is refused, to the byte, and nothing changes")
  func noRoom() throws {
    for overflow in [Lane.Overflow.reject, .dropOldest] {
      var rig = try made(
        .made(.atMostOnce, byteLimit: 100, overflow: overflow))
      rig.feed(.offerA(40))
      rig.feed(.offerA(40))
      let before = rig.machine
      for size in [61, 101, UInt32.max] {
        let step = rig.feed(.resized(.a(2), byteCount: size))
        #expect(step.disposition == .ignored(.redundant) && step.effects.isEmpty)
      }
      #expect(rig.machine == before)
      #expect(rig.feed(.resized(.a(2), byteCount: 60)).disposition == .accepted)
    }
  }

  @Test("F46, F47: what flies, flew, ended or never was is not replaced")
  func sent() throws {
    var rig = try made()
    for _ in 1...3 { rig.feed(.offerA(10)) }
    rig.feed(.cancel(.a(3)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    #expect(rig.pending(0) == [1, 1])
    let gone: [MessageID] = [.a(1), .a(3), .a(4), .b(1)]
    for id in gone {
      #expect(rig.feed(.resized(id, byteCount: 1)).disposition == .ignored(.redundant))
    }
    #expect(rig.feed(.resized(.a(2), byteCount: 1)).disposition == .accepted)
    rig.transport(.failed(.lost))
    #expect(rig.pending(0) == [2, 0])
    // The peer may have the old payload: another under its id would be two messages of one name.
    let resized = rig.feed(.resized(.a(1), byteCount: 1))
    #expect(resized.disposition == .ignored(.redundant) && resized.effects.isEmpty)
    #expect(rig.feed(.resized(.a(2), byteCount: 2)).disposition == .accepted)
  }

  @Test("F46: the bytes of a replaced payload are what eviction and settling give back")
  func accounting() throws {
    var rig = try made(
      .made(.atMostOnce, byteLimit: 100, overflow: .dropOldest, window: 1))
    rig.feed(.offerA(10))
    rig.feed(.offerA(10))
    rig.feed(.resized(.a(1), byteCount: 80))
    #expect(rig.feed(.offerA(20)).text == "a1 evicted")
    rig.feed(.resized(.a(2), byteCount: 60))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 a2")
    #expect(rig.feed(.offerA(41)).disposition == .rejected(.full))
    #expect(rig.feed(.offerA(31)).text == "a3 evicted")
    #expect(rig.transport(.written(through: .a(2))).text == "a2 written, send 1 a4")
    #expect(rig.feed(.offerA(69)).disposition == .taken(.a(5)))
    #expect(rig.feed(.offerA(70)).disposition == .rejected(.full))
  }
}

@Suite("Queue: pressure")
struct PressureTests {
  @Test("F38: pressure is told once when the high mark is met, and once at the low one")
  func hysteresis() throws {
    var rig = Rig(try Policy.long(lanes: [.marked(.atMostOnce, high: 4, low: 1)]))
    for _ in 1...3 { #expect(rig.feed(.offerA()).text == "") }
    #expect(rig.feed(.offerA()).text == "pressure a")
    #expect(rig.feed(.offerA()).text == "", "once")
    for id in [1, 2, 3] as [UInt64] {
      #expect(rig.feed(.cancel(.a(id))).text == "a\(id) cancelled")
    }
    #expect(rig.feed(.offerA()).text == "" && rig.pending(0) == [3, 0], "above the low mark yet")
    #expect(rig.feed(.offerA()).text == "", "and no second word at the high one")
    rig.feed(.cancel(.a(4)))
    rig.feed(.cancel(.a(5)))
    #expect(rig.feed(.cancel(.a(6))).text == "a6 cancelled, pressure ")
    #expect(rig.pending(0) == [1, 0])
    for _ in 1...2 { #expect(rig.feed(.offerA()).text == "") }
    #expect(rig.feed(.offerA()).text == "pressure a", "and anew")
  }

  @Test("F38: lanes that cross together are one word, which names all that are under pressure")
  func together() throws {
    let lanes: [Lane] = [
      .marked(.atMostOnce, high: 2, low: 0), .marked(.atLeastOnce, high: 2, low: 0),
      .marked(.atMostOnce, high: 1, low: 0), .made(.atMostOnce),
    ]
    var rig = Rig(try Policy.long(lanes: lanes))
    rig.feed(.offerA())
    rig.feed(.offerB())
    #expect(rig.feed(.offerA()).text == "pressure a")
    #expect(rig.feed(.offerB()).text == "pressure ab")
    #expect(rig.feed(.offer(LaneID(2), byteCount: 1)).text == "pressure abc")
    for _ in 1...9 { #expect(rig.feed(.offer(LaneID(3), byteCount: 1)).text == "") }
    rig.feed(.connect(here))
    let opened = rig.transport(.opened)
    #expect(opened.text == "send 1 a1-a2, send 1 b1-b2, send 1 c1, send 1 d1-d9")
    let failed = rig.transport(.failed(.lost))
    #expect(
      failed.text
        == "ended 1 brokenPipe, a1-a2 inDoubt, c1 inDoubt, d1-d9 inDoubt, pressure b")
    #expect(rig.feed(.close).text == "b1-b2 inDoubt, pressure ")
  }

  @Test("F38: what flies counts, eviction keeps the level, and each kind of end relieves")
  func ends() throws {
    let lane = Lane(
      .atMostOnce, timeToLive: .seconds(20), countLimit: 3, byteLimit: 100, overflow: .dropOldest,
      window: 2, highWater: 3, lowWater: 2)
    var rig = Rig(try Policy.long(lanes: [lane]))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.offerA())
    rig.feed(.offerA())
    #expect(rig.feed(.offerA()).text == "pressure a")
    #expect(rig.feed(.offerA()).text == "a3 evicted", "one goes, one comes: no word")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written, send 1 a4, pressure ")
    #expect(rig.feed(.offerA()).text == "pressure a")
    #expect(try rig.serveDeadline().text == "a5 expired, pressure ")
  }

  @Test("a rejected message presses nothing")
  func rejected() throws {
    var rig = Rig(try Policy.long(lanes: [.marked(.atMostOnce, high: 2, low: 0, countLimit: 1)]))
    rig.feed(.offerA())
    let step = rig.feed(.offerA())
    #expect(step.disposition == .rejected(.full) && step.effects.isEmpty)
  }
}

@Suite("Queue: memory and priority")
struct QueueOrderTests {
  @Test("I21: a queue that was never used owns no heap, however long the machine ran")
  func unused() throws {
    var rig = Rig(try Policy.long(lanes: RandomWalkTests.fourLanes))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.opened)
    rig.feed(.close)
    rig.transport(.closed(nil))
    #expect(rig.machine.queueMemory == (0, 0))
    #expect(rig.feed(.offer(LaneID(4), byteCount: 1)).disposition == .rejected(.closed))
    #expect(rig.machine.queueMemory == (0, 0))
    rig.feed(.connect(here))
    rig.feed(.offerB())
    #expect(rig.machine.queueMemory == (4, 8), "the other lanes own no ring")
  }

  @Test("F46: at the open the first lane goes first, each as far as its window")
  func priority() throws {
    let lanes: [Lane] = [
      .made(.atMostOnce, window: 2), .made(.atLeastOnce, window: 1), .made(.atLeastOnce, window: 9),
    ]
    var rig = Rig(try Policy.long(lanes: lanes))
    for lane in [2, 1, 0] as [UInt8] {
      for _ in 1...3 { rig.feed(.offer(LaneID(lane), byteCount: 1)) }
    }
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 a1-a2, send 1 b1, send 1 c1-c3")
    rig.transport(.acknowledged(through: MessageID(lane: LaneID(2), sequence: 1)))
    #expect(rig.transport(.failed(.lost)).text == "ended 1 brokenPipe, a1-a2 inDoubt")
    try rig.redial()
    #expect(rig.transport(.opened).text == "send 2 a3, send 2 b1, send 2 c2-c3")
  }

  @Test("F50: a paced backlog leaves lane by lane, the first lane's first")
  func pacedPriority() throws {
    let lanes: [Lane] = [
      .made(.atMostOnce, window: 2), .made(.atLeastOnce), .made(.atLeastOnce),
    ]
    let pacing = Pacing(burst: 4, interval: .seconds(1))
    var rig = Rig(try Policy.long(pacing: pacing, lanes: lanes))
    for lane in [2, 1, 0] as [UInt8] {
      for _ in 1...3 { rig.feed(.offer(LaneID(lane), byteCount: 1)) }
    }
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 a1-a2, send 1 b1-b2")
    rig.transport(.written(through: .a(2)))
    #expect(try rig.serveDeadline().text == "send 1 a3, send 1 b3, send 1 c1-c2")
    #expect(try rig.serveDeadline().text == "send 1 c3")
    #expect(rig.now == .seconds(2))
  }
}
