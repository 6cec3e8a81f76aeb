import ConnectionFSM
import NetSim
import Testing

/// The visible life of a connection, as programs on a kernel's sockets see it.
@Suite struct ConnectionLifeTests {
  @Test("A dial is open after a round trip, its server half a one later, and bytes arrive in order")
  func openAndTalk() {
    var rig = Rig()
    let socket = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 20", "accepted 30"])
    rig.write("hello ", to: socket)
    rig.run(for: .milliseconds(5))
    rig.write("world", to: socket)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["server readable 1010", "server readable 1015"])
    #expect(rig.readAll(rig.sockets[0]) == "hello world(wouldBlock)")
  }

  @Test("A port that nobody serves refuses after a round trip")
  func refused() {
    var rig = Rig(service: nil)
    _ = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["failed system(connectionRefused) 20"])
    #expect(rig.internet.liveSockets == 0)
  }

  @Test("An address that nobody has answers nothing: Linux gives up after 127 s, Darwin after 75 s")
  func blackHole() {
    for (system, seconds) in [(OperatingSystem.linux, 127), (.darwin, 75)] {
      var rig = Rig(system: system)
      _ = rig.internet.dial(from: rig.client, to: "192.0.2.1", port: 443, at: rig.now)
      rig.run(for: .seconds(1000))
      #expect(rig.takeLog() == ["failed system(timedOut) \(seconds)000"])
    }
  }

  @Test("A FIN ends reading after the last byte; writing goes on until a reset")
  func halfClose() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.write("bye", to: server)
    rig.internet.finishWriting(server, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "bye(end)")
    rig.write("still here", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(server) == "still here(wouldBlock)")
    #expect(rig.write("x", to: server) == .failed(.system(.brokenPipe)))
  }

  @Test("After the peer's close the first write is taken and the second is a broken pipe")
  func writeAfterClose() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.close(server, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(end)")
    #expect(rig.write("x", to: client) == .wrote(1))
    rig.run(for: .seconds(1))
    #expect(rig.write("x", to: client) == .failed(.system(.brokenPipe)))
    #expect(rig.read(client) == "(end)")
  }

  @Test("A reset leaves what has arrived readable on Linux, and throws it away where the RFC rules")
  func reset() {
    for (system, read) in [
      (OperatingSystem.linux, "tail(system(connectionReset))"),
      (.darwin, "(system(connectionReset))"),
    ] {
      var rig = Rig(system: system)
      let (client, server) = rig.connected()
      rig.write("tail", to: server)
      rig.run(for: .seconds(1))
      rig.internet.reset(server, at: rig.now)
      rig.run(for: .seconds(1))
      #expect(rig.readAll(client) == read)
      #expect(rig.read(client) == "(end)")
      #expect(rig.write("x", to: client) == .failed(.system(.brokenPipe)))
    }
  }

  @Test("A close with something left unread resets, behind the last words")
  func closeUnread() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.write("unread", to: client)
    rig.run(for: .seconds(1))
    rig.write("tail", to: server)
    rig.internet.close(server, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "tail(system(connectionReset))")
  }

  @Test("A writer without a reader is stopped by two buffers, and goes on when there is room")
  func backpressure() {
    var rig = Rig()
    let (client, server) = rig.connected()
    var taken = 0
    while case .wrote(let count) = rig.write([UInt8](repeating: 7, count: 10_000), to: client) {
      taken += count
      rig.run(for: .milliseconds(100))
    }
    #expect(
      taken == OperatingSystem.linux.sendBuffer + OperatingSystem.linux.receiveBuffer)
    rig.run(for: .seconds(1000))
    _ = rig.takeLog()
    var read = 0
    while read < taken {
      let text = rig.read(server)
      if text != "(wouldBlock)" { read += text.utf8.count }
      rig.run(for: .milliseconds(100))
    }
    #expect(rig.takeLog().contains { $0.hasPrefix("writable") })
    #expect(rig.write("x", to: client) == .wrote(1))
  }

  @Test("A blocked way delivers after the repair, at the next retransmission")
  func blockAndRepair() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.inject(.block(from: rig.client, to: rig.server, .drop), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("late", to: client)
    rig.run(for: .seconds(60))
    #expect(rig.takeLog() == [])
    rig.internet.inject(.unblock(from: rig.client, to: rig.server), at: rig.now)
    rig.run(for: .seconds(60))
    // Sent again 0.2 s after the first time, then after twice as long each: 102.2 s is the first
    // one after the repair.
    #expect(rig.takeLog() == ["server readable 103211"])
    #expect(rig.readAll(server) == "late(wouldBlock)")
  }

  @Test("What is held is delivered as soon as it is released")
  func holdAndRelease() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.inject(.block(from: rig.client, to: nil, .hold), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("a", to: client)
    rig.run(for: .seconds(30))
    rig.write("b", to: client)
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["server readable 31011"])
    #expect(rig.readAll(server) == "ab(wouldBlock)")
  }

  @Test("A connection that vanished takes what is written, and fails after 924.6 s")
  func silence() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.internet.inject(.sever(rig.client), at: rig.now)
    rig.run(for: .seconds(5000))
    #expect(rig.takeLog() == [])
    #expect(rig.write("into the void", to: client) == .wrote(13))
    rig.run(for: .seconds(5000))
    #expect(rig.takeLog() == ["client readable 5925600"])
    #expect(rig.read(client) == "(system(timedOut))")
  }

  @Test("A piece that is under way for long holds back those behind it, and is not overtaken")
  func order() {
    let channel = Channel(latency: .uniform(.milliseconds(10) ... .milliseconds(200)))
    let link = LinkProfile(
      "uneven", about: "an uneven link", source: "", up: channel, down: channel)
    func firstArrival(seed: UInt64, second: Bool) -> String? {
      var rig = Rig(seed: seed, link: link)
      let (client, _) = rig.connected()
      rig.write("a", to: client)
      rig.run(for: .milliseconds(1))
      if second { rig.write("b", to: client) }
      rig.run(for: .seconds(1))
      return rig.takeLog().first
    }
    for seed in 0..<50 {
      let alone = firstArrival(seed: UInt64(seed), second: false)
      #expect(alone?.hasPrefix("server readable") == true)
      #expect(firstArrival(seed: UInt64(seed), second: true) == alone, "seed \(seed)")
    }
  }
}
