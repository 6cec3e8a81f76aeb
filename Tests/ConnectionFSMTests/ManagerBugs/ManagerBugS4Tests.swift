import ConnectionFSM
import Testing

@Suite("Bugs of S4, a manager over the system's WebSocket task")
struct ManagerBugS4Tests {
  @Test("B4.2, I9: the endpoint outlives every link: each dial of a run goes to it")
  func endpointStays() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(elsewhere))
    for _ in 1...5 {
      rig.transport(.opened)
      rig.transport(.failed(.lost), at: rig.now + .seconds(1))
      try rig.redial()
    }
    #expect(rig.ledger.dials.map(\.endpoint) == Array(repeating: elsewhere, count: 6))
  }

  @Test("B4.4, I3: connect while dialling, logging in, open or waiting makes no second link")
  func connectTwice() throws {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    rig.transport(.opened)
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    rig.feed(.session(Epoch(1), .ready))
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    #expect(rig.ledger.dials.count == 1)
    rig.transport(.failed(.lost), at: .seconds(1))
    #expect(rig.feed(.connect(here)).text == "dial 2 @0", "the wait is cut short")
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    #expect(rig.ledger.live == Epoch(2))
  }

  @Test("B4.5, I4: several failures of one link are one wait and one dial")
  func severalFailures() throws {
    var rig = Rig.opened(try Policy.made())
    for cause in [Cause.lost, .system(.connectionReset), .lost] {
      rig.transport(.failed(cause), at: .seconds(1))
    }
    #expect(rig.retryAt == .seconds(5))
    try rig.redial()
    for _ in 1...3 {
      let again = rig.feed(.deadlineReached)
      #expect(again.disposition == .ignored(.early))
    }
    #expect(rig.ledger.dials.count == 2)
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(9), "one failure was counted, not three")
  }

  @Test("B4.7, I6: an hour in which nothing arrives forgives failures; a word at the open does not")
  func quietHour() throws {
    var rig = Rig(try Policy.made(heartbeat: nil))
    rig.feed(.connect(here))
    for _ in 1...4 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    rig.transport(.opened)
    rig.transport(.received(byteCount: 1))
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(32))
    try rig.redial()
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: rig.now + .seconds(3600))
    #expect(rig.retryAt == rig.now + .seconds(4))
  }

  @Test("B4.10, I7: open is what the transport said it was, no sooner and no longer")
  func openIsOpen() throws {
    var rig = Rig(try Policy.made())
    #expect(rig.feed(.connect(here)).phase == .connecting)
    #expect(rig.transport(.received(byteCount: 9)).phase == .connecting)
    #expect(rig.transport(.opened).phase == .open)
    #expect(rig.transport(.opened).disposition == .ignored(.redundant))
    #expect(rig.transport(.failed(.lost)).phase == .backingOff)
    try rig.redial()
    #expect(rig.phase == .connecting)
    rig.transport(.opened)
    #expect(rig.feed(.close).phase == .closing)
    #expect(rig.transport(.closed(nil)).phase == .closed)
  }
}
