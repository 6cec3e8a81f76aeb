import ConnectionFSM
import Testing

@Suite("Draining before the close")
struct DrainTests {
  /// Open, one message of each lane flies, one waits; drain 7 s, close 5 s.
  private func opened() throws -> Rig {
    let lanes: [Lane] = [.made(.atMostOnce, window: 1), .made(.atLeastOnce, window: 1)]
    var rig = Rig.opened(try Policy.long(drainDeadline: .seconds(7), lanes: lanes))
    for _ in 1...2 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    return rig
  }

  @Test("F39, F46: drain sends what waits and closes at the last acknowledgement")
  func sendsAll() throws {
    var rig = try opened()
    let drain = rig.feed(.drain, at: .seconds(1))
    #expect(drain.disposition == .accepted && drain.effects.isEmpty && drain.phase == .closing)
    #expect(rig.machine.nextDeadline == .seconds(8))
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written, send 1 a2")
    #expect(rig.transport(.acknowledged(through: .b(1))).text == "b1 acknowledged, send 1 b2")
    #expect(rig.transport(.acknowledged(through: .b(2))).text == "b2 acknowledged")
    let last = rig.transport(.written(through: .a(2)), at: .seconds(6))
    #expect(last.text == "a2 written, close 1")
    #expect(rig.machine.nextDeadline == .seconds(11), "the close deadline begins now")
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser")
    #expect(rig.closed == "requested closedByUser")
  }

  @Test("F02: drain of a link with nothing to send closes at once")
  func nothing() throws {
    var rig = Rig.opened(try Policy.long())
    #expect(rig.feed(.drain).text == "close 1")
    #expect(rig.feed(.drain).disposition == .ignored(.redundant))
  }

  @Test("F02: the drain deadline cancels what waits, and the close puts the rest in doubt")
  func deadline() throws {
    var rig = try opened()
    rig.feed(.drain, at: .seconds(1))
    let early = rig.feed(.deadlineReached, at: .seconds(8) + .nanoseconds(-1))
    #expect(early.disposition == .ignored(.early))
    #expect(try rig.serveDeadline().text == "close 1, a2 cancelled, b2 cancelled")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written")
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 closedByUser, b1 inDoubt")
    #expect(rig.now == .seconds(13))
    #expect(rig.closed == "requested closedByUser")
  }

  @Test("F02: close after drain cuts it short; drain after close changes nothing")
  func cutShort() throws {
    var rig = try opened()
    rig.feed(.drain)
    #expect(rig.feed(.drain).disposition == .ignored(.redundant))
    #expect(rig.feed(.close, at: .seconds(2)).text == "close 1, a2 cancelled, b2 cancelled")
    #expect(rig.machine.nextDeadline == .seconds(7))
    #expect(rig.feed(.drain).disposition == .ignored(.redundant))
    #expect(rig.feed(.close).disposition == .ignored(.redundant))
  }

  @Test("I11: offers are turned away while it drains, and taking back the last one ends it")
  func doors() throws {
    var rig = try opened()
    rig.feed(.drain)
    let offer = rig.feed(.offerA())
    #expect(offer.disposition == .rejected(.closed) && offer.effects.isEmpty)
    rig.transport(.written(through: .a(2)))
    rig.transport(.written(through: .a(2)))
    rig.transport(.acknowledged(through: .b(1)))
    rig.transport(.acknowledged(through: .b(2)))
    #expect(rig.phase == .closing && rig.pending(0) == [0, 0] && rig.pending(1) == [0, 0])
    var blocked = try opened()
    blocked.transport(.writabilityChanged(false))
    blocked.transport(.written(through: .a(1)))
    blocked.transport(.acknowledged(through: .b(1)))
    blocked.feed(.drain)
    #expect(blocked.feed(.cancel(.a(2))).text == "a2 cancelled")
    #expect(blocked.feed(.cancel(.b(2))).text == "b2 cancelled, close 1")
  }

  @Test("F02, I1: drain without an open link is close: nothing is sent, nothing dials")
  func notOpen() throws {
    for isDialling in [true, false] {
      var rig = Rig(try Policy.long())
      rig.feed(.offerA())
      rig.feed(.connect(here))
      if !isDialling { rig.transport(.failed(.lost)) }
      let step = rig.feed(.drain)
      #expect(
        step.text == (isDialling ? "abort 1, ended 1 closedByUser, " : "") + "a1 cancelled")
      #expect(rig.closed == "requested closedByUser" && rig.machine.nextDeadline == nil)
    }
  }

  @Test("I8: a link that dies while it drains has ended by our wish, and nothing is sent again")
  func death() throws {
    var rig = try opened()
    rig.feed(.drain)
    let step = rig.transport(.failed(.lost))
    #expect(step.text == "ended 1 closedByUser, a1 inDoubt, a2 cancelled, b1 inDoubt, b2 cancelled")
    #expect(rig.closed == "requested closedByUser" && rig.machine.nextDeadline == nil)
  }

  @Test("connect while it drains: what was given is finished, then a new run dials")
  func connectAgain() throws {
    var rig = try opened()
    rig.feed(.drain)
    #expect(rig.feed(.connect(here)).disposition == .accepted)
    #expect(rig.feed(.connect(elsewhere)).disposition == .accepted)
    rig.transport(.written(through: .a(1)))
    rig.transport(.acknowledged(through: .b(1)))
    rig.transport(.written(through: .a(2)))
    #expect(rig.transport(.acknowledged(through: .b(2))).text == "b2 acknowledged, close 1")
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser, dial 2 @1")
  }
}

