import ConnectionFSM
import Testing

// The bugs of five published managers, S0 to S4, put to the machine. One that an older test proves
// stands in that test's name; Docs/Ids.md says where the others are decided.

@Suite("Bugs of S0, a reconnecting manager over a WebSocket client")
struct ManagerBugS0Tests {
  @Test(
    "B0.1, I9: a link that died offline, or for good, does not keep connect from dialling",
    arguments: [(Cause.system(.networkDown), Phase.offline), (.fatal, .closed)])
  func deadHandle(cause: Cause, phase: Phase) throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    #expect(rig.transport(.failed(cause), at: .seconds(2)).phase == phase)
    let step = rig.feed(.connect(here), at: .seconds(3))
    #expect(step.disposition == .accepted)
    #expect(step.text == "dial 2 @0")
  }

  @Test("B0.2, I4: a failure, its echo and a path that flaps leave one dial, and nothing after it")
  func onePendingDial() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil))
    rig.transport(.failed(.lost), at: .seconds(1))
    #expect(rig.transport(.closed(nil)).disposition == .ignored(.staleEpoch))
    rig.feed(.pathChanged(.down), at: .seconds(2))
    rig.feed(.pathChanged(.up), at: .seconds(3))
    try rig.redial()
    rig.transport(.opened)
    #expect(rig.machine.nextDeadline == nil)
    let late = rig.feed(.deadlineReached, at: .seconds(600))
    #expect(late.disposition == .ignored(.early))
    #expect(rig.phase == .open)
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("B0.3, I1: close in a backoff ends the wait, and its old deadline dials nothing")
  func closeInBackoff() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    let due = try #require(rig.retryAt)
    #expect(rig.feed(.close, at: .seconds(1)).phase == .closed)
    let step = rig.feed(.deadlineReached, at: due)
    #expect(step.disposition == .ignored(.early))
    #expect(rig.closed == "requested closedByUser")
    #expect(rig.ledger.dials.count == 1)
  }

  @Test("B0.5, I8: a link closed for a lost path has ended; its late close adds no second dial")
  func lateCloseAfterLoss() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil, path: .closing))
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "abort 1, ended 1 pathLost")
    rig.feed(.pathChanged(.up), at: .seconds(6))
    let waiting = rig.feed(.transport(Epoch(1), .closed(CloseCode(1000))))
    #expect(waiting.disposition == .ignored(.staleEpoch))
    try rig.redial()
    let dialling = rig.feed(.transport(Epoch(1), .closed(CloseCode(1000))))
    #expect(dialling.disposition == .ignored(.staleEpoch))
    rig.transport(.opened)
    try rig.run(until: .seconds(600))
    #expect(rig.phase == .open)
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("B0.12, I10: a failure of the network that is told after the path is back is not held")
  func lostWakeUp() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil))
    rig.feed(.pathChanged(.down), at: .seconds(1))
    rig.feed(.pathChanged(.up), at: .seconds(2))
    let step = rig.transport(.failed(.system(.networkDown)), at: .seconds(3))
    #expect(step.text == "ended 1 networkDown")
    #expect(step.phase == .backingOff)
    #expect(try rig.redial() == .seconds(7))
  }

  @Test(
    "B0.14, I15: what no other try would mend is tried once",
    arguments: [
      (TransportEvent.failed(.http(status: 401)), "http(401)"),
      (.closed(CloseCode(1008)), "closedByPeer(1008)"),
      (.failed(.tls(.pinMismatch)), "tls(pinMismatch)"),
    ])
  func terminal(event: TransportEvent, cause: String) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    #expect(rig.transport(event).text == "ended 1 \(cause)")
    #expect(rig.closed == "terminal \(cause)")
    try rig.run(until: .seconds(86_400))
    #expect(rig.ledger.dials.count == 1)
  }

  @Test(
    "B0.15, I11, I16: in every phase a message is taken and ends, or is turned away in words",
    arguments: Phase.allCases)
  func offerEverywhere(phase: Phase) throws {
    var rig = try Scene(phase).rig
    let disposition = rig.feed(.offerA()).disposition
    guard case .taken(let id) = disposition else {
      #expect(phase == .closing || phase == .closed)
      #expect(disposition == .rejected(.closed))
      return
    }
    #expect(rig.ledger.outcome(id) == nil)
    rig.feed(.close)
    try rig.run(until: rig.now + .seconds(60))
    #expect(rig.phase == .closed)
    #expect(rig.ledger.outcome(id) != nil)
  }
}
