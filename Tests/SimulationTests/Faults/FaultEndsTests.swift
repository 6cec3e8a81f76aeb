import ConnectionFSM
import NetSim
import Testing

/// Faults that end a connection, with or without a word. Links are 10 ms one way.
@Suite struct FaultEndsTests {
  @Test(
    "fault 15 reset: ECONNRESET for a read, EPIPE for a write; the unread goes as the RFC has it"
  )
  func reset() {
    for (system, read) in [
      (OperatingSystem.linux, "unread(system(connectionReset))"),
      (.darwin, "(system(connectionReset))"),
    ] {
      var rig = Rig(system: system)
      let (client, server) = rig.connected()
      rig.write("unread", to: server)
      rig.run(for: .seconds(1))
      rig.internet.inject(.resetAll(rig.server, port: rig.port, within: .zero), at: rig.now)
      rig.run(for: .seconds(1))
      #expect(rig.takeLog() == ["client readable 1010", "client readable 2010"])
      #expect(rig.readAll(client) == read)
      #expect(rig.write("x", to: client) == .failed(.system(.brokenPipe)))
    }
  }

  @Test("fault 15 reset: a box can reset both ends")
  func cut() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.inject(.cut(rig.client), at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.read(client) == "(system(connectionReset))")
    #expect(rig.read(server) == "(system(connectionReset))")
  }

  @Test("fault 16 finish: the end is read behind the last byte, and writes are still taken")
  func finish() {
    var rig = Rig(
      service: Service(script: [.send(Array("last".utf8)), .finish, .receive(3), .hang]))
    let client = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "last(end)")
    #expect(rig.write("one", to: client) == .wrote(3))
    rig.run(for: .seconds(1))
    #expect(rig.write("two", to: client) == .wrote(3))
    #expect(Set(rig.takeLog()) == ["opened 20", "client readable 40"])
  }

  @Test(
    "fault 17 write-after-finish: the first write is taken, the second, a round trip on, is EPIPE"
  )
  func writeAfterFinish() {
    var rig = Rig(service: Service(script: [.close]))
    let client = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.write("one", to: client) == .wrote(3))
    rig.run(for: .milliseconds(19))
    #expect(rig.write("two", to: client) == .wrote(3))
    rig.run(for: .milliseconds(1))
    #expect(rig.write("three", to: client) == .failed(.system(.brokenPipe)))
    #expect(rig.readAll(client) == "(end)")
  }

  @Test("fault 18 silent-half-open: no read ever fails; a write is taken and fails after 924.6 s")
  func silentHalfOpen() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.internet.inject(.sever(rig.client), at: rig.now)
    rig.run(for: .seconds(365 * 86_400))
    #expect(rig.takeLog() == [])
    #expect(rig.read(client) == "(wouldBlock)")
    var taken = 0
    while case .wrote(let count) = rig.write([UInt8](repeating: 1, count: 10_000), to: client) {
      taken += count
    }
    #expect(taken == OperatingSystem.linux.sendBuffer)
    rig.run(for: .milliseconds(924_599))
    #expect(rig.takeLog() == [])
    rig.run(for: .milliseconds(1))
    let end = 1000 + 365 * 86_400_000 + 924_600
    // The last write was told that there is no room.
    #expect(rig.takeLog() == ["client readable \(end)", "writable \(end)"])
    #expect(rig.read(client) == "(system(timedOut))")
    #expect(rig.write("x", to: client) == .failed(.system(.brokenPipe)))
  }

  @Test("fault 18 silent-half-open: a server without power resets what it is sent once it is back")
  func crash() {
    var rig = Rig()
    let (client, _) = rig.connected()
    rig.internet.inject(.crash(rig.server), at: rig.now)
    rig.internet.inject(.restart(rig.server), at: rig.now + .seconds(60))
    rig.run(for: .seconds(30))
    rig.write("x", to: client)
    rig.run(for: .seconds(29))
    #expect(rig.takeLog() == [])
    rig.run(for: .seconds(30))
    // Sent at 31 s, and after 0.2, 0.6, … 25.4 and 51 s.
    #expect(rig.takeLog() == ["client readable 82020"])
    #expect(rig.read(client) == "(system(connectionReset))")
  }

  /// What a client sees that pings a server with an echo, as words; and the instant of its end in
  /// milliseconds since the connection was open.
  private func ping(
    every span: TimeSpan, through reaper: IdleReaper, seed: UInt64 = 1
  ) -> (end: String, at: Int64)? {
    var rig = Rig(seed: seed, service: Service(script: [.echo]))
    rig.internet.addReaper(reaper, to: rig.server)
    let client = rig.dial()
    rig.run(for: .milliseconds(20))
    let begin = rig.now
    for _ in 0..<4 {
      rig.run(for: span)
      let ends = ["(end)", "(system(connectionReset))", "(system(brokenPipe))"]
      let read = rig.readAll(client)
      let instant = (rig.internet.now - begin).nanoseconds / 1_000_000
      if ends.contains(where: read.hasSuffix) { return (read, instant) }
      if rig.write("p", to: client) != .wrote(1) { return ("(write)", instant) }
      rig.run(for: .seconds(1))
      let answer = rig.readAll(client)
      if answer != "p(wouldBlock)" { return (answer, instant) }
    }
    return nil
  }

  @Test(
    "fault 19 idle-expiry: each box forgets after its time, in its own way",
    arguments: IdleReaper.all)
  func idleExpiry(_ reaper: IdleReaper) {
    let half = TimeSpan.nanoseconds(reaper.idle.nanoseconds / 2)
    #expect(ping(every: half, through: reaper) == nil)
    let end = ping(every: reaper.idle + .seconds(5), through: reaper)
    switch reaper.aftermath {
    case .silence: #expect(end?.end == "(wouldBlock)")
    case .resetOnNextPacket, .reset: #expect(end?.end == "(system(connectionReset))")
    case .finish: #expect(end?.end == "(end)")
    }
  }

  @Test("fault 19 idle-expiry: the NLB resets the next packet after 350 s, the ALB ends after 60 s")
  func exactExpiry() {
    for (known, log, read) in [
      (IdleReaper.awsNLB, ["client readable 355030"], "(system(connectionReset))"),
      (.awsALB, ["client readable 60030"], "(end)"),
    ] {
      var reaper = known
      reaper.sweep = .zero
      var rig = Rig(service: Service(script: [.hang]))
      rig.internet.addReaper(reaper, to: rig.server)
      let client = rig.dial()
      rig.run(for: .milliseconds(20) + .seconds(355))
      if read != "(end)" { rig.write("x", to: client) }
      rig.run(for: .seconds(1))
      #expect(Array(rig.takeLog().dropFirst()) == log)
      #expect(rig.read(client) == read)
    }
  }

  @Test("fault 20 one-way-partition: pings leave and no pong comes, or the reverse")
  func oneWayPartition() {
    for isUp in [true, false] {
      var rig = Rig(service: Service(script: [.echo]))
      let (client, _) = rig.connected()
      rig.internet.inject(
        .block(from: isUp ? rig.client : nil, to: isUp ? nil : rig.client, .drop), at: rig.now)
      rig.run(for: .milliseconds(1))
      rig.write("ping", to: client)
      rig.run(for: .seconds(900))
      #expect(rig.takeLog() == [])
      rig.run(for: .seconds(100))
      // Also the client whose bytes arrive hears of none.
      #expect(rig.takeLog() == [isUp ? "client readable 925601" : "client readable 925611"])
      #expect(rig.read(client) == "(system(timedOut))")
    }
  }

  @Test("fault 21 partition-and-heal: after 10 s all comes at once, when held or sent again")
  func partitionAndHeal() {
    for (mode, instant) in [(BlockMode.hold, 11_010), (.drop, 13_611)] {
      var rig = Rig()
      let (client, server) = rig.connected()
      rig.internet.inject(.block(from: nil, to: rig.client, mode), at: rig.now)
      rig.internet.inject(.unblock(from: nil, to: rig.client), at: rig.now + .seconds(10))
      rig.run(for: .milliseconds(1))
      for word in ["one ", "two ", "three"] {
        rig.write(word, to: server)
        rig.run(for: .seconds(1))
      }
      rig.run(for: .seconds(60))
      #expect(rig.takeLog() == ["client readable \(instant)"])
      #expect(rig.read(client) == "one two three")
    }
  }

  @Test("fault 45 data-loss: what was taken before a silent death is counted, and never arrives")
  func dataLoss() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.write("heard ", to: client)
    rig.run(for: .seconds(1))
    rig.internet.inject(.sever(rig.client), at: rig.now)
    rig.run(for: .milliseconds(1))
    #expect(rig.write("lost", to: client) == .wrote(4))
    rig.run(for: .seconds(1000))
    #expect(rig.readAll(server) == "heard (wouldBlock)")
    #expect(rig.read(client) == "(system(timedOut))")
  }
}
