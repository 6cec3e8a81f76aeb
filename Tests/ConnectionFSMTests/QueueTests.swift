import ConnectionFSM
import Testing

@Suite("Queue: ends")
struct QueueEndTests {
  private func opened(_ lanes: Lane...) throws -> Rig {
    Rig.opened(try Policy.made(heartbeat: nil, lanes: lanes))
  }

  @Test("I11: at most once ends as written, once, and a later report is redundant")
  func written() throws {
    var rig = try opened(.made(.atMostOnce))
    #expect(rig.feed(.offerA()).text == "send 1 a1")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written")
    #expect(rig.transport(.written(through: .a(1))).disposition == .ignored(.redundant))
    rig.transport(.failed(.lost))
    #expect(rig.ledger.outcome(.a(1)) == .written)
  }

  @Test("I11: at least once ends as acknowledged; that it was written is no end")
  func acknowledged() throws {
    var rig = try opened(.made(.atMostOnce), .made(.atLeastOnce))
    rig.feed(.offerB())
    #expect(rig.transport(.written(through: .b(1))).disposition == .ignored(.redundant))
    #expect(rig.transport(.acknowledged(through: .b(1))).text == "b1 acknowledged")
  }

  @Test("an acknowledgement is no end of a message that is sent at most once")
  func wrongPromise() throws {
    var rig = try opened(.made(.atMostOnce))
    rig.feed(.offerA())
    let step = rig.transport(.acknowledged(through: .a(1)))
    #expect(step.disposition == .ignored(.redundant))
  }

  @Test("a report ends all of the lane that flies up to its id, and nothing of another lane")
  func prefix() throws {
    var rig = try opened(.made(.atMostOnce), .made(.atLeastOnce))
    for _ in 1...4 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    #expect(rig.transport(.written(through: .a(3))).text == "a1-a3 written")
    #expect(rig.transport(.acknowledged(through: .b(2))).text == "b1-b2 acknowledged")
    #expect(rig.transport(.written(through: .a(2))).disposition == .ignored(.redundant))
  }

  @Test("a report beyond what flies ends only what flies")
  func beyondFlight() throws {
    var rig = try opened(.made(.atMostOnce, window: 2))
    for _ in 1...5 { rig.feed(.offerA()) }
    #expect(rig.transport(.written(through: .a(4))).text == "a1-a2 written, send 1 a3-a4")
    #expect(rig.transport(.written(through: .a(99))).text == "a3-a4 written, send 1 a5")
    #expect(rig.transport(.written(through: .a(99))).text == "a5 written")
  }

  @Test("I11: when the link dies, at most once is in doubt and at least once waits again, in order")
  func linkDies() throws {
    var rig = try opened(.made(.atMostOnce, window: 2), .made(.atLeastOnce, window: 2))
    for _ in 1...4 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    rig.transport(.written(through: .a(1)))
    rig.transport(.acknowledged(through: .b(1)))
    #expect(rig.transport(.failed(.lost)).text == "ended 1 brokenPipe, a2-a3 inDoubt")
    #expect(rig.machine.pendingCount(in: LaneID(1)) == (waiting: 3, inFlight: 0))
    rig.feed(.offerB())
    try rig.redial()
    #expect(rig.transport(.opened).text == "send 2 a4, send 2 b2-b3")
    #expect(rig.transport(.acknowledged(through: .b(3))).text == "b2-b3 acknowledged, send 2 b4-b5")
  }

  @Test("F47: at least once is sent on each new link until the peer confirms it")
  func redelivery() throws {
    var rig = try opened(.made(.atMostOnce), .made(.atLeastOnce))
    for _ in 1...3 { rig.feed(.offerB()) }
    for epoch in 2...6 {
      rig.transport(.failed(.lost))
      try rig.redial()
      #expect(rig.transport(.opened).text == "send \(epoch) b1-b3")
    }
    #expect(rig.transport(.acknowledged(through: .b(3))).text == "b1-b3 acknowledged")
  }

  @Test("close cancels what was never sent, and what flies may still end well")
  func close() throws {
    var rig = try opened(.made(.atMostOnce, window: 1), .made(.atLeastOnce, window: 1))
    for _ in 1...3 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    #expect(rig.feed(.close).text == "close 1, a2-a3 cancelled, b2-b3 cancelled")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written")
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser, b1 inDoubt")
  }

  @Test(
    "what was sent on a dead link and waits again is in doubt, never cancelled, whoever ends it")
  func sentBefore() throws {
    var rig = try opened(.made(.atMostOnce), .made(.atLeastOnce, window: 2))
    for _ in 1...4 { rig.feed(.offerB()) }
    rig.transport(.failed(.lost))
    #expect(rig.feed(.cancel(.b(1))).text == "b1 inDoubt")
    #expect(rig.feed(.cancel(.b(4))).text == "b4 cancelled")
    #expect(rig.feed(.close).text == "b2 inDoubt, b3 cancelled")
  }

