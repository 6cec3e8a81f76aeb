import ConnectionFSM
import Testing

private let wifi = Path(.up, interface: 1)
private let mobile = Path(.up, interface: 2)

private func path(
  onSwitch: PathPolicy.Switch = .probe, debounce: TimeSpan = .zero
) -> PathPolicy {
  PathPolicy(
    onLoss: .probe, onSwitch: onSwitch, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
    returnJitter: .zero, debounce: debounce)
}

@Suite("A path over another interface")
struct SwitchTests {
  /// An open link over interface 1, as epoch 1, since the origin.
  private func opened(_ onSwitch: PathPolicy.Switch, backoff: Backoff = .exact) throws -> Rig {
    var rig = Rig(try Policy.made(backoff: backoff, path: path(onSwitch: onSwitch)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    rig.transport(.opened)
    return rig
  }

  @Test("F08: a switch of interfaces asks the peer of an open link, which has the short time")
  func probes() throws {
    var rig = try opened(.probe)
    let step = rig.feed(.pathChanged(mobile), at: .seconds(5))
    #expect(step.text == "ping 1 #1")
    #expect(step.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(8))
    rig.transport(.pong(1), at: .seconds(6))
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(31))
  }

  @Test("RC169, RC203: who does not answer after a switch is left for the new interface")
  func silentAfterSwitch() throws {
    var rig = try opened(.probe)
    rig.feed(.pathChanged(mobile), at: .seconds(5))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(8))
    #expect(rig.retryAt == .seconds(12))
  }

  @Test("F08: a policy may redial at a switch: the old link goes first, the failure counts nowhere")
  func redials() throws {
    var rig = try opened(.redial, backoff: .exact.limited(to: 2))
    rig.feed(.offerA())
    let step = rig.feed(.pathChanged(mobile), at: .seconds(5))
    #expect(step.text == "abort 1, ended 1 pathChanged, a1 inDoubt")
    #expect(try rig.redial() == .seconds(5))
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(9), "the first wait, not the second")
  }

  @Test("F08: a protocol that moves with the path keeps its link, and nobody is asked")
  func keeps() throws {
    var rig = try opened(.keep)
    let step = rig.feed(.pathChanged(mobile), at: .seconds(5))
    #expect(step.text == "")
    #expect(step.disposition == .accepted)
    #expect(rig.machine.nextDeadline == .seconds(25))
  }

  @Test("RC009: an open link that is in doubt already is redialled at a switch, not asked again")
  func inDoubt() throws {
    var rig = try opened(.probe)
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "ping 1 #1")
    let step = rig.feed(.pathChanged(mobile), at: .seconds(6))
    #expect(step.text == "abort 1, ended 1 pathChanged")
    #expect(try rig.redial() == .seconds(6))
  }

  @Test("F08: the same interface that comes back is no switch: the verdict stays where it is")
  func sameInterface() throws {
    var rig = try opened(.redial)
    rig.feed(.pathChanged(.down), at: .seconds(5))
    #expect(rig.feed(.pathChanged(wifi), at: .seconds(6)).text == "")
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(8))
  }

  @Test(
    "F08, RC150: a dial under way is made anew over the new interface, as the same attempt",
    arguments: [PathPolicy.Switch.probe, .redial])
  func connecting(onSwitch: PathPolicy.Switch) throws {
    var rig = Rig(
      try Policy.made(backoff: .exact.limited(to: 1), path: path(onSwitch: onSwitch)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    let step = rig.feed(.pathChanged(mobile), at: .seconds(4))
    #expect(step.text == "abort 1, ended 1 pathChanged")
    #expect(try rig.redial() == .seconds(4))
    rig.transport(.opened)
    #expect(rig.phase == .open)
  }

  @Test("F08: a session stage under way begins anew over the new interface")
  func authenticating() throws {
    var rig = Rig(try Policy.made(path: path(), session: .seconds(5)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    rig.transport(.opened)
    let step = rig.feed(.pathChanged(mobile), at: .seconds(4))
    #expect(step.text == "abort 1, ended 1 pathChanged")
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 2")
  }

  @Test(
    "F08: with keep, neither a dial nor a session under way is touched",
    arguments: [Phase.connecting, .authenticating])
  func keepsUnopened(phase: Phase) throws {
    var rig = Rig(try Policy.made(path: path(onSwitch: .keep), session: .seconds(5)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    if phase == .authenticating { rig.transport(.opened) }
    #expect(rig.feed(.pathChanged(mobile), at: .seconds(4)).text == "")
    #expect(rig.phase == phase)
  }

  @Test("F08, RC108: a switch brings a waiting dial forward and forgets the network's failures")
  func backingOff() throws {
    var rig = Rig(try Policy.made(path: path()))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.system(.networkDown)))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(16))
    rig.feed(.pathChanged(mobile), at: rig.now + .seconds(2))
    #expect(rig.retryAt == rig.now)
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4), "the failures of the old network are forgotten")
  }

  @Test("F08: with keep, a switch leaves a waiting dial where it is")
  func keepsBackingOff() throws {
    var rig = Rig(try Policy.made(path: path(onSwitch: .keep)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(mobile), at: .seconds(1))
    #expect(rig.retryAt == .seconds(4))
  }

  @Test("I6: interfaces that alternate 100 times in a second keep the spacing of dials")
  func alternating() throws {
    var rig = try opened(.redial)
    for flap in 1...100 as ClosedRange<Int64> {
      try rig.run(until: .milliseconds(flap * 10))
      rig.feed(.pathChanged(flap.isMultiple(of: 2) ? wifi : mobile))
    }
    #expect(rig.ledger.dials.count <= 2)
    #expect(rig.ledger.ends.count <= 2)
  }

  @Test("F12: an open link that was stable has earned its failures' pardon, whatever ends it")
  func pardon() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 4), path: path(onSwitch: .redial)))
    rig.feed(.pathChanged(wifi))
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.opened)
    rig.transport(.received(byteCount: 1), at: rig.now + .seconds(20))
    rig.feed(.pathChanged(mobile))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }
}

