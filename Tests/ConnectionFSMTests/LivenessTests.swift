import ConnectionFSM
import Testing

@Suite("Missed pings")
struct MissedPingTests {
  private func opened(misses: UInt8, anyByteCounts: Bool = true) throws -> Rig {
    Rig.opened(
      try Policy.made(
        heartbeat: Heartbeat(
          interval: .seconds(25), timeout: .seconds(10), misses: misses,
          anyByteCounts: anyByteCounts)))
  }

  @Test("F43: three misses are three pings a timeout apart, then the verdict")
  func three() throws {
    var rig = try opened(misses: 3)
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(try rig.serveDeadline().text == "ping 1 #2")
    #expect(rig.now == .seconds(35))
    #expect(try rig.serveDeadline().text == "ping 1 #3")
    #expect(rig.now == .seconds(45))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(55))
  }

  @Test("F43, RC179: misses must be consecutive: two, hours apart, close nothing")
  func consecutive() throws {
    var rig = try opened(misses: 2)
    for _ in 1...5 {
      try rig.serveDeadline()
      #expect(try rig.serveDeadline().text.hasPrefix("ping 1"))
      rig.transport(.received(byteCount: 1), at: rig.now + .seconds(1))
      rig.transport(.received(byteCount: 1), at: rig.now + .seconds(3))
    }
    #expect(rig.phase == .open)
    try rig.serveDeadline()
    try rig.serveDeadline()
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F43: a verdict served late is no miss: all the misses are still to be had")
  func late() throws {
    var rig = try opened(misses: 2)
    try rig.serveDeadline()
    #expect(try rig.serveDeadline(late: .seconds(60)).text == "ping 1 #2")
    #expect(try rig.serveDeadline().text == "ping 1 #3")
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F43: who is in doubt misses once and no more")
  func doubt() throws {
    var rig = try opened(misses: 3)
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "ping 1 #1")
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(8))
  }

  @Test("F43: where only a pong counts, bytes neither answer nor put off the next ping")
  func strict() throws {
    var rig = try opened(misses: 1, anyByteCounts: false)
    let bytes = rig.transport(.received(byteCount: 9), at: .seconds(20))
    #expect(bytes.disposition == .ignored(.redundant))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(rig.now == .seconds(25))
    rig.transport(.received(byteCount: 9), at: .seconds(30))
    #expect(rig.machine.nextDeadline == .seconds(35))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F43: where only a pong counts, a pong answers")
  func strictPong() throws {
    var rig = try opened(misses: 1, anyByteCounts: false)
    try rig.serveDeadline()
    rig.transport(.received(byteCount: 9), at: .seconds(29))
    rig.transport(.pong(1), at: .seconds(30))
    #expect(rig.machine.nextDeadline == .seconds(55))
    #expect(rig.phase == .open)
  }
}

@Suite("A server that pings")
struct ServerDrivenTests {
  private let heartbeat = Heartbeat(
    interval: .seconds(25), timeout: .seconds(10), isServerDriven: true)

  private func opened() throws -> Rig { Rig.opened(try Policy.made(heartbeat: heartbeat)) }

  @Test("F43: where the server pings we send none, and give it up after interval and timeout")
  func silence() throws {
    var rig = try opened()
    #expect(try rig.serveDeadline().text == "")
    #expect(rig.now == .seconds(25))
    #expect(rig.machine.nextDeadline == .seconds(35))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.ledger.pings == 0)
  }

  @Test("F43: each byte of a server that pings starts its time anew")
  func alive() throws {
    var rig = try opened()
    for _ in 1...10 {
      try rig.run(until: rig.now + .seconds(34))
      rig.transport(.received(byteCount: 2))
    }
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == rig.now + .seconds(25))
    #expect(rig.ledger.pings == 0)
  }

  @Test("F43, RC128: a watchdog that is late by a sleep waits for one timeout more, unasked")
  func lateTimer() throws {
    var rig = try opened()
    try rig.serveDeadline()
    #expect(rig.feed(.deadlineReached, at: .seconds(4000)).text == "")
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(4010))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F43: a sleep through the whole silence leaves the server one timeout to be read")
  func sleptThrough() throws {
    var rig = try opened()
    #expect(rig.feed(.deadlineReached, at: .seconds(4000)).text == "")
    #expect(rig.machine.nextDeadline == .seconds(4010))
    rig.transport(.received(byteCount: 2), at: .seconds(4001))
    #expect(rig.machine.nextDeadline == .seconds(4026))
  }

