import ConnectionFSM
import Testing

private let background = Input.lifecycleChanged(.background)
private let foreground = Input.lifecycleChanged(.foreground)
private let device = Input.lifecycleChanged(.suspended)

@Suite("An open link in the background")
struct BackgroundLinkTests {
  private func opened(
    grace: TimeSpan?, drain: TimeSpan = .seconds(6), lanes: [Lane] = [.made(.atMostOnce)],
    resume: TimeSpan? = nil
  ) throws -> Rig {
    Rig.opened(
      try Policy.made(
        closeDeadline: .seconds(4), drainDeadline: drain,
        lifecycle: LifecyclePolicy(backgroundGrace: grace, idleGrace: nil),
        session: resume == nil ? nil : .seconds(5), resumeWindow: resume, lanes: lanes))
  }

  @Test("F53: a policy may keep the link in the background, and pings go on")
  func keeps() throws {
    var rig = try opened(grace: nil)
    #expect(rig.feed(background, at: .seconds(5)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(25))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(rig.phase == .open)
  }

  @Test("F53: after the grace the link is closed in order, and nothing is dialled")
  func grace() throws {
    var rig = try opened(grace: .seconds(10))
    rig.feed(background, at: .seconds(5))
    #expect(rig.machine.nextDeadline == .seconds(15))
    #expect(try rig.serveDeadline().text == "close 1")
    #expect(rig.phase == .closing)
    #expect(rig.transport(.closed(nil), at: .seconds(16)).text == "ended 1 suspended")
    #expect(rig.hold == .background)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("F53: without a grace the link is let go in the very instant")
  func atOnce() throws {
    var rig = try opened(grace: .zero)
    rig.feed(background, at: .seconds(5))
    #expect(rig.machine.nextDeadline == .seconds(5))
    #expect(try rig.serveDeadline().text == "close 1")
  }

  @Test("F53: the return within the grace keeps the link, after a question")
  func returnInTime() throws {
    var rig = try opened(grace: .seconds(10))
    rig.feed(background, at: .seconds(5))
    #expect(rig.feed(foreground, at: .seconds(9)).text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(12), "suspectTimeout, not the heartbeat's")
    rig.transport(.pong(1), at: .seconds(10))
    #expect(rig.machine.nextDeadline == .seconds(35))
    #expect(rig.phase == .open)
  }

  @Test("F53: what waits is flushed before the close, and the close follows the last byte")
  func flush() throws {
    var rig = try opened(grace: .seconds(10), lanes: [.made(.atMostOnce, window: 1)])
    rig.feed(.offerA())
    rig.feed(.offerA())
    rig.feed(background, at: .seconds(5))
    #expect(try rig.serveDeadline().text == "")
    #expect(rig.phase == .closing)
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written, send 1 a2")
    #expect(rig.transport(.written(through: .a(2))).text == "a2 written, close 1")
  }

  @Test("F53: the flush has the drain deadline; at most once is in doubt, at least once waits")
  func flushOverdue() throws {
    var rig = try opened(
      grace: .seconds(10), lanes: [.made(.atMostOnce, window: 1), .made(.atLeastOnce, window: 1)])
    rig.feed(.offerA())
    rig.feed(.offerA())
    rig.feed(.offerB())
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    #expect(rig.machine.nextDeadline == .seconds(21))
    #expect(try rig.serveDeadline().text == "close 1")
    #expect(rig.machine.nextDeadline == .seconds(25))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 suspended, a1 inDoubt")
    #expect(rig.hold == .background)
    #expect(rig.feed(foreground, at: .seconds(30)).text == "dial 2 @0")
    #expect(rig.transport(.opened).text == "send 2 a2, send 2 b1")
  }

  @Test("F53: a message offered while the link closes for a while waits for the next link")
  func offeredMeanwhile() throws {
    var rig = try opened(grace: .zero)
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    let offer = rig.feed(.offerA(), at: .seconds(6))
    #expect(offer.disposition == .taken(.a(1)))
    #expect(offer.text == "")
    #expect(rig.transport(.closed(nil), at: .seconds(7)).text == "ended 1 suspended")
    rig.feed(foreground, at: .seconds(60))
    #expect(rig.transport(.opened).text == "send 2 a1")
  }

  @Test("F53: one offered while the flush still runs goes out with it, within its deadline")
  func offeredInFlush() throws {
    var rig = try opened(grace: .zero, lanes: [.made(.atMostOnce, window: 2)])
    rig.feed(.offerA())
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    #expect(rig.feed(.offerA(), at: .seconds(6)).text == "send 1 a2")
    #expect(rig.machine.nextDeadline == .seconds(11))
    #expect(rig.transport(.written(through: .a(2))).text == "a1-a2 written, close 1")
  }

  @Test("F53, I1: close while the link is let go is close: what waits is cancelled, none dials")
  func closeMeanwhile() throws {
    var rig = try opened(grace: .zero)
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    rig.feed(.offerA())
    #expect(rig.feed(.close).disposition == .accepted)
    #expect(rig.feed(.offerA()).disposition == .rejected(.closed))
    #expect(rig.transport(.closed(nil)).text == "ended 1 suspended, a1 cancelled")
    #expect(rig.closed == "requested closedByUser")
    #expect(rig.feed(foreground).text == "")
  }

  @Test("F53: a device about to sleep lets the link go at once where the background does")
  func suspendedDevice() throws {
    var rig = try opened(grace: .seconds(10))
    rig.feed(device, at: .seconds(5))
    #expect(rig.machine.nextDeadline == .seconds(5))
    #expect(try rig.serveDeadline().text == "close 1")
    rig.transport(.closed(nil))
    #expect(rig.hold == .device)
  }

  @Test("F53: a device that falls asleep in the grace has none left")
  func suspendedInGrace() throws {
    var rig = try opened(grace: .seconds(10))
    rig.feed(background, at: .seconds(5))
    rig.feed(device, at: .seconds(7))
    #expect(try rig.serveDeadline().text == "close 1")
    #expect(rig.now == .seconds(7))
  }

  @Test("F53: a link that the user opened in the background has the whole grace from its open")
  func openedInBackground() throws {
    var rig = Rig(
      try Policy.made(lifecycle: LifecyclePolicy(backgroundGrace: .seconds(10), idleGrace: nil)))
    rig.feed(background)
    rig.feed(.connect(here), at: .seconds(3600))
    rig.transport(.opened, at: .seconds(3601))
    #expect(rig.machine.nextDeadline == .seconds(3611))
    #expect(try rig.serveDeadline().text == "close 1")
  }

  @Test("F53, I9: connect while the link is let go dials when it is gone, though in background")
  func connectMeanwhile() throws {
    var rig = try opened(grace: .zero)
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    #expect(rig.feed(.connect(here), at: .seconds(6)).disposition == .accepted)
    let step = rig.transport(.closed(nil), at: .milliseconds(6_100))
    #expect(step.text == "ended 1 suspended, dial 2 @0")
  }

  @Test("F04, F49: connect elsewhere while the link is let go resumes no session there")
  func connectElsewhereMeanwhile() throws {
    var rig = try opened(grace: .zero, resume: .seconds(300))
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    rig.feed(.connect(elsewhere), at: .seconds(6))
    rig.feed(foreground)
    rig.transport(.closed(nil), at: .seconds(7))
    #expect(rig.ledger.dials.last?.endpoint == elsewhere)
    #expect(rig.transport(.opened).text == "session 2")
  }

  @Test(
    "F53, F49: the session of a link that was let go is resumed on return, within its window",
    arguments: [(Int64(305), "resume 2"), (306, "session 2")])
  func resumes(seconds: Int64, expected: String) throws {
    var rig = try opened(grace: .zero, resume: .seconds(300))
    rig.feed(background, at: .seconds(5))
    try rig.serveDeadline()
    rig.transport(.closed(nil), at: .seconds(6))
    rig.feed(foreground, at: .seconds(seconds))
    #expect(rig.transport(.opened).text == expected)
  }
}

@Suite("An open link that nobody needs")
struct IdleLinkTests {
  private func opened(_ grace: TimeSpan?, backoff: Backoff = .exact) throws -> Rig {
    Rig.opened(
      try Policy.made(
        backoff: backoff, lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: grace)))
  }

