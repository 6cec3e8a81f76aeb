import ConnectionFSM
import Testing

@Suite("Queue: bounds")
struct QueueBoundsTests {
  private func made(_ lane: Lane) throws -> Rig {
    Rig(try Policy.made(heartbeat: nil, lanes: [lane]))
  }

  @Test("I21: a lane that rejects is full at its count, and room comes with each end")
  func rejectByCount() throws {
    var rig = try made(.made(.atLeastOnce, countLimit: 2, overflow: .reject, window: 1))
    rig.feed(.offerA())
    rig.feed(.offerA())
    #expect(rig.feed(.offerA()).disposition == .rejected(.full))
    rig.feed(.connect(here))
    rig.transport(.opened)
    #expect(rig.feed(.offerA()).disposition == .rejected(.full), "what flies counts too")
    rig.transport(.acknowledged(through: .a(1)))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(3)))
    #expect(rig.feed(.cancel(.a(3))).disposition == .accepted)
    #expect(rig.feed(.offerA()).disposition == .taken(.a(4)))
  }

  @Test("I21: bytes are bounded to the byte")
  func rejectByBytes() throws {
    var rig = try made(.made(.atMostOnce, byteLimit: 100, overflow: .reject))
    #expect(rig.feed(.offerA(101)).disposition == .rejected(.tooLarge))
    #expect(rig.feed(.offerA(100)).disposition == .taken(.a(1)))
    #expect(rig.feed(.offerA(1)).disposition == .rejected(.full))
    #expect(rig.feed(.offerA(0)).disposition == .taken(.a(2)))
    rig.feed(.cancel(.a(1)))
    #expect(rig.feed(.offerA(60)).disposition == .taken(.a(3)))
    #expect(rig.feed(.offerA(41)).disposition == .rejected(.full))
    #expect(rig.feed(.offerA(40)).disposition == .taken(.a(4)))
  }

  @Test("F46: a lane that is open only with the link rejects in every other phase")
  func whileOpen() throws {
    var lane = Lane.made(.atMostOnce)
    lane.admission = .whileOpen
    var rig = Rig(try Policy.made(heartbeat: nil, session: .seconds(5), lanes: [lane]))
    #expect(rig.feed(.offerA()).disposition == .rejected(.notOpen), "idle")
    rig.feed(.connect(here))
    #expect(rig.feed(.offerA()).disposition == .rejected(.notOpen), "connecting")
    rig.transport(.opened)
    #expect(rig.feed(.offerA()).disposition == .rejected(.notOpen), "authenticating")
    rig.feed(.session(Epoch(1), .ready))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(1)), "open")
    rig.transport(.writabilityChanged(false))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(2)), "open, and waits for room")
    rig.transport(.failed(.system(.connectionReset)))
    #expect(rig.feed(.offerA()).disposition == .rejected(.notOpen), "backing off")
    rig.feed(.close)
    #expect(rig.feed(.offerA()).disposition == .rejected(.closed), "closed")
  }

  @Test("the largest sizes do not overflow")
  func largest() throws {
    for overflow in [Lane.Overflow.reject, .dropOldest] {
      var rig = try made(
        .made(.atMostOnce, countLimit: 1 << 24, byteLimit: .max, overflow: overflow, window: .max))
      #expect(rig.feed(.offerA(.max)).disposition == .taken(.a(1)))
      let next = rig.feed(.offerA(.max))
      switch overflow {
      case .reject: #expect(next.disposition == .rejected(.full))
      case .dropOldest: #expect(next.text == "a1 evicted")
      }
    }
  }

  @Test("a lane that drops the oldest makes room by count, one for one")
  func dropByCount() throws {
    var rig = try made(.made(.atMostOnce, countLimit: 3, overflow: .dropOldest))
    for _ in 1...3 { rig.feed(.offerA()) }
    let step = rig.feed(.offerA())
    #expect(step.disposition == .taken(.a(4)))
    #expect(step.text == "a1 evicted")
    rig.feed(.cancel(.a(3)))
    #expect(rig.feed(.offerA()).text == "")
    #expect(rig.feed(.offerA()).text == "a2 evicted")
  }

  @Test("a lane that drops the oldest makes room by bytes, as few as will do")
  func dropByBytes() throws {
    var rig = try made(.made(.atMostOnce, byteLimit: 10, overflow: .dropOldest))
    for size in [3, 3, 4] as [UInt32] { rig.feed(.offerA(size)) }
    #expect(rig.feed(.offerA(5)).text == "a1-a2 evicted")
    #expect(rig.feed(.offerA(1)).text == "")
    #expect(rig.feed(.offerA(10)).text == "a3-a5 evicted")
    let tooLarge = rig.feed(.offerA(11))
    #expect(tooLarge.disposition == .rejected(.tooLarge))
    #expect(tooLarge.text == "")
  }

  @Test("what flies is never evicted: no room can be made, and nothing is dropped for it")
  func flyingStays() throws {
    var rig = try made(
      .made(.atMostOnce, byteLimit: 10, overflow: .dropOldest, window: 1))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.offerA(6))
    rig.feed(.offerA(4))
    #expect(rig.feed(.offerA(4)).text == "a2 evicted")
    let step = rig.feed(.offerA(5))
    #expect(step.disposition == .rejected(.full))
    #expect(step.text == "")
  }

  @Test("evicting what was sent before and waits again leaves it in doubt")
  func evictSent() throws {
    var rig = try made(
      .made(.atLeastOnce, countLimit: 2, overflow: .dropOldest, window: 1))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.offerA())
    rig.feed(.offerA())
    rig.transport(.failed(.lost))
    #expect(rig.feed(.offerA()).text == "a1 inDoubt")
    #expect(rig.feed(.offerA()).text == "a2 evicted")
  }

  @Test("memory and bounds follow what lives, however many came and went")
  func churn() throws {
    var rig = try made(.made(.atMostOnce, countLimit: 3, byteLimit: 30))
    rig.feed(.offerA(10))
    for round in 0..<3000 as Range<UInt64> {
      #expect(rig.feed(.offerA(10)).disposition == .taken(.a(2 * round + 2)))
      #expect(rig.feed(.offerA(10)).disposition == .taken(.a(2 * round + 3)))
      rig.feed(.cancel(.a(2 * round + 2)))
      rig.feed(.cancel(.a(2 * round + 3)))
    }
    #expect(rig.machine.pendingCount(in: LaneID(0)) == (waiting: 1, inFlight: 0))
  }
}

