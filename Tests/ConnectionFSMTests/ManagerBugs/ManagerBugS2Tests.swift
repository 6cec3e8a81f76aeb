import ConnectionFSM
import Testing

@Suite("Bugs of S2, a chat client over raw streams")
struct ManagerBugS2Tests {
  @Test("B2.5, I3: a second connect changes nothing, and the link's end is that of one link")
  func secondTap() throws {
    var rig = Rig.opened(try Policy.made())
    let tap = rig.feed(.connect(here), at: .seconds(1))
    #expect(tap.disposition == .ignored(.redundant))
    #expect(tap.text == "")
    #expect(rig.transport(.closed(nil), at: .seconds(2)).text == "ended 1 closedByPeer")
    try rig.redial()
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    #expect(rig.feed(.transport(Epoch(1), .closed(nil))).disposition == .ignored(.staleEpoch))
    #expect(rig.transport(.opened).phase == .open)
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("B2.6, I14: what is written before the open and before the login waits for both")
  func early() throws {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    #expect(rig.feed(.offerA()).text == "")
    rig.feed(.connect(here))
    #expect(rig.feed(.offerA()).text == "")
    #expect(rig.transport(.opened).text == "session 1")
    #expect(rig.feed(.offerA()).text == "")
    #expect(rig.feed(.session(Epoch(1), .ready)).text == "send 1 a1-a3")
  }

  @Test("B2.9, I19: a dial that hangs and a peer that falls silent are given up and dialled anew")
  func silence() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(connect)")
    #expect(try rig.redial() == .seconds(14))
    rig.transport(.opened)
    #expect(try rig.serveDeadline().text == "ping 2 #1")
    #expect(try rig.serveDeadline().text == "abort 2, ended 2 timedOut(pong)")
    #expect(rig.now == .seconds(49))
    try rig.redial()
  }
}