  @Test("a terminal failure ends every message, each with its own word")
  func terminal() throws {
    var rig = try opened(.made(.atMostOnce, window: 1), .made(.atLeastOnce, window: 1))
    for _ in 1...2 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    let step = rig.transport(.failed(.fatal))
    #expect(
      step.text == "ended 1 accessDenied, a1 inDoubt, a2 cancelled, b1 inDoubt, b2 cancelled")
  }

  @Test("four full lanes end within the bound of one transition's effects")
  func fourLanes() throws {
    let lane = Lane.made(.atLeastOnce, timeToLive: .seconds(5), countLimit: 3, window: 1)
    let lanes = Array(repeating: lane, count: 4)
    var rig = Rig.opened(
      try Policy.made(backoff: .exact.limited(to: 1), heartbeat: nil, lanes: lanes))
    for lane in 0..<4 as Range<UInt8> {
      for _ in 1...3 { rig.feed(.offer(LaneID(lane), byteCount: 1)) }
    }
    let step = rig.transport(.failed(.lost))
    #expect(step.effects.count == 9)
    #expect(rig.closed == "exhausted brokenPipe")
  }
}

@Suite("Queue: order and flow")
struct QueueFlowTests {
  private func made(_ lanes: Lane...) throws -> Rig {
    Rig(try Policy.made(heartbeat: nil, lanes: lanes))
  }

  private func open(_ rig: inout Rig) -> String {
    rig.feed(.connect(here))
    return rig.transport(.opened).text
  }

  @Test("ids are dense in a lane; what is rejected takes none")
  func ids() throws {
    var rig = try made(.made(.atMostOnce, byteLimit: 10), .made(.atLeastOnce))
    #expect(rig.feed(.offerA(4)).disposition == .taken(.a(1)))
    #expect(rig.feed(.offerA(11)).disposition == .rejected(.tooLarge))
    #expect(rig.feed(.offerB(11)).disposition == .taken(.b(1)))
    #expect(rig.feed(.offerA(6)).disposition == .taken(.a(2)))
    #expect(rig.feed(.offerA(1)).disposition == .rejected(.full))
    #expect(rig.feed(.offer(LaneID(2), byteCount: 1)).disposition == .rejected(.noSuchLane))
    #expect(rig.feed(.offer(LaneID(255), byteCount: 1)).disposition == .rejected(.noSuchLane))
    #expect(rig.feed(.offerA(0)).disposition == .taken(.a(3)))
  }

  @Test("RC053: the backlog goes first, and nothing offered later overtakes it")
  func backlog() throws {
    var rig = try made(.made(.atMostOnce, window: 2))
    for _ in 1...3 { rig.feed(.offerA()) }
    #expect(open(&rig) == "send 1 a1-a2")
    #expect(rig.feed(.offerA()).text == "")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written, send 1 a3")
    #expect(rig.transport(.written(through: .a(3))).text == "a2-a3 written, send 1 a4")
  }

  @Test("the window bounds what flies in each lane")
  func window() throws {
    var rig = try made(.made(.atMostOnce, window: 3), .made(.atLeastOnce, window: 1))
    for _ in 1...5 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    #expect(open(&rig) == "send 1 a1-a3, send 1 b1")
    #expect(rig.machine.pendingCount(in: LaneID(0)) == (waiting: 2, inFlight: 3))
    #expect(rig.machine.pendingCount(in: LaneID(1)) == (waiting: 4, inFlight: 1))
    #expect(rig.machine.pendingCount(in: LaneID(7)) == (waiting: 0, inFlight: 0))
  }

  @Test("F38: a transport that takes no more is given nothing until it does")
  func writability() throws {
    var rig = try made(.made(.atMostOnce))
    _ = open(&rig)
    rig.transport(.writabilityChanged(false))
    for _ in 1...2 { #expect(rig.feed(.offerA()).text == "") }
    #expect(rig.transport(.writabilityChanged(false)).disposition == .ignored(.redundant))
    #expect(rig.transport(.writabilityChanged(true)).text == "send 1 a1-a2")
  }

  @Test("a report of writability does not outlive its link")
  func writabilityOfNewLink() throws {
    var rig = try made(.made(.atMostOnce))
    _ = open(&rig)
    rig.transport(.writabilityChanged(false))
    rig.feed(.offerA())
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "send 2 a1")
  }

  @Test("a cancelled message leaves a hole that is neither sent nor settled")
  func holes() throws {
    var rig = try made(.made(.atLeastOnce))
    for _ in 1...6 { rig.feed(.offerA()) }
    for hole in [2, 4, 5] as [UInt64] {
      #expect(rig.feed(.cancel(.a(hole))).text == "a\(hole) cancelled")
    }
    #expect(rig.feed(.cancel(.a(4))).disposition == .ignored(.redundant))
    #expect(open(&rig) == "send 1 a1-a6")
    #expect(rig.machine.pendingCount(in: LaneID(0)) == (waiting: 0, inFlight: 3))
    #expect(rig.transport(.acknowledged(through: .a(2))).text == "a1 acknowledged")
    #expect(rig.transport(.acknowledged(through: .a(2))).disposition == .ignored(.redundant))
    #expect(rig.transport(.acknowledged(through: .a(5))).text == "a3 acknowledged")
    #expect(rig.transport(.acknowledged(through: .a(6))).text == "a6 acknowledged")
  }

  @Test("what flies cannot be taken back; nor can what ended or never was")
  func cancelInVain() throws {
    var rig = try made(.made(.atMostOnce))
    _ = open(&rig)
    rig.feed(.offerA())
    let unknown = [MessageID.a(1), .a(0), .a(2), .b(1), MessageID(lane: LaneID(3), sequence: 9)]
    for id in unknown {
      #expect(rig.feed(.cancel(id)).disposition == .ignored(.redundant))
    }
    rig.transport(.written(through: .a(1)))
    #expect(rig.feed(.cancel(.a(1))).disposition == .ignored(.redundant))
  }
}
