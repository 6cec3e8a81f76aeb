import ConnectionFSM
import Testing

@Suite("Backoff")
struct BackoffTests {
  private static let full = Backoff(
    first: .seconds(5), base: .seconds(2), cap: .seconds(60), jitter: .full,
    stability: .seconds(10), attemptLimit: nil)

  private func series(_ backoff: Backoff, _ count: UInt32, seed: UInt64 = 1) -> [TimeSpan] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { backoff.wait(afterFailures: $0, using: &random) }
  }

  @Test("F09: 0, 2, 4, 8, 16, 32, 60, 60 … where the first wait is zero and the base one second")
  func tableFromZero() {
    let backoff = Backoff(
      first: .zero, base: .seconds(1), cap: .seconds(60), jitter: .none,
      stability: .seconds(10), attemptLimit: nil)
    let expected: [Int64] = [0, 2, 4, 8, 16, 32] + Array(repeating: 60, count: 14)
    #expect(series(backoff, 20) == expected.map { .seconds($0) })
  }

  @Test("F10: 2, 4, 8, 16, 30, 30 … under a cap of 30 seconds")
  func doubling() {
    let backoff = Backoff(
      first: .seconds(2), base: .seconds(2), cap: .seconds(30), jitter: .none,
      stability: .seconds(10), attemptLimit: nil)
    #expect(series(backoff, 6) == [2, 4, 8, 16, 30, 30].map { .seconds($0) })
  }

  @Test("the first wait is under the cap too")
  func cappedFirst() {
    let backoff = Backoff(
      first: .seconds(9), base: .seconds(1), cap: .seconds(3), jitter: .none,
      stability: .seconds(10), attemptLimit: nil)
    #expect(series(backoff, 3) == [3, 2, 3].map { .seconds($0) })
  }

  private static let year = TimeSpan.seconds(365 * 24 * 3600)
  private static let units: [(base: TimeSpan, cap: TimeSpan)] = [
    (.seconds(2), .seconds(60)), (.nanoseconds(1), year), (year, year),
    (.nanoseconds(3), .nanoseconds(7)), (.zero, .seconds(1)),
  ]

  @Test(
    "I6, RC029, B0.7: no number of failures overflows, passes the cap, or makes the wait shorter",
    arguments: units)
  func ceilings(base: TimeSpan, cap: TimeSpan) {
    let backoff = Backoff(
      first: .zero, base: base, cap: cap, jitter: .none, stability: .zero, attemptLimit: nil)
    var last = TimeSpan.zero
    let many: [UInt32] = [100, 1_000, 1_000_000, 1_000_000_000, .max - 1, .max]
    let few = [UInt32](0...70)
    for failures in few + many {
      let ceiling = backoff.ceiling(afterFailures: failures)
      #expect(ceiling >= last && ceiling <= cap)
      last = ceiling
    }
    #expect(last == (base == .zero ? .zero : cap))
  }

  @Test(
    "F11: full jitter stays between zero and the ceiling and fills the range evenly",
    arguments: [
      (UInt32(0), Int64(5)), (1, 4), (4, 32), (5, 60), (1_000_000_000, 60),
    ])
  func distribution(failures: UInt32, ceiling: Int64) {
    var random = SplitMix64(seed: 20_24)
    var bins = [Int](repeating: 0, count: 10)
    for _ in 1...10_000 {
      let wait = Self.full.wait(afterFailures: failures, using: &random)
      if wait < .zero || wait > .seconds(ceiling) { Issue.record("\(wait) is out of bounds") }
      bins[min(9, Int(wait.nanoseconds / (ceiling * 100_000_000)))] += 1
    }
    // Five standard deviations of a bin of one in ten: 150.
    #expect(bins.allSatisfy { abs($0 - 1000) < 150 })
  }

  @Test("RC030, RC208, B0.8, B4.12: one seed repeats its series, two seeds differ, at the cap too")
  func seeds() {
    #expect(series(Self.full, 40, seed: 7) == series(Self.full, 40, seed: 7))
    let (one, other) = (series(Self.full, 40, seed: 7), series(Self.full, 40, seed: 8))
    #expect(zip(one, other).allSatisfy { $0 != $1 })
  }

  @Test("one backoff is one draw; without jitter it is none")
  func draws() {
    var random = SplitMix64(seed: 5)
    var twin = random
    _ = Self.full.wait(afterFailures: 9, using: &random)
    _ = twin.next()
    #expect(random == twin)
    _ = Backoff.exact.wait(afterFailures: 9, using: &random)
    #expect(random == twin)
  }

  @Test("two machines with one seed draw the same waits, with two seeds others")
  func machineSeeds() throws {
    func waits(seed: UInt64) throws -> [TimeSpan] {
      var rig = Rig(try Policy.made(backoff: Self.full), seed: seed)
      rig.feed(.connect(here))
      return try (1...20).map { _ in
        rig.transport(.failed(.lost))
        let wait = try #require(rig.retryAt) - rig.now
        try rig.redial()
        return wait
      }
    }
    #expect(try waits(seed: 3) == waits(seed: 3))
    #expect(try waits(seed: 3) != waits(seed: 4))
  }
}