@Suite("Queue: time to live")
struct TimeToLiveTests {
  private func made(_ delivery: Lane.Delivery, window: UInt32 = 100) throws -> Rig {
    let lane = Lane.made(
      delivery, timeToLive: .seconds(20), countLimit: 4, overflow: .reject, window: window)
    return Rig(try Policy.made(heartbeat: nil, lanes: [lane, .made(.atMostOnce)]))
  }

  @Test("F46: a message expires at its time to live, not one nanosecond before")
  func exact() throws {
    var rig = try made(.atMostOnce)
    rig.feed(.offerA(), at: .seconds(3))
    rig.feed(.offerB(), at: .seconds(3))
    #expect(rig.machine.nextDeadline == .seconds(23))
    let early = rig.feed(.deadlineReached, at: .seconds(23) + .nanoseconds(-1))
    #expect(early.disposition == .ignored(.early))
    #expect(try rig.serveDeadline().text == "a1 expired")
    #expect(rig.machine.nextDeadline == nil, "lane b has no time to live")
  }

  @Test("F46: of several, those expire whose time has come")
  func several() throws {
    var rig = try made(.atMostOnce)
    for second in 0...3 { rig.feed(.offerA(), at: .seconds(Int64(second))) }
    rig.feed(.cancel(.a(2)))
    #expect(rig.feed(.deadlineReached, at: .seconds(22)).text == "a1-a3 expired")
    #expect(rig.machine.nextDeadline == .seconds(23))
  }

  @Test("what flies does not expire")
  func flying() throws {
    var rig = try made(.atMostOnce, window: 1)
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.offerA(), at: .seconds(1))
    rig.feed(.offerA(), at: .seconds(2))
    #expect(rig.machine.nextDeadline == .seconds(22))
    #expect(try rig.serveDeadline().text == "a2 expired")
    #expect(rig.transport(.written(through: .a(1)), at: .seconds(90)).text == "a1 written")
  }

  @Test("what was sent, waits again and outlives its time is in doubt; the rest has expired")
  func sentBefore() throws {
    var rig = try made(.atLeastOnce, window: 1)
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.offerA(), at: .seconds(1))
    rig.feed(.offerA(), at: .seconds(1))
    rig.feed(.lifecycleChanged(.background))
    rig.transport(.failed(.lost), at: .seconds(2))
    #expect(try rig.serveDeadline().text == "a1 inDoubt, a2 expired")
    #expect(rig.now == .seconds(21))
  }

  @Test("a message whose time passed before a late timer fired is not sent when the link opens")
  func lateOpen() throws {
    var rig = try made(.atMostOnce)
    rig.feed(.connect(here))
    rig.feed(.offerA(), at: .seconds(1))
    rig.feed(.offerA(), at: .seconds(9))
    #expect(rig.transport(.opened, at: .seconds(25)).text == "a1 expired, send 1 a2")
  }

  @Test("… nor when the transport takes messages again, or reports one")
  func lateWritable() throws {
    var rig = try made(.atMostOnce, window: 1)
    rig.feed(.connect(here))
    rig.transport(.opened)
    for _ in 1...3 { rig.feed(.offerA()) }
    let step = rig.transport(.written(through: .a(1)), at: .seconds(20))
    #expect(step.text == "a2-a3 expired, a1 written")
    rig.transport(.writabilityChanged(false))
    rig.feed(.offerA())
    #expect(rig.transport(.writabilityChanged(true), at: .seconds(40)).text == "a4 expired")
  }

  @Test("a message that has outlived its time holds no place against a new one")
  func lateOffer() throws {
    var rig = try made(.atMostOnce)
    for _ in 1...4 { rig.feed(.offerA()) }
    let step = rig.feed(.offerA(), at: .seconds(20))
    #expect(step.disposition == .taken(.a(5)))
    #expect(step.text == "a1-a4 expired")
    #expect(rig.machine.nextDeadline == .seconds(40))
  }

  @Test("the worst case of a late timer stays within the bound of one transition's effects")
  func worstCase() throws {
    let lane = Lane.made(.atLeastOnce, timeToLive: .seconds(20), countLimit: 9, window: 1)
    var rig = Rig.opened(
      try Policy.made(heartbeat: nil, lanes: Array(repeating: lane, count: 4)))
    rig.feed(.lifecycleChanged(.background))
    for lane in 0..<4 as Range<UInt8> {
      for _ in 1...2 { rig.feed(.offer(LaneID(lane), byteCount: 1)) }
    }
    rig.transport(.failed(.lost))
    rig.feed(.connect(here))
    for lane in 0..<4 as Range<UInt8> {
      rig.feed(.offer(LaneID(lane), byteCount: 1), at: .seconds(5))
    }
    #expect(rig.transport(.opened, at: .seconds(21)).effects.count == 12)
  }
}

@Suite("Size")
struct SizeTests {
  @Test("a machine is at most 384 bytes, and an unused queue owns no memory")
  func machine() { #expect(MemoryLayout<Machine>.size <= 384, "\(MemoryLayout<Machine>.size)") }
}
