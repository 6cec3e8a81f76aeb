import ConnectionFSM
import Testing

@Suite("Intent")
struct IntentTests {
  @Test("F01: connect in every phase leads to one open link", arguments: Phase.allCases)
  func connectEverywhere(phase: Phase) throws {
    var rig = try Scene(phase).rig
    rig.feed(.connect(here))
    rig.feed(.demandChanged(true))
    try settle(&rig)
    #expect(rig.phase == .open)
    #expect(rig.ledger.dials.last?.endpoint == here)
  }

  @Test("F04: connect elsewhere in every phase leads to that one", arguments: Phase.allCases)
  func retargetEverywhere(phase: Phase) throws {
    var scene = try Scene(phase)
    scene.rig.feed(.connect(elsewhere))
    scene.rig.feed(.demandChanged(true))
    let old = scene.current
    try settle(&scene.rig)
    #expect(scene.rig.phase == .open)
    #expect(scene.rig.ledger.dials.last?.endpoint == elsewhere)
    if phase != .idle {
      for event in [TransportEvent.opened, .failed(.fatal), .closed(nil)] {
        let step = scene.rig.feed(.transport(old, event))
        #expect(step.disposition == .ignored(.staleEpoch))
      }
    }
  }

  /// Answers everything well until the link is open; the peer answers our close too.
  private func settle(_ rig: inout Rig) throws {
    for _ in 1...8 {
      switch rig.phase {
      case .idle, .closed, .suspended: return
      case .open: return
      case .closing: rig.transport(.closed(nil))
      case .offline, .backingOff: try rig.serveDeadline()
      case .waitingForCredentials:
        rig.feed(.credentials(try #require(rig.ledger.requests.last), .available))
      case .connecting: rig.transport(.opened)
      case .authenticating: rig.feed(.session(rig.epoch, .ready))
      }
    }
  }

  @Test(
    "F02, I1: after close no event dials for an hour, in every phase", arguments: Phase.allCases)
  func closeEverywhere(phase: Phase) throws {
    var scene = try Scene(phase)
    scene.rig.feed(.close)
    let dials = scene.rig.ledger.dials.count
    let requests = scene.rig.ledger.requests.count
    for round in 1...60 {
      try scene.rig.run(until: .seconds(60 * Int64(round)))
      for kind in InputKind.allCases where ![.connectHere, .connectElsewhere].contains(kind) {
        scene.rig.feed(kind.input(in: scene))
      }
    }
    #expect(scene.rig.phase == .closed)
    #expect(scene.rig.ledger.dials.count == dials)
    #expect(scene.rig.ledger.requests.count == requests)
    #expect(scene.rig.machine.nextDeadline == nil)
  }

  @Test("F02: close twice is redundant the second time, in every phase", arguments: Phase.allCases)
  func closeTwice(phase: Phase) throws {
    var rig = try Scene(phase).rig
    rig.feed(.close)
    let step = rig.feed(.close)
    #expect(step.disposition == .ignored(.redundant))
  }

  @Test("F01: connect during a backoff dials at once and starts the series anew")
  func bringForward() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    let due = try #require(rig.retryAt)
    #expect(due - rig.now == .seconds(16))
    #expect(rig.feed(.connect(here)).text == "dial 5 @0")
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }

  @Test("I3: connect after close dials once the old link is gone, not before")
  func connectWhileClosing() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.close, at: .seconds(1))
    #expect(rig.feed(.connect(elsewhere)).text == "")
    #expect(rig.feed(.connect(elsewhere)).disposition == .ignored(.redundant))
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser, dial 2 @1")
  }

  @Test("I3: connect after close dials when the close deadline cuts the old link")
  func connectWhilePeerIsSilent() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.offerA())
    rig.feed(.close, at: .seconds(1))
    rig.feed(.connect(here))
    let step = try rig.serveDeadline()
    #expect(rig.now == .seconds(6))
    #expect(step.text == "abort 1, ended 1 closedByUser, a1 inDoubt, dial 2 @0")
  }

  @Test("F02: close after connect after close leaves nothing to dial")
  func changeOfMind() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.close, at: .seconds(1))
    rig.feed(.connect(here))
    #expect(rig.feed(.close).disposition == .accepted)
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser")
    #expect(rig.phase == .closed)
  }

  @Test("F04, B0.4: retargeting an open link lets it go first; at least once goes to the new one")
  func retargetOpen() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.offerA())
    rig.feed(.offerB())
    let step = rig.feed(.connect(elsewhere), at: .seconds(1))
    #expect(step.text == "abort 1, ended 1 replaced, a1 inDoubt, dial 2 @1")
    #expect(rig.transport(.opened).text == "send 2 b1")
  }

  @Test("I9: connect after a terminal failure starts a new run with a new budget")
  func newRun() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 2)))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe")
    #expect(rig.feed(.offerA()).disposition == .rejected(.closed))
    #expect(rig.feed(.connect(here)).text == "dial 3 @0")
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(4))
    try rig.redial()
    rig.transport(.failed(.fatal))
    #expect(rig.closed == "terminal accessDenied")
    #expect(rig.feed(.close).disposition == .accepted)
    #expect(rig.feed(.close).disposition == .ignored(.redundant))
    #expect(rig.closed == "terminal accessDenied")
  }

  @Test("RC082: close before the transport opened cuts it at once")
  func closeWhileConnecting() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.feed(.offerB())
    #expect(rig.feed(.close).text == "abort 1, ended 1 closedByUser, b1 cancelled")
    #expect(rig.transport(.opened).disposition == .ignored(.staleEpoch))
  }
}
