import ConnectionFSM
import Testing

@Suite("Bugs of S1, a framed TCP manager")
struct ManagerBugS1Tests {
  @Test("B1.8, I3: close during a dial lets go of it, so that the next connect is alone")
  func closeDuringDial() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    #expect(rig.feed(.close, at: .seconds(1)).text == "abort 1, ended 1 closedByUser")
    #expect(rig.feed(.connect(elsewhere)).text == "dial 2 @1")
    #expect(rig.feed(.transport(Epoch(1), .opened)).disposition == .ignored(.staleEpoch))
    #expect(rig.ledger.live == Epoch(2))
  }

  @Test(
    "B1.10, I8: an end that is reported by both directions is told once",
    arguments: [
      [TransportEvent.failed(.lost), .closed(nil)], [.closed(nil), .closed(nil)],
      [.failed(.lost), .failed(.system(.connectionReset))],
    ])
  func toldOnce(events: [TransportEvent]) throws {
    var rig = Rig.opened(try Policy.made())
    #expect(rig.transport(events[0], at: .seconds(1)).text.hasPrefix("ended 1 "))
    let second = rig.transport(events[1])
    #expect(second.disposition == .ignored(.staleEpoch))
    #expect(second.text == "")
    #expect(rig.ledger.ends.count == 1)
  }

  @Test("B1.13, I8: a goodbye of the peer is its goodbye, whether or not the link had opened")
  func goodbye() throws {
    for opens in [true, false] {
      var rig = Rig(try Policy.made())
      rig.feed(.connect(here))
      if opens { rig.transport(.opened) }
      #expect(rig.transport(.closed(nil), at: .seconds(1)).text == "ended 1 closedByPeer")
      try rig.redial()
      #expect(rig.transport(.failed(.lost)).text == "ended 2 brokenPipe")
    }
  }
}
