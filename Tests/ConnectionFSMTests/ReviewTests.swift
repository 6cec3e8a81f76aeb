import ConnectionFSM
import Testing

/// Schedules that a reading of the code found, each the smallest that showed the fault.
@Suite("Schedules that broke a promise once")
struct ReviewTests {
  @Test("F12, F54: a link that proved stable is forgiven when its replacement takes over")
  func takeoverForgives() throws {
    var rig = Rig(
      try Policy.long(
        backoff: Backoff(
          first: .seconds(1), base: .seconds(1), cap: .seconds(1), jitter: .none,
          stability: .seconds(10), attemptLimit: 3),
        rollover: Rollover(maxAge: .seconds(100))))
    rig.feed(.connect(here))
    for _ in 1...2 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.opened)
    try rig.serveDeadline()
    rig.transport(4, .opened)
    rig.transport(3, .closed(nil))
    #expect(rig.phase == .open && rig.machine.standby == nil)
    // Had the two failures before stayed on the books, this would be the end.
    #expect(rig.transport(4, .closed(CloseCode(1001))).phase == .backingOff)
  }

  @Test("one late wake may have 17 effects: four lanes over two links, of which one is let go")
  func manyEffects() throws {
    let lane = Lane(
      .atMostOnce, timeToLive: .seconds(20), countLimit: 10, byteLimit: 100, window: 1,
      highWater: 3, lowWater: 2)
    var rig = Rig.opened(
      try Policy(
        drainDeadline: .seconds(30),
        heartbeat: Heartbeat(interval: .seconds(30), timeout: .seconds(10)),
        lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: .seconds(24)),
        rollover: Rollover(maxAge: .seconds(4)), lanes: [lane, lane, lane, lane]))
    let lanes = (0..<4).map { LaneID($0) }
    // The first flies, the second outlives its time, the third is what the new link gets.
    for lane in lanes + lanes { rig.feed(.offer(lane, byteCount: 1)) }
    try rig.serveDeadline()
    rig.transport(2, .opened)
    rig.feed(.demandChanged(false), at: .seconds(10))
    for lane in lanes { rig.feed(.offer(lane, byteCount: 1), at: .seconds(15)) }
    let step = rig.feed(.deadlineReached, at: .milliseconds(34_500))
    #expect(step.effects.count == 17 && step.disposition == .accepted)
    #expect(
      step.text
        == "close 1, a2 expired, b2 expired, c2 expired, d2 expired, ping 2 #1, abort 1, "
        + "ended 1 replaced, a1 inDoubt, b1 inDoubt, c1 inDoubt, d1 inDoubt, "
        + "send 2 a3, send 2 b3, send 2 c3, send 2 d3, pressure ")
    #expect(rig.phase == .closing)
  }

  @Test("I19: a beat does not put off the verdict on the one before it")
  func beatKeepsVerdict() throws {
    let beat = Beat(interval: .seconds(10), answerTimeout: .milliseconds(9_900))
    var rig = Rig.opened(try Policy.made(heartbeat: nil, beat: beat))
    rig.feed(.deadlineReached, at: .milliseconds(10_900))
    #expect(rig.feed(.deadlineReached, at: .seconds(20)).text == "beat 1 #2")
    #expect(rig.machine.nextDeadline == .milliseconds(20_800))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("a budget that is replaced owes no more than an empty bucket of the new one")
  func budgetReplaced() throws {
    let slow = RetryBudget(burst: 3, interval: .seconds(900))
    var rig = Rig(try Policy.long(budget: slow))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    try rig.adopt(try Policy.long(budget: RetryBudget(burst: 2, interval: .seconds(1))))
    rig.transport(.failed(.lost))
    let retryAt = try #require(rig.retryAt)
    #expect(retryAt - rig.now <= .seconds(60))
  }

  @Test("F54: a better path does not bring a link back to the server that asked to be left")
  func noticeStands() throws {
    var rig = Rig(
      try Policy.long(rollover: Rollover(maxAge: .seconds(100), dither: .seconds(10))))
    rig.feed(.connect(here, count: 2))
    rig.transport(.opened)
    rig.transport(.drainRequested, at: .seconds(20))
    rig.transport(.betterPathAvailable)
    try rig.serveDeadline()
    #expect(rig.endpoints == [here.rawValue, here.rawValue + 1])
  }

  @Test("F44: an interval that was learned holds on an expensive path too")
  func learnedOnExpensivePath() throws {
    let heartbeat = Heartbeat(
      interval: .seconds(25), timeout: .seconds(10), shortestInterval: .seconds(5), stretch: 200)
    var rig = Rig(try Policy.long(heartbeat: heartbeat))
    rig.feed(.pathChanged(Path(.up, interface: 1, isExpensive: true)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    #expect(rig.machine.nextDeadline == .seconds(50))
    try rig.serveDeadline()
    try rig.serveDeadline()
    try rig.redial()
    rig.transport(.opened)
    #expect(rig.machine.nextDeadline == rig.now + .seconds(25))
  }

  @Test("a heartbeat that the server drives and that only a pong answers is refused")
  func impossibleHeartbeat() {
    #expect(throws: PolicyError.self) {
      try Policy(heartbeat: Heartbeat(anyByteCounts: false).driven)
    }
  }

  @Test("credentials that could not be had blame no endpoint: the backoff steps, the turn stays")
  func credentialsBlameNoEndpoint() throws {
    var rig = Rig(try Policy.long(credentials: .seconds(5)))
    rig.feed(.connect(here, count: 3))
    rig.feed(.credentials(Epoch(1), .unavailable))
    try rig.serveDeadline()
    rig.feed(.credentials(Epoch(2), .available))
    #expect(rig.endpoints == [here.rawValue])
  }

  @Test("F08: a replacement on its way over the old interface is let go of when that changes")
  func standbyOverOldInterface() throws {
    var rig = Rig(
      try Policy.long(
        path: PathPolicy(onSwitch: .redial, returnJitter: .zero),
        rollover: Rollover(maxAge: .seconds(100))))
    rig.feed(.pathChanged(Path(.up, interface: 1)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    try rig.serveDeadline()
    let step = rig.feed(.pathChanged(Path(.up, interface: 2)), at: .seconds(102))
    #expect(step.text.hasPrefix("abort 2, ended 2 replaced, abort 1, ended 1 pathChanged"))
    #expect(rig.machine.primary == nil)
  }

  @Test("F08: a switch of interface that is told with the loss is seen at the return")
  func switchDuringLoss() throws {
    var rig = Rig(try Policy.long(path: PathPolicy(onSwitch: .redial, returnJitter: .zero)))
    rig.feed(.pathChanged(Path(.up, interface: 1)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.pathChanged(Path(.down, interface: 2)), at: .seconds(5))
    let step = rig.feed(.pathChanged(Path(.up, interface: 2)), at: .seconds(6))
    #expect(step.text == "abort 1, ended 1 pathChanged")
  }
}

extension Heartbeat {
  fileprivate var driven: Heartbeat {
    var copy = self
    copy.isServerDriven = true
    return copy
  }
}