  @Test("F53: a link that nobody needs is closed after its grace, and none is dialled")
  func idleClose() throws {
    var rig = try opened(.seconds(8))
    #expect(rig.feed(.demandChanged(false), at: .seconds(5)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(13))
    #expect(try rig.serveDeadline().text == "close 1")
    #expect(rig.transport(.closed(nil)).text == "ended 1 suspended")
    #expect(rig.hold == .noDemand)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("F53: a policy may keep a link that nobody needs")
  func kept() throws {
    var rig = try opened(nil)
    rig.feed(.demandChanged(false), at: .seconds(5))
    #expect(rig.machine.nextDeadline == .seconds(25))
  }

  @Test("F53: demand that is back within the grace keeps the link, and asks nobody")
  func backInTime() throws {
    var rig = try opened(.seconds(8))
    rig.feed(.demandChanged(false), at: .seconds(5))
    #expect(rig.feed(.demandChanged(true), at: .seconds(12)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(25))
    rig.feed(.demandChanged(false), at: .seconds(20))
    #expect(rig.machine.nextDeadline == .seconds(25))
    rig.transport(.received(byteCount: 1))
    #expect(rig.machine.nextDeadline == .seconds(28), "each loss of demand has its own grace")
  }

  @Test("F53: demand that is back while the link closes dials as soon as that is over")
  func backWhileClosing() throws {
    var rig = try opened(.seconds(8))
    rig.feed(.demandChanged(false), at: .seconds(5))
    try rig.serveDeadline()
    #expect(rig.feed(.demandChanged(true), at: .seconds(14)).text == "")
    #expect(rig.phase == .closing)
    #expect(rig.transport(.closed(nil), at: .seconds(15)).text == "ended 1 suspended, dial 2 @0")
  }

  @Test("F53, I19: a peer that never answers the idle close is cut at the close deadline")
  func cut() throws {
    var rig = try opened(.seconds(8))
    rig.feed(.demandChanged(false), at: .seconds(5))
    try rig.serveDeadline()
    rig.feed(.demandChanged(true), at: .seconds(14))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 suspended, dial 2 @0")
    #expect(rig.now == .seconds(18))
  }

  @Test("F53: of two graces the one that ends first counts")
  func both() throws {
    var rig = Rig.opened(
      try Policy.made(
        lifecycle: LifecyclePolicy(backgroundGrace: .seconds(10), idleGrace: .seconds(8))))
    rig.feed(background, at: .seconds(1))
    #expect(rig.machine.nextDeadline == .seconds(11))
    rig.feed(.demandChanged(false), at: .seconds(2))
    #expect(rig.machine.nextDeadline == .seconds(10))
  }

  @Test("F12: a link that was stable before it was let go has its failures forgotten")
  func pardon() throws {
    var rig = Rig(
      try Policy.made(
        backoff: .exact.limited(to: 4),
        lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: .zero)))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.opened)
    rig.feed(.demandChanged(false), at: rig.now + .seconds(11))
    try rig.serveDeadline()
    rig.transport(.closed(nil))
    rig.feed(.demandChanged(true))
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }

  @Test("F12: one that was let go before it was stable has them still")
  func noPardon() throws {
    var rig = Rig(
      try Policy.made(
        backoff: .exact.limited(to: 9),
        lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: .zero)))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.opened)
    rig.feed(.demandChanged(false), at: rig.now + .seconds(9))
    try rig.serveDeadline()
    rig.transport(.closed(nil), at: rig.now + .seconds(3))
    rig.feed(.demandChanged(true))
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(16))
  }
}

