import ConnectionFSM
import Testing

@Suite("F56: statistics folded from a trace")
struct StatisticsTests {
  @Test("attempts, opens, failures by class, wished ends and give-ups are counted")
  func ends() throws {
    var rig = Recorder(try Policy.made(backoff: .exact.limited(to: 2)))
    rig.feed(.connect(here))
    rig.transport(.failed(.system(.networkDown)))
    rig.serveDeadline()
    rig.transport(.opened)
    rig.feed(.connect(elsewhere), at: .seconds(5))
    rig.transport(.failed(.lost))
    rig.serveDeadline()
    rig.transport(.failed(.lost))
    rig.feed(.connect(here))
    rig.transport(.failed(.fatal))
    rig.feed(.connect(here))
    rig.feed(.close)
    let found = rig.statistics
    #expect(found.attempts == 6)
    #expect(found.opens == 1)
    #expect(found.wishedEnds == 2)
    #expect(found.failures == [.network: 1, .transient: 2, .terminal: 1])
    #expect(found.giveUps == [.exhausted: 1, .terminal: 1])
    #expect(found.phase == .closed)
    #expect(found.steps == rig.records.count)
  }

  @Test("time in open and outages add up, holds of the application apart")
  func periods() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.opened, at: .seconds(2))
    rig.transport(.failed(.lost), at: .seconds(12))
    #expect(rig.statistics.open.total == .seconds(10))
    #expect(rig.statistics.open.current == nil)
    rig.serveDeadline()
    rig.transport(.opened, at: .seconds(19))
    rig.transport(.failed(.lost), at: .seconds(22))
    #expect(rig.statistics.outages.longest == .seconds(7))
    rig.feed(.demandChanged(false), at: .seconds(23))
    rig.feed(.demandChanged(true), at: .seconds(3_623))
    let running = rig.statistics.outages
    #expect(running.current == .seconds(1))
    rig.transport(.opened, at: .seconds(3_625))
    let (open, outages) = (rig.statistics.open, rig.statistics.outages)
    #expect(outages.count == 2 && outages.total == .seconds(10) && outages.current == nil)
    #expect(open.count == 3 && open.total == .seconds(13) && open.longest == .seconds(10))
    #expect(open.current == .zero)
    // A close is no outage.
    rig.feed(.close, at: .seconds(3_630))
    rig.transport(.closed(nil), at: .seconds(3_631))
    #expect(rig.statistics.open.total == .seconds(18))
    #expect(rig.statistics.outages.count == 2)
  }

  @Test("a link that is left for another endpoint is no outage")
  func elsewhereIsNoOutage() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.feed(.connect(elsewhere), at: .seconds(3))
    rig.transport(.opened, at: .seconds(4))
    #expect(rig.statistics.outages.count == 0)
    #expect(rig.statistics.open.total == .seconds(3))
    #expect(rig.statistics.open.count == 2)
  }

  @Test("waits are counted as drawn, though the user cuts one short")
  func waits() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    for _ in 1...3 {
      rig.transport(.failed(.lost))
      rig.serveDeadline()
    }
    rig.transport(.failed(.lost))
    rig.feed(.connect(here), at: rig.now + .seconds(1))
    // 4, 4, 8 and 16 seconds.
    let waits = rig.statistics.waits
    #expect(waits.count == 4 && waits.total == .seconds(32) && waits.longest == .seconds(16))
    #expect(waits.current == nil)
  }

  @Test("I23, B1.14: messages are counted by what became of them, also where ranges have holes")
  func traffic() throws {
    var rig = Recorder(
      try Policy.made(lanes: [.made(.atMostOnce), .made(.atLeastOnce, countLimit: 4)]))
    rig.feed(.connect(here))
    for _ in 1...3 { rig.feed(.offerA(7)) }
    for _ in 1...5 { rig.feed(.offerB(2)) }
    rig.feed(.cancel(.a(2)))
    rig.feed(.cancel(.b(1)))
    #expect(rig.statistics.highWater == 7 && rig.statistics.pending == 5)
    rig.transport(.opened)
    rig.transport(.received(byteCount: 11))
    rig.transport(.written(through: .a(1)))
    rig.transport(.failed(.lost), at: .seconds(1))
    rig.serveDeadline()
    rig.transport(.opened)
    rig.transport(.received(byteCount: 4))
    rig.transport(.acknowledged(through: .b(4)))
    let found = rig.statistics
    #expect(found.taken == 7 && found.takenBytes == 29)
    #expect(found.rejected == [.full: 1])
    #expect(found.ended == [.cancelled: 2, .written: 1, .inDoubt: 1, .acknowledged: 3])
    #expect(found.transmitted == 8)  // two of lane a, three of lane b twice
    #expect(found.receivedBytes == 15)
    #expect(found.pending == 0 && found.highWater == 7)
  }

  @Test("the round trip follows RFC 6298 from ping to the pong of the same number")
  func roundTrip() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.serveDeadline()
    rig.transport(.pong(1), at: rig.now + .milliseconds(100))
    let first = try #require(rig.statistics.roundTrip)
    #expect(first.smoothed == .milliseconds(100) && first.variation == .milliseconds(50))
    rig.serveDeadline()
    // Life, but no answer; then an answer that nobody asked for.
    rig.transport(.received(byteCount: 1), at: rig.now + .milliseconds(20))
    rig.transport(.pong(7))
    #expect(rig.statistics.roundTrip?.count == 1)
    rig.transport(.pong(2), at: rig.now + .milliseconds(160))
    rig.serveDeadline()
    rig.transport(.pong(3), at: rig.now + .milliseconds(60))
    let found = try #require(rig.statistics.roundTrip)
    // 100; then (50 * 3 + 80) / 4 = 57.5 and 110; then (57.5 * 3 + 50) / 4 and 103.75.
    #expect(found.variation == .microseconds(55_625))
    #expect(found.smoothed == .microseconds(103_750))
    #expect(found.last == .milliseconds(60))
    #expect(found.least == .milliseconds(60) && found.most == .milliseconds(180))
    #expect(found.count == 3)
  }

  @Test("a pong of another epoch measures nothing")
  func foreignPong() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.serveDeadline()
    rig.transport(.failed(.lost))
    rig.serveDeadline()
    rig.transport(.opened)
    rig.serveDeadline()
    rig.feed(.transport(Epoch(1), .pong(1)), at: rig.now + .seconds(1))
    #expect(rig.statistics.roundTrip == nil)
    rig.feed(.transport(Epoch(2), .pong(1)))
    #expect(rig.statistics.roundTrip?.last == .seconds(1))
  }

  @Test("what is sent wakes the radio after ten seconds of silence in both directions")
  func radio() throws {
    var rig = Recorder(try Policy.made(heartbeat: nil))
    rig.feed(.connect(here))
    #expect(rig.statistics.radioWakeUps == 1)
    rig.transport(.opened, at: .seconds(1))
    rig.feed(.offerA(), at: .seconds(11))
    #expect(rig.statistics.radioWakeUps == 1)
    rig.transport(.received(byteCount: 1), at: .seconds(20))
    rig.feed(.offerA(), at: .seconds(30))
    #expect(rig.statistics.radioWakeUps == 1)
    rig.feed(.offerA(), at: .seconds(40) + .nanoseconds(1))
    #expect(rig.statistics.radioWakeUps == 2)
  }

  @Test("ignored inputs are counted by their reason")
  func ignored() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.feed(.connect(here))
    rig.feed(.deadlineReached)
    for _ in 1...2 { rig.feed(.transport(Epoch(9), .opened)) }
    #expect(rig.statistics.ignored == [.redundant: 1, .early: 1, .staleEpoch: 2])
  }

  @Test("in any weather statistics agree with the machine and with a naive count")
  func anyWeather() throws {
    for seed in 1...80 as ClosedRange<UInt64> {
      let policy = try Policy.made(
        session: seed % 3 == 0 ? .seconds(3) : nil, lanes: RandomWalkTests.fourLanes)
      var rig = Rig(policy, seed: seed)
      var recorder = Recorder(policy, seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...400 {
        let instant = walk.instant(for: rig)
        let input = walk.input(for: rig, lanes: 4)
        rig.feed(input, at: instant)
        recorder.feed(input, at: instant)
      }
      let found = recorder.statistics
      let alive = (0..<4 as Range<UInt8>).reduce(0) { sum, lane in
        let (waiting, inFlight) = recorder.machine.pendingCount(in: LaneID(lane))
        return sum + waiting + inFlight
      }
      #expect(found.pending == alive, "seed \(seed)")
      #expect(found.taken == found.pending + found.ended.values.reduce(0, +), "seed \(seed)")
      #expect(found.attempts == rig.ledger.dials.count)
      #expect(found.wishedEnds + found.failures.values.reduce(0, +) == rig.ledger.ends.count)
      #expect(found.open.total == recorder.time(in: .open), "seed \(seed)")
    }
  }
}

extension Recorder {
  /// The time from each step that led into the phase, or left it there, to the next step.
  fileprivate func time(in phase: Phase) -> TimeSpan {
    zip(records, records.dropFirst()).reduce(.zero) { sum, pair in
      let length = pair.0.to == phase ? (pair.1.instant - pair.0.instant).nanoseconds : 0
      return TimeSpan(nanoseconds: sum.nanoseconds + length)
    }
  }
}
