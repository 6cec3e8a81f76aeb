import ConnectionFSM
import Testing

@Suite("Patience in a long outage")
struct PatienceTests {
  private static let slowWait = TimeSpan.seconds(30)

  /// Fast for 20 s with a wait of 4 s each, then slow.
  private func policy(
    wait: TimeSpan = .seconds(4), fastFor: TimeSpan = .seconds(20), patience: Bool = true,
    lanes: [Lane] = [.made(.atMostOnce), .made(.atLeastOnce)]
  ) throws -> Policy {
    let backoff = Backoff(
      strategy: .constant, first: wait, base: wait, cap: .seconds(600), jitter: .none,
      firstJitter: nil, stability: .seconds(10), attemptLimit: nil, elapsedLimit: nil)
    return try Policy.long(
      backoff: backoff,
      patience: patience ? Patience(fastFor: fastFor, slowWait: Self.slowWait) : nil, lanes: lanes)
  }

  private func tier(_ rig: Rig) -> Machine.BackingOff.Tier? {
    if case .backingOff(let wait) = rig.machine.state { return wait.tier }
    return nil
  }

  /// A machine that slowed down at 20 s.
  private func slowed(_ policy: Policy, seed: UInt64 = 1) throws -> Rig {
    var rig = Rig(policy, seed: seed)
    rig.feed(.connect(here))
    var steps = 0
    while tier(rig) != .slow {
      steps += 1
      try #require(steps < 1_000, "the slow tier never begins")
      if rig.phase == .connecting { rig.transport(.failed(.lost)) }
      try rig.serveDeadline()
    }
    return rig
  }

  @Test("the slow tier begins at its time: what waits expires, what comes is turned away")
  func begins() throws {
    var rig = Rig(try policy(wait: .seconds(7)))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(3))
    rig.feed(.offerA())
    rig.feed(.offerB())
    for _ in 1...2 {
      try rig.redial()
      rig.transport(.failed(.lost))
    }
    #expect(rig.now == .seconds(17) && tier(rig) == .fast)
    #expect(rig.feed(.offerA(), at: .seconds(22)).disposition == .taken(.a(2)))
    let slow = try rig.serveDeadline()
    #expect(rig.now == .seconds(23) && slow.text == "a1-a2 expired, b1 expired")
    #expect(tier(rig) == .slow)
    #expect(rig.retryAt.map { $0 >= .seconds(38) && $0 <= .seconds(53) } == true)
    let offer = rig.feed(.offerB())
    #expect(offer.disposition == .rejected(.outage) && offer.effects.isEmpty)
  }

  @Test("RC149: at equal times the slow tier comes before the retry")
  func tie() throws {
    var rig = try slowed(policy())
    #expect(rig.now == .seconds(20) && rig.ledger.dials.count == 5, "at 0, 4, 8, 12 and 16 s")
    #expect(rig.retryAt.map { $0 >= .seconds(35) && $0 <= .seconds(50) } == true)
    try rig.redial()
    #expect(rig.ledger.dials.count == 6)
  }

  @Test("without patience the retries stay as they are")
  func none() throws {
    var rig = Rig(try policy(patience: false))
    rig.feed(.connect(here))
    for _ in 1...50 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    #expect(rig.now == .seconds(200) && rig.feed(.offerA()).disposition == .taken(.a(1)))
  }

  @Test("the outage is counted while the path is down too, and offers are turned away there")
  func offline() throws {
    var rig = Rig(try policy())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(1))
    rig.feed(.offerA())
    rig.feed(.pathChanged(.down), at: .seconds(2))
    let step = try rig.serveDeadline()
    #expect(rig.now == .seconds(21) && step.text == "a1 expired" && step.phase == .offline)
    #expect(rig.feed(.offerA()).disposition == .rejected(.outage))
    rig.feed(.pathChanged(.up), at: .seconds(30))
    #expect(tier(rig) == .slow && rig.retryAt == .seconds(30), "the path ends the wait at once")
    try rig.redial()
    #expect(rig.feed(.offerA()).disposition == .rejected(.outage), "until the link is open")
    rig.transport(.opened)
    #expect(rig.feed(.offerA()).text == "send 2 a2")
  }

  @Test("RC148: one failed attempt, or a link too short, stays in the slow tier")
  func stays() throws {
    var rig = try slowed(policy())
    for opens in [false, true, false, true] {
      try rig.redial()
      if opens {
        rig.transport(.opened)
        #expect(rig.feed(.offerB()).effects.count == 1, "an open link takes messages")
        rig.transport(.acknowledged(through: .b(9)))
      }
      rig.transport(.failed(.lost), at: rig.now + .seconds(5))
      #expect(tier(rig) == .slow && rig.feed(.offerA()).disposition == .rejected(.outage))
      #expect(rig.retryAt.map { $0 - rig.now >= .seconds(15) } == true)
    }
  }

  @Test("a stable link, and the user's connect, lead back to the fast tier")
  func back() throws {
    var rig = try slowed(policy())
    try rig.redial()
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: rig.now + .seconds(10))
    #expect(tier(rig) == .fast && rig.retryAt == rig.now + .seconds(4))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(1)))
    let outage = rig.now
    try rig.redial()
    rig.transport(.failed(.lost))
    var steps = 0
    while tier(rig) != .slow {
      steps += 1
      try #require(steps < 1_000, "the slow tier never begins")
      if rig.phase == .connecting { rig.transport(.failed(.lost)) }
      try rig.serveDeadline()
    }
    #expect(rig.now == outage + .seconds(20), "a new outage has its own time")
    rig.feed(.connect(here))
    #expect(rig.feed(.offerA()).disposition == .taken(.a(2)))
    rig.transport(.failed(.lost))
    #expect(tier(rig) == .fast)
  }

  @Test("the slow wait is drawn between half and all, and fills the range")
  func draws() throws {
    var seconds: Set<Int64> = []
    for seed in 1...60 as ClosedRange<UInt64> {
      var rig = try slowed(policy(), seed: seed)
      for _ in 1...5 {
        let wait = (try #require(rig.retryAt) - rig.now).nanoseconds
        #expect(wait >= 15_000_000_000 && wait <= 30_000_000_000)
        seconds.insert(wait / 1_000_000_000)
        try rig.redial()
        rig.transport(.failed(.lost))
      }
    }
    #expect(seconds.isSuperset(of: 15...29))
  }

  @Test("the slow wait is never shorter than the backoff's own")
  func longerBackoff() throws {
    var rig = try slowed(policy(wait: .seconds(100), fastFor: .seconds(20)))
    #expect(rig.now == .seconds(20) && rig.retryAt == .seconds(100))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(200))
  }
}

