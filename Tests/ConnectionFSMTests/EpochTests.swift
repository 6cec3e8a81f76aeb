import ConnectionFSM
import Testing

@Suite("Epochs")
struct EpochTests {
  @Test("I2: epochs start at one and rise by one a dial, across runs")
  func rise() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.feed(.close)
    rig.feed(.connect(elsewhere))
    #expect(rig.ledger.dials.map(\.epoch) == [Epoch(1), Epoch(2), Epoch(3)])
  }

  @Test("I2: a late open of an attempt that timed out opens nothing")
  func lateOpen() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    try rig.serveDeadline()
    let step = rig.feed(.transport(Epoch(1), .opened))
    #expect(step.disposition == .ignored(.staleEpoch))
    #expect(step.phase == .backingOff)
    try rig.redial()
    #expect(rig.feed(.transport(Epoch(1), .opened)).disposition == .ignored(.staleEpoch))
    #expect(rig.phase == .connecting)
  }

  @Test(
    "I2, B1.9, B3.5, B4.3: a stale close of an older epoch is ignored while the new link is open")
  func staleClose() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.connect(elsewhere), at: .seconds(1))
    rig.transport(.opened)
    let stale: [TransportEvent] = [.closed(nil), .failed(.fatal), .writabilityChanged(false)]
    for event in stale {
      #expect(rig.feed(.transport(Epoch(1), event)).disposition == .ignored(.staleEpoch))
    }
    #expect(rig.phase == .open)
    #expect(rig.feed(.offerA()).text == "send 2 a1")
  }

  @Test("I2: bytes of an older epoch are no sign of life for the new one")
  func staleLife() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.connect(elsewhere), at: .seconds(1))
    rig.transport(.opened)
    rig.feed(.transport(Epoch(1), .received(byteCount: 9)), at: .seconds(20))
    #expect(rig.machine.nextDeadline == .seconds(26))
  }

  @Test("I2: an acknowledgement of an older epoch ends nothing that was sent again")
  func staleAcknowledgement() throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.offerB())
    rig.transport(.failed(.lost), at: .seconds(1))
    try rig.redial()
    #expect(rig.transport(.opened).text == "send 2 b1")
    let late = rig.feed(.transport(Epoch(1), .acknowledged(through: .b(1))))
    #expect(late.disposition == .ignored(.staleEpoch))
    #expect(rig.ledger.outcome(.b(1)) == nil)
    #expect(rig.transport(.acknowledged(through: .b(1))).text == "b1 acknowledged")
  }

  @Test("I8: the first cause of an epoch stands, and it ends once")
  func firstCause() throws {
    var rig = Rig.opened(try Policy.made())
    try rig.serveDeadline()
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    for event in [TransportEvent.failed(.lost), .closed(CloseCode(1000))] {
      #expect(rig.feed(.transport(Epoch(1), event)).disposition == .ignored(.staleEpoch))
    }
    #expect(rig.ledger.ends.count == 1)
  }

  @Test(
    "I8, B4.1: however the link ends after close, its cause is the user's and nothing is dialled",
    arguments: [
      TransportEvent.closed(nil), .closed(CloseCode(1011)), .failed(.lost), .failed(.fatal),
      .failed(.protocolError),
    ])
  func closedByUser(event: TransportEvent) throws {
    var rig = Rig.opened(try Policy.made())
    rig.feed(.close, at: .seconds(1))
    #expect(rig.transport(event).text == "ended 1 closedByUser")
    #expect(rig.closed == "requested closedByUser")
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("an epoch that was reserved for credentials and never dialled has no end")
  func reserved() throws {
    var rig = Rig(try Policy.made(credentials: .seconds(5)))
    rig.feed(.connect(here))
    #expect(rig.feed(.close).text == "")
    #expect(rig.ledger.ends.isEmpty)
    rig.feed(.connect(here))
    #expect(rig.ledger.requests == [Epoch(1), Epoch(2)])
  }
}