  @Test("F43: a lost path asks a server that pings nothing: it knows no ping of ours")
  func lostPath() throws {
    var rig = try opened()
    #expect(rig.feed(.pathChanged(.down), at: .seconds(5)).text == "")
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(25))
  }
}

@Suite("Round trip")
struct RoundTripTests {
  private func opened(misses: UInt8 = 1) throws -> Rig {
    Rig.opened(
      try Policy.made(
        heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10), misses: misses)))
  }

  private func answer(_ rig: inout Rig, _ number: UInt32, after span: TimeSpan) throws {
    try rig.serveDeadline()
    rig.transport(.pong(number), at: rig.now + span)
  }

  @Test("F43: the round trip is smoothed as RFC 6298 says: 100, 112.5, 110.938 ms")
  func smoothed() throws {
    var rig = try opened()
    #expect(rig.machine.roundTrip == nil)
    try answer(&rig, 1, after: .milliseconds(100))
    #expect(rig.machine.roundTrip == .milliseconds(100))
    try answer(&rig, 2, after: .milliseconds(200))
    // 100,000 × 7/8 + 200,000 / 8, in microseconds.
    #expect(rig.machine.roundTrip == .microseconds(112_500))
    try answer(&rig, 3, after: .milliseconds(100))
    // 112,500 − 14,062 + 12,500: each eighth is cut to whole microseconds.
    #expect(rig.machine.roundTrip == .microseconds(110_938))
  }

  @Test("F43: an answer in the same instant measures a microsecond, not nothing")
  func instant() throws {
    var rig = try opened()
    try answer(&rig, 1, after: .zero)
    #expect(rig.machine.roundTrip == .microseconds(1))
  }

  @Test("F43: a pong of a wrong number is life and no measure")
  func wrongNumber() throws {
    var rig = try opened()
    try answer(&rig, 77, after: .milliseconds(100))
    #expect(rig.machine.roundTrip == nil)
    #expect(rig.machine.nextDeadline == rig.now + .seconds(25))
  }

  @Test("F43: a pong said twice measures once")
  func duplicated() throws {
    var rig = try opened()
    try answer(&rig, 1, after: .milliseconds(100))
    rig.transport(.pong(1), at: rig.now + .milliseconds(800))
    #expect(rig.machine.roundTrip == .milliseconds(100))
  }

  @Test("F43: the late pong of the ping before is life and no measure")
  func late() throws {
    var rig = try opened()
    try rig.serveDeadline()
    rig.transport(.received(byteCount: 1), at: rig.now + .seconds(1))
    try rig.serveDeadline()
    rig.transport(.pong(1), at: rig.now + .milliseconds(1))
    #expect(rig.machine.roundTrip == nil)
    #expect(rig.phase == .open)
    rig.transport(.pong(2), at: rig.now + .milliseconds(1))
    #expect(rig.machine.roundTrip == nil, "the ping was answered by what came before")
  }

  @Test("F43: of a ping asked twice no answer measures (Karn)")
  func karn() throws {
    var rig = try opened(misses: 2)
    try rig.serveDeadline()
    try rig.serveDeadline()
    rig.transport(.pong(2), at: rig.now + .milliseconds(5))
    #expect(rig.machine.roundTrip == nil)
    try answer(&rig, 3, after: .milliseconds(60))
    #expect(rig.machine.roundTrip == .milliseconds(60))
  }

  @Test("F43: nor does the answer to a ping asked anew after a sleep")
  func afterSleep() throws {
    var rig = try opened()
    try rig.serveDeadline()
    try rig.serveDeadline(late: .seconds(60))
    rig.transport(.pong(2), at: rig.now + .milliseconds(5))
    #expect(rig.machine.roundTrip == nil)
  }

  @Test("F43: a new link measures anew")
  func newLink() throws {
    var rig = try opened()
    try answer(&rig, 1, after: .milliseconds(100))
    rig.transport(.closed(nil))
    try rig.redial()
    rig.transport(.opened)
    #expect(rig.machine.roundTrip == nil)
    try answer(&rig, 1, after: .milliseconds(300))
    #expect(rig.machine.roundTrip == .milliseconds(300))
  }
}

@Suite("A learned interval")
struct LearnedIntervalTests {
  private let heartbeat = Heartbeat(
    interval: .seconds(80), timeout: .seconds(10), shortestInterval: .seconds(15))

