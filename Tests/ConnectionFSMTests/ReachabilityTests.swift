import ConnectionFSM
import Testing

@Suite("Reachability")
struct ReachabilityTests {
  @Test("F06: a network failure while the path is down waits offline and spends no attempt")
  func networkDown() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 1)))
    rig.feed(.connect(here))
    rig.feed(.pathChanged(.down))
    #expect(rig.transport(.failed(.system(.networkDown))).phase == .offline)
    for probe in 1...5 {
      #expect(try rig.redial() == .seconds(60 * Int64(probe)))
      #expect(rig.transport(.failed(.system(.networkUnreachable))).phase == .offline)
    }
  }

  @Test(
    "I10: a network failure on a path that is up or unknown goes on",
    arguments: [
      Path.up, .unknown,
    ])
  func networkDownButPathIsNot(status: Path) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(status))
    rig.feed(.connect(here))
    rig.transport(.failed(.system(.networkDown)))
    #expect(rig.retryAt == .seconds(4))
  }

  @Test(
    "RC109, RC151: the first report that the path is up is no edge",
    arguments: [
      Phase.connecting, .authenticating, .open, .backingOff,
    ])
  func firstReport(phase: Phase) throws {
    var rig = try Scene(phase).rig
    let before = rig.machine.nextDeadline
    #expect(rig.feed(.pathChanged(.up)).text == "")
    #expect(rig.phase == phase)
    #expect(rig.machine.nextDeadline == before)
  }

  @Test("RC109: the first report that the path is up forgets no failure of the network")
  func firstReportForgetsNothing() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.system(.networkDown)))
      try rig.redial()
    }
    rig.feed(.pathChanged(.up))
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(16))
  }

  @Test("RC141: probes of a path that is down leave the whole budget for when it is back")
  func probesAreFree() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 2)))
    rig.feed(.pathChanged(.down))
    rig.feed(.connect(here))
    for _ in 1...5 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(1))
    try rig.redial()
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe")
  }

  @Test("RC150: an attempt whose path was lost starts afresh when it is back, as the same one")
  func restart() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 2)))
    rig.feed(.connect(here))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    #expect(rig.feed(.pathChanged(.up), at: .seconds(3)).text == "abort 1, ended 1 pathLost")
    #expect(try rig.redial() == .seconds(3))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe")
    #expect(rig.ledger.dials.count == 3)
  }

  @Test("I10: an attempt dialled into a dead path starts afresh when the path is back")
  func restartProbe() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(.down))
    rig.feed(.connect(here))
    #expect(rig.phase == .connecting, "a user's connect tries a path that is said to be down")
    #expect(rig.feed(.pathChanged(.unknown), at: .seconds(2)).text == "abort 1, ended 1 pathLost")
    #expect(try rig.redial() == .seconds(2))
  }

  @Test("an attempt that got as far as the session is not restarted by a regained path")
  func authenticatingStays() throws {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.pathChanged(.down), at: .seconds(1))
    #expect(rig.feed(.pathChanged(.up), at: .seconds(2)).text == "")
    #expect(rig.phase == .authenticating)
  }

  @Test("F07: a lost path in a backoff holds the dial; the regained one brings it forward")
  func bringForward() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    for _ in 1...4 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    let planned = try #require(rig.retryAt)
    rig.feed(.pathChanged(.down), at: rig.now + .seconds(2))
    #expect(rig.phase == .offline)
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(5))
    #expect(rig.retryAt == rig.now)
    #expect(rig.now < planned)
    try rig.redial()
  }

  @Test("RC134, I6: a regained path forgets the network's failures and no others")
  func forgets() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    for cause in [Cause.lost, .system(.networkDown), .lost, .system(.networkUnreachable)] {
      rig.transport(.failed(cause))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(32))
    rig.feed(.pathChanged(.down))
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(1))
    try rig.redial()
    rig.transport(.failed(.lost))
    // Three failures of the peer remain of the five: the fourth wait of 4, 4, 8, 16 seconds.
    #expect(rig.retryAt == rig.now + .seconds(16))
  }

  @Test("every transient failure is the network's while the path is down")
  func generalRule() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(.down))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(1))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }

  @Test(
    "F07: the return of the path waits a random while below the jitter, one seed unlike another")
  func returnJitter() throws {
    let path = PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .milliseconds(500))
    var waits: [Int64] = []
    for seed in 1...50 as ClosedRange<UInt64> {
      var rig = Rig(try Policy.made(path: path), seed: seed)
      rig.feed(.connect(here))
      rig.transport(.failed(.lost))
      rig.feed(.pathChanged(.down), at: .seconds(2))
      rig.feed(.pathChanged(.up), at: .seconds(30))
      waits.append((try #require(rig.retryAt) - rig.now).nanoseconds)
    }
    #expect(waits.allSatisfy { (0...500_000_000).contains($0) })
    #expect(Set(waits).count == 50)
  }

  @Test(
    "RC187: a path that is said to be down for ever is doubted: one dial an interval, and it counts"
  )
  func lyingPath() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    #expect(try rig.redial() == .seconds(61))
    rig.transport(.opened, at: .seconds(62))
    #expect(rig.phase == .open)
    #expect(rig.feed(.offerA()).text == "send 2 a1")
  }

  @Test("RC165: the close deadline ends closing on a lost path, and the next connect opens")
  func closingOffline() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.pathChanged(.down), at: .seconds(10))
    rig.feed(.close, at: .seconds(10))
    try rig.run(until: .seconds(60))
    #expect(rig.phase == .closed)
    rig.feed(.pathChanged(.up))
    #expect(rig.phase == .closed)
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).phase == .open)
  }
}

