import ConnectionFSM
import NetSim
import Testing

/// What a connection does when things are lost, late, full or asleep.
@Suite struct KernelDetailTests {
  private func blocked(_ rig: inout Rig, from host: HostID, for span: TimeSpan) {
    rig.internet.inject(.block(from: host, to: nil, .drop), at: rig.now)
    rig.run(for: span)
    rig.internet.inject(.unblock(from: host, to: nil), at: rig.now)
  }

  @Test("after a FIN a read gives the end, also when a write has met a reset (Linux, measured)")
  func endOutranksError() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.close(server, at: rig.now)
    rig.run(for: .seconds(1))
    rig.write("x", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(end)")
    #expect(rig.write("x", to: client) == .failed(.system(.brokenPipe)))
    #expect(rig.read(client) == "(end)")
  }

  @Test("an end behind which a reset has discarded bytes is an error first")
  func discardedBehindEnd() {
    var rig = Rig(system: .darwin)
    let (client, server) = rig.connected()
    rig.write("tail", to: server)
    rig.internet.close(server, at: rig.now)
    rig.run(for: .seconds(1))
    rig.write("x", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(system(brokenPipe))")
    #expect(rig.read(client) == "(end)")
  }

  @Test("bytes that come after the system has failed the connection are not read")
  func bytesForTheDead() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.write("late", to: server)
    rig.internet.inject(.wake(rig.client, sockets: .failed(.connectionAborted)), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "(system(connectionAborted))")
    #expect(rig.readAll(client) == "(end)")
    #expect(rig.read(server) == "(system(connectionReset))")
  }

  @Test("a box's FIN does not overtake bytes that are on their way")
  func boxBehindBytes() {
    let fast = Channel(latency: .constant(.milliseconds(10)))
    var slow = fast
    slow.rate = .kilobits(8)
    var rig = Rig(link: LinkProfile("slow", about: "", source: "", up: slow, down: fast))
    rig.internet.addReaper(
      IdleReaper("hasty", idle: .seconds(3), sweep: .zero, aftermath: .finish, source: ""),
      to: rig.server)
    let (client, server) = rig.connected()
    // Five seconds under way.
    _ = rig.write([UInt8](repeating: 65, count: 5000), to: client)
    rig.run(for: .seconds(20))
    #expect(rig.readAll(server) == String(repeating: "A", count: 5000) + "(end)")
    #expect(rig.readAll(client) == "(end)")
  }

  @Test("bytes leave when they are written, however long nothing happened before")
  func writesTakeTheirTime() {
    var rig = Rig()
    let (client, _) = rig.connected()
    let later = rig.now + .seconds(50)
    _ = rig.internet.write([1].span.bytes, to: client, at: later)
    let occurrence = rig.internet.next(through: later + .seconds(1))
    #expect(occurrence == .readable(rig.sockets[0]))
    #expect(rig.internet.now == later + .milliseconds(10))
  }

