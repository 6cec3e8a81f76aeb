import ConnectionFSM
import Testing

@Suite("Heartbeat")
struct HeartbeatTests {
  private let beat = Heartbeat(interval: .seconds(25), timeout: .seconds(10))

  @Test("I5: the first ping goes out one interval after the open, numbered from one")
  func first() throws {
    var rig = Rig(try Policy.made(heartbeat: beat))
    rig.feed(.connect(here))
    rig.transport(.opened, at: .seconds(3))
    #expect(rig.machine.nextDeadline == .seconds(28))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    rig.transport(.pong(1), at: .seconds(29))
    #expect(try rig.serveDeadline().text == "ping 1 #2")
    #expect(rig.now == .seconds(54))
  }

  @Test(
    "F43, RC052: any inbound byte is life: it answers the ping and starts the silence anew",
    arguments: [TransportEvent.received(byteCount: 1), .pong(1), .pong(77)])
  func anyByte(event: TransportEvent) throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    rig.transport(event, at: .seconds(20))
    #expect(rig.machine.nextDeadline == .seconds(45))
    try rig.serveDeadline()
    rig.transport(event, at: .seconds(54))
    #expect(rig.machine.nextDeadline == .seconds(79))
  }

  @Test("F43, RC025, B0.16, B4.12: a silent peer is given up at interval + timeout")
  func silence() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline()
    #expect(rig.machine.nextDeadline == .seconds(35))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.phase == .backingOff)
  }

  @Test("what we send is no sign of life of the peer")
  func ownTraffic() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    rig.feed(.offerA(), at: .seconds(24))
    rig.transport(.written(through: .a(1)), at: .seconds(24))
    rig.transport(.writabilityChanged(false), at: .seconds(24))
    #expect(rig.machine.nextDeadline == .seconds(25))
  }

  @Test("RC049, RC126: the heartbeat begins anew with each link and is silent between them")
  func newLink() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline()
    rig.transport(.closed(nil), at: .seconds(30))
    #expect(rig.machine.nextDeadline == .seconds(34))
    try rig.redial()
    rig.transport(.opened, at: .seconds(36))
    #expect(rig.machine.nextDeadline == .seconds(61))
    #expect(try rig.serveDeadline().text == "ping 2 #1")
  }

  @Test("I5: nothing is pinged before the session is ready or after close")
  func onlyOpen() throws {
    var rig = Rig(try Policy.made(heartbeat: beat, session: .seconds(500)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    try rig.run(until: .seconds(400))
    rig.feed(.session(Epoch(1), .ready))
    try rig.run(until: .seconds(425))
    #expect(rig.ledger.pings == 1)
    rig.feed(.close)
    try rig.run(until: .seconds(900))
    #expect(rig.ledger.pings == 1)
  }

  @Test("RC047: a pong deadline served late is no evidence: one fresh probe, then the verdict")
  func lateVerdict() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline()
    #expect(rig.feed(.deadlineReached, at: .seconds(4000)).text == "ping 1 #2")
    #expect(rig.machine.nextDeadline == .seconds(4010))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("RC048, RC128: an answer to the fresh probe after a sleep keeps the link")
  func lateButAlive() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline()
    rig.feed(.deadlineReached, at: .seconds(7200))
    rig.transport(.received(byteCount: 8), at: .seconds(7201))
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(7226))
  }

  @Test("RC047: after a sleep in the silence the peer gets a whole timeout to answer")
  func latePing() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    #expect(rig.feed(.deadlineReached, at: .seconds(4000)).text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(4010))
  }

  @Test("I19: a loop that is always late probes once a silence and still finds the dead")
  func alwaysLate() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline(late: .seconds(60))
    try rig.serveDeadline(late: .seconds(60))
    #expect(rig.ledger.pings == 2)
    #expect(try rig.serveDeadline(late: .seconds(60)).text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("RC047: the next silence has a late probe of its own")
  func probeAnew() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    for round in 1...3 {
      try rig.serveDeadline()
      try rig.serveDeadline(late: .seconds(60))
      #expect(rig.ledger.pings == 2 * round)
      rig.transport(.received(byteCount: 1))
    }
    #expect(rig.phase == .open)
  }

  @Test(
    "RC047: a pong deadline that is late by less than a second stands",
    arguments: [
      (Int64(0), true), (999_999_999, true), (1_000_000_000, false),
    ])
  func slightlyLate(nanoseconds: Int64, stands: Bool) throws {
    var rig = Rig.opened(try Policy.made(heartbeat: beat))
    try rig.serveDeadline()
    try rig.serveDeadline(late: .nanoseconds(nanoseconds))
    #expect((rig.phase == .backingOff) == stands)
  }

  @Test("I19: whatever the path does, a silent link is left by interval + timeout")
  func bounded() throws {
    for seed in 1...200 as ClosedRange<UInt64> {
      var random = SplitMix64(seed: seed)
      let suspectTimeout = TimeSpan.milliseconds(100 + Int64(random.next(through: 30_000)))
      let path = PathPolicy(
        onLoss: .probe, suspectTimeout: suspectTimeout, probeInterval: .seconds(60),
        returnJitter: .zero)
      var rig = Rig.opened(try Policy.made(heartbeat: beat, path: path))
      rig.transport(.received(byteCount: 1), at: .seconds(7))
      while rig.now < .seconds(42) {
        let pause = TimeSpan.milliseconds(Int64(random.next(through: 9_000)))
        try rig.run(until: min(rig.now + pause, .seconds(42)))
        rig.feed(.pathChanged(Path(PathStatus.allCases[Int(random.next(through: 2))])))
      }
      #expect(rig.ledger.ends.first?.epoch == Epoch(1), "seed \(seed)")
    }
  }
}