@Suite("Waking")
struct WakeTests {
  private let keep = LifecyclePolicy(backgroundGrace: nil, idleGrace: nil)

  @Test("F53, RC204: the return to the foreground asks the peer, who has the short time")
  func verify() throws {
    var rig = Rig.opened(try Policy.made(lifecycle: keep))
    rig.feed(background, at: .seconds(5))
    #expect(rig.feed(foreground, at: .seconds(9)).text == "ping 1 #1")
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(12))
    #expect(try rig.redial() == .seconds(16))
  }

  @Test("F53: a device that wakes in the background asks the peer too")
  func wakeInBackground() throws {
    var rig = Rig.opened(try Policy.made(lifecycle: keep))
    rig.feed(device, at: .seconds(5))
    #expect(rig.feed(background, at: .seconds(9)).text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(12))
  }

  @Test(
    "F53, RC118: an hour of sleep costs one question, whichever news comes first, and no storm",
    arguments: [true, false])
  func hourOfSleep(timerComesFirst: Bool) throws {
    var rig = Rig.opened(try Policy.made(beat: nil, lifecycle: keep))
    rig.feed(device, at: .seconds(5))
    let wake: [Input] = [.deadlineReached, foreground]
    for input in timerComesFirst ? wake : wake.reversed() { rig.feed(input, at: .seconds(3605)) }
    #expect(rig.ledger.pings == 1)
    #expect(rig.machine.nextDeadline == .seconds(3608))
    try rig.run(until: .seconds(3615))
    #expect(rig.ledger.pings == 1)
    #expect(rig.ledger.ends.count == 1)
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("F53: an hour of sleep with a question open asks once more, and an answer keeps the link")
  func asleepWhileAsked() throws {
    var rig = Rig.opened(try Policy.made(lifecycle: keep))
    try rig.serveDeadline()
    rig.feed(device, at: .seconds(26))
    rig.feed(foreground, at: .seconds(3626))
    rig.feed(.deadlineReached)
    #expect(rig.ledger.pings == 2)
    rig.transport(.pong(1), at: .milliseconds(3_626_100))
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .milliseconds(3_651_100))
  }

  @Test("F53: an hour of sleep in a backoff is one dial on waking")
  func asleepInBackoff() throws {
    var rig = Rig(try Policy.made(lifecycle: keep))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    rig.feed(device, at: .seconds(1))
    rig.feed(foreground, at: .seconds(3601))
    rig.feed(.deadlineReached)
    #expect(rig.ledger.dials.count == 2)
    #expect(rig.phase == .connecting)
  }
}