@Suite("Backoff of a machine")
struct ResetTests {
  private func fail(_ rig: inout Rig, _ count: Int) throws -> [Int64] {
    try (1...count).map { _ in
      rig.transport(.failed(.lost))
      let wait = try #require(rig.retryAt) - rig.now
      try rig.redial()
      return wait.nanoseconds / 1_000_000_000
    }
  }

  @Test("F11, B4.6: failures in a row wait longer and longer, up to the cap")
  func grows() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    #expect(try fail(&rig, 8) == [4, 4, 8, 16, 32, 60, 60, 60])
  }

  @Test("F12, RC032, B0.6: a server that accepts and drops is waited for longer and longer")
  func bareOpen() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    var waits: [Int64] = []
    for _ in 1...6 {
      rig.transport(.opened)
      rig.transport(.received(byteCount: 1), at: rig.now + .seconds(9))
      waits += try fail(&rig, 1)
    }
    #expect(waits == [4, 4, 8, 16, 32, 60])
  }

  @Test(
    "F12: failures are forgotten after a link that was open for the stability, not less",
    arguments: [
      (Int64(9_999_999_999), Int64(16)), (10_000_000_000, 4),
    ])
  func stability(nanoseconds: Int64, wait: Int64) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    _ = try fail(&rig, 3)
    rig.transport(.opened)
    let opened = rig.now
    rig.transport(.failed(.lost), at: opened + .nanoseconds(nanoseconds))
    #expect(rig.retryAt == rig.now + .seconds(wait))
  }

  @Test("F12: time in the session stage is not time open")
  func sessionIsNotStability() throws {
    var rig = Rig(try Policy.made(session: .seconds(100)))
    rig.feed(.connect(here))
    _ = try fail(&rig, 3)
    rig.transport(.opened)
    rig.feed(.session(rig.epoch, .ready), at: rig.now + .seconds(50))
    rig.transport(.failed(.lost), at: rig.now + .seconds(5))
    #expect(rig.retryAt == rig.now + .seconds(16))
  }

  @Test("I6: neither a hold nor its end forgets failures")
  func holdsKeep() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    _ = try fail(&rig, 3)
    rig.transport(.failed(.lost))
    rig.feed(.demandChanged(false))
    rig.feed(.demandChanged(true), at: rig.now + .seconds(500))
    #expect(rig.phase == .connecting)
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == rig.now + .seconds(32))
  }

  @Test(
    "RC086, B4.12: the attempt limit counts dials, opened ones too, and gives up on the last",
    arguments: [
      false, true,
    ])
  func attemptLimit(opens: Bool) throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 3)))
    rig.feed(.connect(here))
    for attempt in 1...3 {
      if opens { rig.transport(.opened) }
      rig.transport(.failed(.lost))
      if attempt < 3 { try rig.redial() }
    }
    #expect(rig.closed == "exhausted brokenPipe")
    #expect(rig.ledger.dials.count == 3)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("a stable link gives the attempts back")
  func attemptsAfterStability() throws {
    var rig = Rig(try Policy.made(backoff: .exact.limited(to: 1)))
    rig.feed(.connect(here))
    for _ in 1...5 {
      rig.transport(.opened)
      rig.transport(.failed(.lost), at: rig.now + .seconds(10))
      try rig.redial()
    }
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe")
  }

  @Test(
    "B4.12: a terminal cause stops at the first attempt",
    arguments: [
      Cause.fatal, .tls(.pinMismatch), .system(.internalFault), .resolution(.misconfigured),
    ])
  func terminal(cause: Cause) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(cause))
    #expect(rig.closed == "terminal \(render(cause))")
  }
}