@Suite("Reachability of an open link")
struct SuspicionTests {
  @Test("F07: a lost path asks the peer at once; an answer clears the suspicion")
  func probe() throws {
    var rig = Rig.opened(try Policy.made())
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(8))
    rig.transport(.pong(1), at: .seconds(6))
    #expect(rig.machine.nextDeadline == .seconds(31))
    #expect(rig.phase == .open)
  }

  @Test(
    "F07: an answered suspicion is over: the next ping has its whole time, the next loss asks anew")
  func suspicionEnds() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.pathChanged(.down), at: .seconds(5))
    rig.transport(.received(byteCount: 1), at: .seconds(6))
    try rig.serveDeadline()
    #expect(rig.machine.nextDeadline == .seconds(41))
    rig.transport(.pong(2), at: .seconds(32))
    rig.feed(.pathChanged(.up), at: .seconds(33))
    #expect(rig.feed(.pathChanged(.down), at: .seconds(34)).text == "ping 1 #3")
    #expect(rig.machine.nextDeadline == .seconds(37))
  }

  @Test("RC106: a peer that does not answer the suspicion is given up, and held while offline")
  func noAnswer() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.pathChanged(.down), at: .seconds(5))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(8))
    #expect(rig.phase == .offline)
  }

  @Test("F07: a policy may close at once instead; the cause is the path's, its failure forgotten")
  func close() throws {
    var rig = Rig.opened(try Policy.made(path: .closing))
    rig.feed(.offerA())
    let step = rig.feed(.pathChanged(.down), at: .seconds(5))
    #expect(step.text == "abort 1, ended 1 pathLost, a1 inDoubt")
    #expect(step.phase == .offline)
    rig.feed(.pathChanged(.up), at: .seconds(6))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(10))
  }

  @Test("without a heartbeat a lost path asks nobody and ends nothing")
  func noHeartbeat() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil))
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "")
    #expect(rig.machine.nextDeadline == nil)
    #expect(rig.phase == .open)
  }

  @Test("I19: flapping asks once and does not push the verdict away")
  func flapping() throws {
    var rig = Rig.opened(try Policy.made())
    for flap in 0..<29 as Range<Int64> {
      rig.feed(.pathChanged(.down), at: .milliseconds(1000 + flap * 100))
      rig.feed(.pathChanged(.up), at: .milliseconds(1050 + flap * 100))
    }
    #expect(rig.ledger.pings == 1)
    try rig.run(until: .seconds(4))
    #expect(rig.phase == .backingOff)
  }

  @Test("I19: a path lost while a ping is about to be overdue leaves its verdict where it is")
  func lostBeforeVerdict() throws {
    var rig = Rig.opened(try Policy.made())
    try rig.run(until: .seconds(34))
    #expect(rig.feed(.pathChanged(.down)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(35))
  }

  @Test("I19: a path lost early in a ping's time brings the verdict forward")
  func lostAfterPing() throws {
    var rig = Rig.opened(try Policy.made())
    try rig.run(until: .seconds(26))
    #expect(rig.feed(.pathChanged(.down)).text == "ping 1 #2")
    #expect(rig.machine.nextDeadline == .seconds(29))
  }

  @Test("I19: a suspect never has longer than the heartbeat gives anyone")
  func longSuspicion() throws {
    let path = PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(300), probeInterval: .seconds(60),
      returnJitter: .zero)
    var rig = Rig.opened(try Policy.made(path: path))
    rig.feed(.pathChanged(.down), at: .seconds(20))
    #expect(rig.machine.nextDeadline == .seconds(30))
  }
}

@Suite("Flapping")
struct FlappingTests {
  @Test(
    "F07, RC134: a path that flaps 100 times in a second costs one more dial at most",
    arguments: [Phase.connecting, .backingOff, .offline, .waitingForCredentials, .authenticating])
  func hundredFlaps(phase: Phase) throws {
    let path = PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .milliseconds(200))
    for seed in 1...20 as ClosedRange<UInt64> {
      var rig = Rig(try policy(path, for: phase), seed: seed)
      try lead(&rig, to: phase)
      let dials = rig.ledger.dials.count
      let start = rig.now
      for flap in 1...100 as ClosedRange<Int64> {
        try rig.run(until: start + .milliseconds(flap * 10 - 5))
        rig.feed(.pathChanged(.down))
        try rig.run(until: start + .milliseconds(flap * 10))
        rig.feed(.pathChanged(.up))
      }
      #expect(rig.ledger.dials.count <= dials + 1)
      try rig.run(until: start + .milliseconds(2300))
      #expect(rig.ledger.live != nil || rig.phase == .waitingForCredentials)
      #expect(rig.ledger.dials.count <= dials + 3)
    }
  }

  private func policy(_ path: PathPolicy, for phase: Phase) throws -> Policy {
    try Policy.made(
      backoff: .none, path: path, session: phase == .authenticating ? .seconds(9) : nil,
      credentials: phase == .waitingForCredentials ? .seconds(9) : nil)
  }

  private func lead(_ rig: inout Rig, to phase: Phase) throws {
    rig.feed(.connect(here))
    if phase == .authenticating { rig.transport(.opened) }
    if phase == .backingOff || phase == .offline { rig.transport(.failed(.lost)) }
    if phase == .offline { rig.feed(.pathChanged(.down)) }
    try #require(rig.phase == phase)
  }
}