@Suite("A budget of retries")
struct RetryBudgetTests {
  private static func policy(burst: UInt32, interval: TimeSpan) throws -> Policy {
    try Policy.long(
      backoff: .none, spacing: .zero, budget: RetryBudget(burst: burst, interval: interval))
  }

  @Test("I6: a burst follows at once, then one dial an interval; the user's connect is free")
  func bucket() throws {
    var rig = Rig(try Self.policy(burst: 3, interval: .seconds(10)))
    rig.feed(.connect(here))
    var found: [Int64] = []
    for _ in 1...5 {
      rig.transport(.failed(.lost))
      found.append(try rig.redial().nanoseconds / 1_000_000_000)
    }
    #expect(found == [0, 0, 0, 10, 20])
    rig.transport(.failed(.lost))
    #expect(rig.feed(.connect(here)).text == "dial 7 @0")
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(30), "it took nothing from the bucket")
    rig.feed(.close)
    rig.feed(.connect(here), at: .seconds(100))
    for _ in 1...4 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    #expect(rig.now == .seconds(110), "full again, and never fuller")
  }

  @Test(
    "I6: in any window W there are at most burst + W / interval dials that nobody asked for",
    arguments: [(UInt32(1), Int64(700)), (4, 1_000), (25, 90)])
  func anyWindow(burst: UInt32, milliseconds: Int64) throws {
    let interval = TimeSpan.milliseconds(milliseconds)
    var rig = Rig(try Self.policy(burst: burst, interval: interval))
    var random = SplitMix64(seed: UInt64(burst))
    rig.feed(.connect(here))
    for _ in 1...10_000 {
      let asks = random.next(through: 9) == 0
      if rig.phase == .connecting {
        if random.next(through: 5) == 0 { rig.transport(.opened) }
        let later = random.next(through: 3) == 0 ? random.next(through: 3_000) : 0
        rig.transport(.failed(.lost), at: rig.now + .milliseconds(Int64(later)))
      }
      if asks { rig.feed(.connect(here)) } else { try rig.serveDeadline() }
    }
    let unasked = rig.ledger.dials.filter { !$0.wasAsked }.map(\.at)
    #expect(unasked.count > 5_000 && rig.ledger.dials.count - unasked.count > 500)
    // The n-th dial and the one `burst + k` dials later are more than k intervals apart, or just k.
    for extra in [0, 1, 2, 10, 100] {
      for first in 0..<(unasked.count - Int(burst) - extra) {
        let window = unasked[first + Int(burst) + extra] - unasked[first]
        let least = TimeSpan.milliseconds(milliseconds * Int64(extra + 1))
        if window < least { Issue.record("\(burst) + \(extra + 1) dials within \(window)") }
      }
    }
  }
}