@Suite("What else is known of a path")
struct PathDetailTests {
  @Test("F08: a link that is said to be not viable is asked, with the short time, once")
  func viability() throws {
    var rig = Rig.opened(try Policy.made())
    #expect(rig.transport(.viabilityChanged(false), at: .seconds(5)).text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(8))
    let again = rig.transport(.viabilityChanged(false), at: .seconds(6))
    #expect(again.disposition == .ignored(.redundant))
    let better = rig.transport(.viabilityChanged(true), at: .seconds(7))
    #expect(better.disposition == .ignored(.redundant))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(8))
  }

  @Test("F08: an answer ends the doubt about viability, and the next one asks anew")
  func viableAgain() throws {
    var rig = Rig.opened(try Policy.made())
    rig.transport(.viabilityChanged(false), at: .seconds(5))
    rig.transport(.received(byteCount: 1), at: .seconds(6))
    #expect(rig.machine.nextDeadline == .seconds(31))
    #expect(rig.transport(.viabilityChanged(false), at: .seconds(7)).text == "ping 1 #2")
  }

  @Test("F08, B0.11: a path that needs a connection first is unknown: the dial is tried")
  func requiresConnection() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(.unknown))
    #expect(rig.feed(.connect(here)).text == "dial 1 @0")
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    #expect(rig.phase == .offline)
    rig.feed(.pathChanged(.unknown), at: .seconds(2))
    #expect(try rig.redial() == .seconds(2))
  }

  @Test(
    "F08: an expensive or constrained path stretches the ping interval, at once and for its time",
    arguments: [(true, false), (false, true), (true, true)])
  func stretch(isExpensive: Bool, isConstrained: Bool) throws {
    let heartbeat = Heartbeat(interval: .seconds(20), timeout: .seconds(10), stretch: 250)
    var rig = Rig.opened(try Policy.made(heartbeat: heartbeat))
    #expect(rig.machine.nextDeadline == .seconds(20))
    let costly = Path(.up, isExpensive: isExpensive, isConstrained: isConstrained)
    #expect(rig.feed(.pathChanged(costly), at: .seconds(5)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(50))
    rig.feed(.pathChanged(.up), at: .seconds(30))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(rig.now == .seconds(30), "cheap again: the silence of 20 s is long over")
    #expect(rig.machine.nextDeadline == .seconds(40), "the time for an answer is never stretched")
  }

  @Test("F08: a captive portal's 200 on a constrained path is worth one wait, then it is final")
  func captivePortal() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(Path(.up, isConstrained: true)))
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 200)))
    #expect(rig.retryAt == .seconds(4))
    try rig.redial()
    rig.transport(.failed(.http(status: 200)))
    #expect(rig.phase == .closed)
    #expect(rig.closed?.hasPrefix("terminal") == true)
  }

  @Test("F08: the same 200 on a path without restraint is final at once")
  func notCaptive() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(.up))
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 200)))
    #expect(rig.closed?.hasPrefix("terminal") == true)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("F06: the network's errors forgive each other once the path was lost and is back")
  func forgiven() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.pathChanged(.up))
    rig.feed(.connect(here))
    for _ in 1...5 {
      rig.transport(.failed(.system(.networkUnreachable)))
      try rig.redial()
    }
    rig.transport(.failed(.system(.networkDown)))
    #expect(rig.retryAt == rig.now + .seconds(60))
    rig.feed(.pathChanged(.down), at: rig.now + .seconds(1))
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(1))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }
}

