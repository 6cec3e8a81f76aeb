import ConnectionFSM
import Testing

@Suite("Backoff limits and decorrelated waits of a machine")
struct BackoffLimitTests {
  /// Waits of 4 seconds each.
  private static func steady(
    elapsedLimit: Int64?, attemptLimit: UInt32? = nil
  ) -> Backoff {
    Backoff(
      strategy: .constant, first: .seconds(4), base: .seconds(4), cap: .seconds(60),
      jitter: .none, firstJitter: nil, stability: .seconds(10), attemptLimit: attemptLimit,
      elapsedLimit: elapsedLimit.map { .seconds($0) })
  }

  /// Fails attempts that take a second each until the machine gives up; how many it made.
  private func attempts(_ rig: inout Rig, atMost most: Int = 100) throws -> Int {
    for attempt in 1...most {
      rig.transport(.failed(.lost), at: rig.now + .seconds(1))
      if rig.closed != nil { return attempt }
      try rig.redial()
    }
    return most
  }

  @Test(
    "the elapsed limit counts dials and waits, and ends the run at the failure that meets it",
    // A second for the dial, four for the wait: the n-th failure is at 5n − 4 seconds.
    arguments: [(Int64(1), 1), (2, 2), (6, 2), (7, 3), (11, 3), (12, 4)])
  func elapsedLimit(seconds: Int64, made: Int) throws {
    var rig = Rig(try Policy.made(backoff: Self.steady(elapsedLimit: seconds)))
    rig.feed(.connect(here))
    #expect(try attempts(&rig) == made)
    #expect(rig.closed == "exhausted brokenPipe")
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("without limits the machine never gives up")
  func unlimited() throws {
    var rig = Rig(try Policy.made(backoff: Self.steady(elapsedLimit: nil)))
    rig.feed(.connect(here))
    #expect(try attempts(&rig) == 100)
    #expect(rig.closed == nil)
  }

  @Test("of two limits the one met first ends the run", arguments: [(UInt32(2), 2), (9, 3)])
  func bothLimits(attemptLimit: UInt32, made: Int) throws {
    let backoff = Self.steady(elapsedLimit: 11, attemptLimit: attemptLimit)
    var rig = Rig(try Policy.made(backoff: backoff))
    rig.feed(.connect(here))
    #expect(try attempts(&rig) == made)
    #expect(rig.closed == "exhausted brokenPipe")
  }

  @Test("a stable link and the user's connect give the time back")
  func givenBack() throws {
    var rig = Rig(try Policy.made(backoff: Self.steady(elapsedLimit: 7)))
    rig.feed(.connect(here))
    #expect(try attempts(&rig, atMost: 2) == 2)
    rig.transport(.opened)
    // Hours on a stable link are not time spent on trying.
    rig.transport(.failed(.lost), at: rig.now + .seconds(36_000))
    try rig.redial()
    #expect(try attempts(&rig) == 2)
    rig.feed(.connect(here))
    #expect(try attempts(&rig) == 3)
  }

  @Test("a link that was open too briefly counts like any attempt")
  func bareOpen() throws {
    var rig = Rig(try Policy.made(backoff: Self.steady(elapsedLimit: 20)))
    rig.feed(.connect(here))
    for _ in 1...2 {
      rig.transport(.opened)
      rig.transport(.failed(.lost), at: rig.now + .seconds(8))
      if rig.closed == nil { try rig.redial() }
    }
    #expect(rig.closed == "exhausted brokenPipe")
  }

  @Test("time under a hold and on a lost path costs nothing")
  func holdsAreFree() throws {
    var rig = Rig(try Policy.made(backoff: Self.steady(elapsedLimit: 7)))
    rig.feed(.connect(here))
    rig.feed(.demandChanged(false))
    rig.transport(.failed(.lost), at: rig.now + .seconds(1))
    #expect(rig.hold == .noDemand)
    rig.feed(.demandChanged(true), at: rig.now + .seconds(3_600))
    rig.feed(.pathChanged(.down))
    rig.transport(.failed(.lost), at: rig.now + .seconds(1))
    #expect(rig.phase == .offline)
    rig.feed(.pathChanged(.up), at: rig.now + .seconds(50))
    try rig.redial()
    // One second is spent, of the first dial; the others are at 1 + 1, and 1 + 1 + 4 + 1.
    #expect(try attempts(&rig) == 2)
    #expect(rig.closed == "exhausted brokenPipe")
  }

  @Test("a credentials provider that never answers spends the time as well")
  func credentials() throws {
    let backoff = Self.steady(elapsedLimit: 15)
    var rig = Rig(try Policy.made(backoff: backoff, credentials: .seconds(3)))
    rig.feed(.connect(here))
    // Three seconds to ask, four to wait: the third answer is overdue at 17 seconds.
    try rig.run(until: .seconds(100))
    #expect(rig.closed?.hasPrefix("exhausted") == true)
    #expect(rig.ledger.dials.isEmpty)
    #expect(rig.machine.newestEpoch == Epoch(3))
  }

  @Test("decorrelated waits grow from the last one in the machine and start over with a reset")
  func decorrelatedMachine() throws {
    let backoff = Backoff(
      strategy: .doubling, first: .seconds(5), base: .seconds(2), cap: .seconds(60),
      jitter: .decorrelated, firstJitter: nil, stability: .seconds(10), attemptLimit: nil,
      elapsedLimit: nil)
    var sawGrowth = false
    for seed in UInt64(1)...50 {
      var rig = Rig(try Policy.made(backoff: backoff, spacing: .zero), seed: seed)
      for _ in 1...3 {
        rig.feed(.connect(here))
        var last: Int64 = 2_000_000_000
        for _ in 1...12 {
          rig.transport(.failed(.lost))
          let wait = (try #require(rig.retryAt) - rig.now).nanoseconds
          #expect(wait >= 2_000_000_000 && wait <= min(3 * last, 60_000_000_000))
          sawGrowth = sawGrowth || wait > 18_000_000_000
          last = wait
          try rig.redial()
        }
        rig.feed(.close)
      }
    }
    #expect(sawGrowth)
  }
}