  private func opened(_ heartbeat: Heartbeat, interface: UInt16 = 1) throws -> Rig {
    var rig = Rig(try Policy.made(heartbeat: heartbeat))
    rig.feed(.pathChanged(Path(.up, interface: interface)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    return rig
  }

  /// The silence after which the next link pings.
  private func interval(_ rig: inout Rig) throws -> TimeSpan {
    while rig.phase != .connecting { try rig.serveDeadline() }
    let opening = rig.now
    rig.transport(.opened)
    return try #require(rig.machine.nextDeadline) - opening
  }

  /// Dies unheard: the ping of the whole silence stays without an answer.
  private func dieInSilence(_ rig: inout Rig) throws {
    while rig.phase == .open { try rig.serveDeadline() }
  }

  @Test("F44: each silent loss halves the interval, down to the shortest: 80, 40, 20, 15, 15 s")
  func halves() throws {
    var rig = try opened(heartbeat)
    var intervals: [TimeSpan] = []
    for _ in 1...4 {
      try dieInSilence(&rig)
      intervals.append(try interval(&rig))
    }
    #expect(intervals == [.seconds(40), .seconds(20), .seconds(15), .seconds(15)])
  }

  @Test("F44: a reset found after a silence teaches half of that silence")
  func reset() throws {
    var rig = try opened(heartbeat)
    rig.transport(.received(byteCount: 1), at: .seconds(10))
    rig.transport(.failed(.system(.connectionReset)), at: .seconds(70))
    #expect(try interval(&rig) == .seconds(30))
  }

  @Test("F44: a reset of a link that was just heard teaches nothing")
  func busy() throws {
    var rig = try opened(heartbeat)
    rig.transport(.received(byteCount: 1), at: .seconds(70))
    rig.transport(.failed(.system(.connectionReset)), at: .seconds(80))
    #expect(try interval(&rig) == .seconds(80))
  }

  @Test("F44: code 1006 and an end without a code are silent losses, other codes are a word")
  func codes() throws {
    for (code, expected) in [(nil, 35), (1006, 35), (1000, 80), (1001, 80), (1011, 80)]
      as [(UInt16?, Int64)]
    {
      var rig = try opened(heartbeat)
      rig.transport(.closed(code.map { CloseCode($0) }), at: .seconds(70))
      #expect(try interval(&rig) == .seconds(expected), "\(String(describing: code))")
    }
  }

  @Test("F44: a loss in doubt teaches nothing: it was the path's")
  func doubt() throws {
    var rig = try opened(heartbeat)
    rig.transport(.viabilityChanged(false), at: .seconds(70))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(try interval(&rig) == .seconds(80))
  }

  @Test("F44: what was learned is forgotten on another interface, and kept on the same")
  func interface() throws {
    var rig = try opened(heartbeat)
    try dieInSilence(&rig)
    rig.feed(.pathChanged(Path(.down)))
    rig.feed(.pathChanged(Path(.up, interface: 1)))
    #expect(try interval(&rig) == .seconds(40))
    let opening = rig.now
    rig.feed(.pathChanged(Path(.up, interface: 2)))
    rig.transport(.received(byteCount: 1))
    #expect(rig.machine.nextDeadline == opening + .seconds(80))
  }

  @Test("F44: without a shortest interval nothing is learned")
  func absent() throws {
    var rig = try opened(
      Heartbeat(interval: .seconds(80), timeout: .seconds(10), shortestInterval: nil))
    try dieInSilence(&rig)
    #expect(try interval(&rig) == .seconds(80))
  }

  @Test("F44: a NAT that forgets after 60 s of silence is survived from the second link on")
  func natOfSixtySeconds() throws {
    var rig = try opened(heartbeat)
    var losses = 0
    while rig.now < .seconds(3600) {
      let heardAt = rig.machine.primary?.heardAt ?? rig.now
      let before = rig.ledger.dials.count
      let step = try rig.serveDeadline()
      if step.text.hasPrefix("ping"), rig.now - heardAt < .seconds(60) {
        rig.transport(.received(byteCount: 1))
      }
      if step.text.contains("timedOut(pong)") { losses += 1 }
      if rig.ledger.dials.count > before { rig.transport(.opened) }
    }
    #expect(losses == 1)
    #expect(rig.phase == .open)
  }
}
