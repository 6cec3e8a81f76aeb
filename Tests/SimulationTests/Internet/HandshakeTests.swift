import ConnectionFSM
import NetSim
import Testing

/// The three packets of a dial, the accept queue, and what is lost of them. Checked against Linux
/// over loopback where that can show it.
@Suite struct HandshakeTests {
  @Test("a lost third packet is asked for again after 1 s")
  func confirmationLost() {
    var rig = Rig()
    let client = rig.dial()
    rig.run(for: .milliseconds(15))
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(500))
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .seconds(5))
    #expect(rig.takeLog() == ["opened 20", "accepted 1030"])
    rig.write("x", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(rig.sockets[0]) == "x(wouldBlock)")
  }

  @Test("a lost third packet is no matter once bytes follow it")
  func confirmationByBytes() {
    var rig = Rig()
    let client = rig.dial()
    rig.run(for: .milliseconds(15))
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(10))
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .milliseconds(5))
    rig.write("x", to: client)
    rig.run(for: .milliseconds(500))
    #expect(rig.takeLog() == ["opened 20", "accepted 40", "server readable 40"])
  }

  @Test("a server that hears no third packet for 63 s forgets the client, who is reset later")
  func confirmationNever() {
    var rig = Rig()
    let client = rig.dial()
    rig.run(for: .milliseconds(15))
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.run(for: .seconds(64))
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .seconds(60))
    #expect(rig.takeLog() == ["opened 20"])
    rig.write("x", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(system(connectionReset))")
    rig.internet.close(client, at: rig.now)
    #expect(rig.internet.liveSockets == 0)
  }

  @Test("a connection that is reset in the accept queue is accepted, with its bytes and its error")
  func resetInQueue() {
    var rig = Rig(service: Service(accepts: false))
    let client = rig.dial()
    rig.run(for: .seconds(1))
    rig.write("hi", to: client)
    rig.run(for: .seconds(1))
    rig.internet.reset(client, at: rig.now)
    rig.run(for: .seconds(1))
    rig.internet.inject(.serve(rig.server, port: rig.port, Service()), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 20", "accepted 3000", "server readable 3000"])
    #expect(rig.readAll(rig.sockets[0]) == "hi(system(connectionReset))")
  }

  @Test("a listener that goes away resets what waits in its queue")
  func queueWithoutListener() {
    var rig = Rig(service: Service(accepts: false))
    let client = rig.dial()
    rig.run(for: .seconds(1))
    rig.internet.inject(.refuse(rig.server, port: rig.port), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 20", "client readable 1010"])
    #expect(rig.read(client) == "(system(connectionReset))")
  }

  @Test("another service accepts what the one before has left in the queue, which stays as long")
  func queueIsKept() {
    var rig = Rig(service: Service(backlog: 1, accepts: false))
    for _ in 0..<2 { _ = rig.dial() }
    rig.run(for: .seconds(1))
    rig.internet.inject(
      .serve(rig.server, port: rig.port, Service(backlog: 1, accepts: false)), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 20", "opened 20"])
    rig.internet.inject(.serve(rig.server, port: rig.port, Service()), at: rig.now)
    rig.run(for: .milliseconds(10))
    #expect(rig.takeLog() == ["accepted 2001", "accepted 2001"])
  }

  @Test("an answer that comes twice over a long way does not reset who has closed already")
  func answeredTwice() {
    var rig = Rig(link: .constant(.milliseconds(600)))
    let client = rig.dial()
    rig.run(for: .milliseconds(1210))
    rig.write("bye", to: client)
    rig.internet.close(client, at: rig.now)
    rig.run(for: .seconds(20))
    #expect(rig.readAll(rig.sockets[0]) == "bye(end)")
  }

  @Test("a dial that is held gets through as soon as it is released")
  func dialHeld() {
    var rig = Rig()
    rig.internet.inject(.block(from: rig.client, to: rig.server, .hold), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(5))
    rig.internet.inject(.unblock(from: rig.client, to: rig.server), at: rig.now)
    rig.run(for: .milliseconds(100))
    #expect(rig.takeLog() == ["opened 5021", "accepted 5031"])
  }

  @Test("a reset that is held gets through when it is released; one that is dropped does not")
  func resetHeld() {
    for mode in [BlockMode.hold, .drop] {
      var rig = Rig()
      let (client, server) = rig.connected()
      rig.internet.inject(.block(from: rig.server, to: nil, mode), at: rig.now)
      rig.run(for: .milliseconds(1))
      rig.internet.reset(server, at: rig.now)
      rig.run(for: .seconds(5))
      rig.internet.inject(.unblock(from: rig.server, to: nil), at: rig.now)
      rig.run(for: .seconds(5))
      #expect(rig.takeLog() == (mode == .hold ? ["client readable 6011"] : []))
      if mode == .drop { rig.write("x", to: client) }
      rig.run(for: .seconds(1))
      #expect(rig.read(client) == "(system(connectionReset))")
    }
  }
}