@Suite("Debounce")
struct DebounceTests {
  private func made() throws -> Rig {
    Rig(try Policy.made(path: path(debounce: .seconds(2))))
  }

  @Test("F07: the first report counts at once, whatever the debounce")
  func first() throws {
    var rig = try made()
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    #expect(rig.feed(.pathChanged(.down), at: .seconds(1)).phase == .offline)
  }

  @Test("F07: a loss counts once it has stood for the debounce, and not before")
  func loss() throws {
    var rig = try made()
    rig.feed(.pathChanged(.up))
    rig.feed(.connect(here))
    rig.transport(.opened)
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(7))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(10))
  }

  @Test("F07: the return counts once it has stood for the debounce, and not before")
  func regained() throws {
    var rig = try made()
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    rig.feed(.pathChanged(.up), at: .seconds(10))
    #expect(rig.phase == .offline)
    #expect(rig.machine.nextDeadline == .seconds(12))
    #expect(rig.feed(.deadlineReached, at: .seconds(12)).text == "dial 2 @0")
  }

  @Test("F07: a report that is taken back in time never was, and each new one has its own time")
  func takenBack() throws {
    var rig = try made()
    rig.feed(.pathChanged(.up))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.pathChanged(.down), at: .seconds(5))
    rig.feed(.pathChanged(.up), at: .milliseconds(6_900))
    #expect(rig.machine.nextDeadline == .seconds(25))
    rig.feed(.pathChanged(.down), at: .seconds(8))
    #expect(rig.machine.nextDeadline == .seconds(10))
    try rig.run(until: .seconds(9))
    #expect(rig.ledger.pings == 0)
  }

  @Test("I19: a debounced path that flaps for ever asks nobody and ends nothing")
  func flapping() throws {
    var rig = try made()
    rig.feed(.pathChanged(.up))
    rig.feed(.connect(here))
    rig.transport(.opened)
    for flap in 1...100 as ClosedRange<Int64> {
      rig.feed(.pathChanged(.down))
      try rig.run(until: .milliseconds(flap * 10 - 5))
      rig.feed(.pathChanged(.up))
      try rig.run(until: .milliseconds(flap * 10))
    }
    #expect(rig.ledger.pings == 0)
    #expect(rig.phase == .open)
  }

  @Test("a report said again is redundant, also where it leaves out the interface")
  func saidAgain() throws {
    var rig = try made()
    rig.feed(.pathChanged(wifi))
    #expect(rig.feed(.pathChanged(.up)).disposition == .ignored(.redundant))
    rig.feed(.pathChanged(.down))
    #expect(rig.feed(.pathChanged(.down)).disposition == .ignored(.redundant))
    try rig.run(until: .seconds(3))
    #expect(rig.feed(.pathChanged(.down)).disposition == .ignored(.redundant))
    #expect(rig.machine.nextDeadline == nil)
  }
}
