import ConnectionFSM
import Testing

@Suite("Deadlines")
struct DeadlineTests {
  @Test(
    "I4: each phase waits for one instant, derived from its own facts",
    arguments: [
      (Phase.idle, Int64?.none), (.waitingForCredentials, 9), (.connecting, 14),
      (.authenticating, 9), (.open, 29), (.closing, 9), (.closed, nil), (.backingOff, 8),
      (.offline, 64), (.suspended, nil),
    ])
  func derived(phase: Phase, due: Int64?) throws {
    let machine = try Scene(phase).rig.machine
    #expect(machine.nextDeadline == due.map { .seconds($0) })
  }

  @Test("a deadline one nanosecond early does nothing; at its instant it is served, once")
  func exact() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    let due = Instant.seconds(10)
    let early = rig.feed(.deadlineReached, at: due + .nanoseconds(-1))
    #expect(early.disposition == .ignored(.early))
    #expect(rig.feed(.deadlineReached, at: due).text == "abort 1, ended 1 timedOut(connect)")
    #expect(rig.feed(.deadlineReached, at: due).disposition == .ignored(.early))
  }

  @Test("I19: the connect deadline covers the attempt as a whole and is gone once it opened")
  func connectDeadline() throws {
    var rig = Rig(try Policy.made(connectDeadline: .seconds(7), session: .seconds(4)))
    rig.feed(.connect(here), at: .seconds(1))
    rig.transport(.received(byteCount: 1), at: .seconds(6))
    #expect(rig.machine.nextDeadline == .seconds(8))
    rig.transport(.opened, at: .seconds(7))
    #expect(rig.machine.nextDeadline == .seconds(11))
    rig.feed(.session(Epoch(1), .ready), at: .seconds(8))
    #expect(rig.machine.nextDeadline == .seconds(33))
  }

  @Test("RC085, B0.20: the close deadline cuts a peer that never answers, whatever else it sends")
  func closeDeadline() throws {
    var rig = Rig.opened(try Policy.made(closeDeadline: .seconds(3)))
    rig.feed(.close, at: .seconds(1))
    rig.transport(.received(byteCount: 1), at: .seconds(3))
    #expect(rig.machine.nextDeadline == .seconds(4))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 closedByUser")
    #expect(rig.closed == "requested closedByUser")
  }

  @Test("an instant before the last one counts as the last one")
  func clamped() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here), at: .seconds(5))
    rig.transport(.failed(.lost), at: .seconds(2))
    #expect(rig.retryAt == .seconds(9))
    #expect(rig.feed(.deadlineReached, at: .seconds(8)).disposition == .ignored(.early))
    var negative = Rig(try Policy.made())
    negative.feed(.connect(here), at: .seconds(-7))
    #expect(negative.machine.nextDeadline == .seconds(10))
  }

  @Test("the end of time does not trap")
  func endOfTime() throws {
    var rig = Rig(try Policy.made(lanes: [.made(.atLeastOnce, timeToLive: .seconds(20))]))
    let last = Instant(nanoseconds: .max)
    rig.feed(.offerA(), at: last)
    rig.feed(.connect(here), at: last)
    rig.transport(.opened, at: last)
    rig.transport(.failed(.lost), at: last)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("all that is due is served in one call: the verdict, expiry, the next dial")
  func oneCall() throws {
    var rig = Rig(
      try Policy.made(backoff: .none, lanes: [.made(.atMostOnce, timeToLive: .seconds(5))]))
    rig.feed(.connect(here))
    rig.feed(.offerA())
    let step = rig.feed(.deadlineReached, at: .seconds(10))
    #expect(step.text == "abort 1, ended 1 timedOut(connect), a1 expired, dial 2 @0")
    #expect(rig.machine.nextDeadline == .seconds(20))
  }

  @Test("a policy without a session stage has no login deadline, one without a heartbeat none")
  func absentStages() throws {
    var rig = Rig(try Policy.made(heartbeat: nil))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).phase == .open)
    #expect(rig.machine.nextDeadline == nil)
  }
}