@Suite("Pacing of a backlog")
struct PacingTests {
  /// A backlog of seven messages of lane b, dialled; three leave each two seconds.
  private func backlogged(window: UInt32 = 100) throws -> Rig {
    let policy = try Policy.long(
      pacing: Pacing(burst: 3, interval: .seconds(2)),
      lanes: [.made(.atMostOnce), .made(.atLeastOnce, window: window)])
    var rig = Rig(policy)
    for _ in 1...7 { rig.feed(.offerB()) }
    rig.feed(.connect(here))
    return rig
  }

  @Test("F50: a backlog leaves in bursts and ends when nothing waits")
  func bursts() throws {
    var rig = try backlogged()
    #expect(rig.transport(.opened, at: .seconds(1)).text == "send 1 b1-b3")
    #expect(try rig.serveDeadline().text == "send 1 b4-b6")
    #expect(rig.now == .seconds(3))
    #expect(try rig.serveDeadline().text == "send 1 b7")
    #expect(rig.now == .seconds(5) && rig.machine.nextDeadline == nil)
    #expect(rig.feed(.offerB()).text == "send 1 b8", "from now on at once")
    #expect(rig.feed(.offerA()).text == "send 1 a1")
  }

  @Test("F50, RC053, RC059: what is offered meanwhile stays behind the backlog")
  func behind() throws {
    var rig = try backlogged()
    rig.transport(.opened)
    #expect(rig.feed(.offerB()).text == "")
    #expect(rig.transport(.acknowledged(through: .b(3))).text == "b1-b3 acknowledged")
    #expect(try rig.serveDeadline().text == "send 1 b4-b6")
    #expect(try rig.serveDeadline().text == "send 1 b7-b8")
  }

  @Test("F50, F38: a blocked link misses its bursts, and they stay as far apart")
  func blocked() throws {
    var rig = try backlogged()
    rig.transport(.opened)
    rig.transport(.writabilityChanged(false))
    #expect(try rig.serveDeadline().text == "" && rig.now == .seconds(2))
    #expect(rig.transport(.writabilityChanged(true), at: .seconds(3)).text == "")
    #expect(try rig.serveDeadline().text == "send 1 b4-b6" && rig.now == .seconds(4))
  }

  @Test("F50: a window smaller than the burst bounds it; what it lets in waits for the next")
  func window() throws {
    var rig = try backlogged(window: 2)
    #expect(rig.transport(.opened).text == "send 1 b1-b2")
    #expect(rig.transport(.acknowledged(through: .b(2))).text == "b1-b2 acknowledged")
    #expect(try rig.serveDeadline().text == "send 1 b3-b4")
  }

  @Test("F50: pacing begins anew with each link, and not without a backlog")
  func anew() throws {
    var rig = try backlogged()
    rig.transport(.opened)
    rig.transport(.acknowledged(through: .b(1)))
    rig.transport(.failed(.lost), at: .seconds(1))
    try rig.redial()
    #expect(rig.transport(.opened).text == "send 2 b2-b4")
    #expect(rig.machine.nextDeadline == rig.now + .seconds(2))
    var fresh = Rig.opened(try Policy.long(pacing: Pacing(burst: 1, interval: .seconds(2))))
    #expect(fresh.machine.nextDeadline == nil)
    #expect(fresh.feed(.offerA()).text == "send 1 a1" && fresh.feed(.offerA()).text == "send 1 a2")
  }

  @Test("F50: drain lets all that waits go at once")
  func drain() throws {
    var rig = try backlogged()
    rig.transport(.opened)
    #expect(rig.feed(.drain).text == "send 1 b4-b7")
    #expect(rig.machine.nextDeadline == .seconds(7))
  }

  @Test("F50, F02: close sends nothing of the backlog, and cancels it")
  func close() throws {
    var rig = try backlogged()
    rig.transport(.opened)
    #expect(rig.feed(.close).text == "close 1, b4-b7 cancelled")
  }
}
