import ConnectionFSM
import Testing

@Suite("Bugs of S3, a singleton over a socket library")
struct ManagerBugS3Tests {
  @Test("B3.1, I3, I16: of two connects one dials, and the second is told that it was for nothing")
  func connectTwice() throws {
    var rig = Rig(try Policy.made())
    #expect(rig.feed(.connect(here)).text == "dial 1 @0")
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    rig.transport(.opened)
    #expect(
      rig.feed(.connect(elsewhere), at: .seconds(1)).text
        == "abort 1, ended 1 replaced, dial 2 @1")
    #expect(rig.feed(.connect(elsewhere)).disposition == .ignored(.redundant))
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("B3.2, I1: the server's end is followed by a dial, the user's by none")
  func reasonDecides() throws {
    var server = Rig.opened(try Policy.made(heartbeat: nil))
    server.transport(.closed(nil), at: .seconds(1))
    try server.run(until: .seconds(10))
    #expect(server.phase == .connecting)
    var user = Rig.opened(try Policy.made(heartbeat: nil))
    user.feed(.close, at: .seconds(1))
    user.transport(.closed(nil), at: .seconds(1))
    try user.run(until: .seconds(86_400))
    #expect(user.phase == .closed)
    #expect(user.ledger.dials.count == 1)
  }

  @Test("B3.3, I8: every end is told with a cause of its own, which the machine writes")
  func causes() throws {
    let policy = try Policy.made(path: .closing)
    func told(_ end: (inout Rig) throws -> Void) rethrows -> String {
      var rig = Rig.opened(policy)
      rig.advance(to: .seconds(1))
      try end(&rig)
      return rig.ledger.ends.map { render($0.cause) }.joined(separator: " ")
    }
    #expect(told { $0.transport(.closed(nil)) } == "closedByPeer")
    #expect(told { $0.transport(.failed(.system(.notConnected))) } == "notConnected")
    #expect(told { $0.feed(.pathChanged(.down)) } == "pathLost")
    #expect(told { $0.feed(.connect(elsewhere)) } == "replaced")
    #expect(try told { try $0.run(until: .seconds(35)) } == "timedOut(pong)")
    #expect(
      told {
        $0.feed(.close)
        $0.transport(.failed(.lost))
      } == "closedByUser")
  }

  @Test("B3.4, I9: however often it was closed, connect dials and hears its transport")
  func connectAfterClose() throws {
    var rig = Rig(try Policy.made())
    for round in 1...10 as ClosedRange<UInt64> {
      #expect(rig.feed(.connect(here)).text == "dial \(round) @0")
      #expect(rig.transport(.opened).phase == .open)
      rig.feed(.close)
      #expect(rig.transport(.closed(nil)).text == "ended \(round) closedByUser")
    }
  }

  @Test(
    "B3.9, I20: the times of the policy are the times used, and ids come back as they were given",
    arguments: [Int64(3), 20])
  func arguments(seconds: Int64) throws {
    let heartbeat = Heartbeat(interval: .seconds(seconds + 2), timeout: .seconds(seconds + 3))
    var rig = Rig(
      try Policy.made(
        connectDeadline: .seconds(seconds), closeDeadline: .seconds(seconds + 1),
        heartbeat: heartbeat))
    rig.feed(.connect(here))
    #expect(rig.machine.nextDeadline == .seconds(seconds))
    rig.transport(.opened, at: .seconds(1))
    #expect(rig.machine.nextDeadline == .seconds(1 + seconds + 2))
    try rig.serveDeadline()
    #expect(rig.machine.nextDeadline == rig.now + .seconds(seconds + 3))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(1)))
    #expect(rig.feed(.offerB()).disposition == .taken(.b(1)))
    #expect(rig.transport(.acknowledged(through: .b(1))).text == "b1 acknowledged")
    #expect(rig.transport(.written(through: .a(1))).text == "a1 written")
    rig.feed(.close)
    #expect(rig.machine.nextDeadline == rig.now + .seconds(seconds + 1))
  }

  @Test("B3.12, I1: a close of the user stays one, although the peer's end is what completes it")
  func userReason() throws {
    for event in [TransportEvent.closed(CloseCode(1001)), .failed(.system(.connectionReset))] {
      var rig = Rig.opened(try Policy.made())
      #expect(rig.feed(.close, at: .seconds(1)).text == "close 1")
      #expect(rig.transport(event).text == "ended 1 closedByUser")
      #expect(rig.closed == "requested closedByUser")
      #expect(rig.machine.nextDeadline == nil)
    }
  }
}