  @Test("a second loss is mended after 200 ms, not when the timer of the first would have been due")
  func timersStartAnew() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("a", to: client)
    rig.run(for: .seconds(60))
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .seconds(43))
    #expect(rig.takeLog() == ["server readable 103211"])
    _ = rig.readAll(rig.sockets[0])
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("b", to: client)
    rig.run(for: .milliseconds(100))
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["server readable 104212"])
  }

  @Test("news of room that is lost kills nobody, and holds up nobody for long")
  func roomUnheard() {
    var rig = Rig()
    let (client, server) = rig.connected()
    let whole = [UInt8](repeating: 7, count: 300_000)
    var taken = 0
    while case .wrote(let count) = rig.write(Array(whole[taken...]), to: client) {
      taken += count
      rig.run(for: .milliseconds(100))
    }
    rig.internet.inject(.block(from: rig.server, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.readAll(server)
    rig.run(for: .seconds(30))
    rig.internet.inject(.unblock(from: rig.server, to: nil), at: rig.now)
    rig.run(for: .seconds(130))
    #expect(rig.readAll(server).utf8.count > 80_000)
    // All that was taken has arrived; the reader's news is lost again, and nothing waits for it.
    blocked(&rig, from: rig.server, for: .seconds(2000))
    rig.run(for: .seconds(2000))
    #expect(rig.write("x", to: client) == .wrote(1))
    rig.run(for: .seconds(10))
    #expect(rig.readAll(server) == "x(wouldBlock)")
  }

  @Test("a writer without room asks a reader that has vanished, and fails after 924.6 s")
  func noRoomAndNobody() {
    var rig = Rig()
    let (client, _) = rig.connected()
    while case .wrote = rig.write([UInt8](repeating: 7, count: 50_000), to: client) {
      rig.run(for: .milliseconds(100))
    }
    rig.run(for: .seconds(3600))
    _ = rig.takeLog()
    let begin = rig.now
    rig.internet.inject(.sever(rig.client), at: rig.now)
    rig.run(for: .seconds(1100))
    let failure = rig.takeLog()
    #expect(failure.map { $0.prefix { !$0.isNumber } } == ["client readable ", "writable "])
    // It asks every 120 s by then.
    #expect(rig.now - begin > .seconds(924))
    #expect(rig.read(client) == "(system(timedOut))")
  }

  @Test("a server that was restarted resets a client that has only finished")
  func finToNobody() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.internet.inject(.crash(rig.server), at: rig.now)
    rig.run(for: .seconds(1))
    rig.internet.inject(.restart(rig.server), at: rig.now)
    rig.run(for: .seconds(1))
    rig.internet.finishWriting(client, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(system(connectionReset))")
  }

  @Test("a reset does not overtake the bytes before it")
  func resetBehindBytes() {
    for seed in UInt64(1)...50 {
      let channel = Channel(latency: .constant(.milliseconds(50), jitter: .milliseconds(40)))
      let link = LinkProfile("jitter", about: "", source: "", up: channel, down: channel)
      var rig = Rig(seed: seed, link: link)
      let (client, server) = rig.connected()
      rig.write("last words", to: server)
      rig.internet.reset(server, at: rig.now)
      rig.run(for: .seconds(1))
      #expect(rig.readAll(client) == "last words(system(connectionReset))")
    }
  }

  @Test("a reset that answers bytes and is lost is sent again for the same bytes sent again")
  func resetLost() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.inject(.block(from: rig.server, to: nil, .drop), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.internet.reset(server, at: rig.now)
    rig.write("x", to: client)
    rig.run(for: .milliseconds(300))
    rig.internet.inject(.unblock(from: rig.server, to: nil), at: rig.now)
    rig.run(for: .seconds(1))
    // Its answer is missed at 1011 ms; sent again after 0.2 and 0.4 s more.
    #expect(rig.takeLog() == ["client readable 1631"])
  }

  @Test(
    "the timers of a device asleep stand still: what it had sent is sent again once it is awake")
  func asleep() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.write("x", to: client)
    rig.internet.inject(.sleep(rig.client), at: rig.now)
    rig.internet.inject(.wake(rig.client, sockets: .kept), at: rig.now + .seconds(8 * 3600))
    rig.run(for: .seconds(9 * 3600))
    #expect(
      rig.takeLog() == ["asleep 1000", "awake 28801000", "server readable 28801210"])
    #expect(rig.readAll(rig.sockets[0]) == "x(wouldBlock)")
  }

  @Test("last words are said whole, also where writes are cut into single bytes")
  func lastWords() {
    var rig = Rig(service: Service(script: [.echo]))
    rig.internet.chunking = .single
    let (client, _) = rig.connected()
    let words = Array("going away".utf8)
    rig.internet.inject(
      .closeAll(rig.server, port: rig.port, lastWords: words, within: .zero), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "going away(end)")
  }

  @Test("a script reads more than its buffer holds, and lets go of a peer that finishes before")
  func scriptReceives() {
    for (count, isEnough) in [(300_000, true), (299_999, false)] {
      var rig = Rig(service: Service(script: [.receive(300_000), .send([65]), .hang]))
      let client = rig.dial()
      rig.run(for: .seconds(1))
      var sent = 0
      while sent < count {
        let piece = [UInt8](repeating: 1, count: min(5000, count - sent))
        if case .wrote(let taken) = rig.write(piece, to: client) { sent += taken }
        rig.run(for: .milliseconds(100))
      }
      rig.internet.finishWriting(client, at: rig.now)
      rig.run(for: .seconds(1))
      #expect(rig.readAll(client) == (isEnough ? "A(wouldBlock)" : "(end)"))
    }
  }

  @Test("nothing is heard of a socket that was let go at the same instant")
  func silenceAfterClose() {
    var rig = Rig()
    let first = rig.dial()
    let second = rig.dial()
    rig.run(for: .seconds(1))
    rig.internet.inject(
      .leaveNetwork(rig.client, sockets: .failed(.networkDown)), at: rig.now + .seconds(1))
    var heard: [Occurrence] = []
    while let occurrence = rig.internet.next(through: rig.now + .seconds(2)) {
      if case .befell = occurrence { continue }
      heard.append(occurrence)
      rig.internet.close(second, at: rig.now + .seconds(1))
    }
    #expect(heard == [.readable(first), .pathChanged(rig.client, .down)])
  }

  @Test(
    "a portal answers for addresses that nobody has, and without a network no name is asked for")
  func portalAndOffline() {
    var rig = Rig()
    let portal = rig.internet.addHost("portal")
    rig.internet.listen(portal, port: 443)
    rig.internet.inject(.portal(rig.client, portal), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.internet.dial(from: rig.client, to: "192.0.2.1", port: 443, at: rig.now)
    rig.run(for: .milliseconds(100))
    #expect(rig.takeLog() == ["opened 21", "accepted 31"])
    rig.internet.inject(.leaveNetwork(rig.client, sockets: .kept), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.takeLog()
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    rig.run(for: .milliseconds(1))
    #expect(rig.takeLog() == ["resolved [] resolution(temporaryFailure) 102"])
  }
}
