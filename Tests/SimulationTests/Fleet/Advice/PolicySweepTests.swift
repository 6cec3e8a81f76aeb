import ConnectionFSM
import NetSim
import Testing

@Suite("a sweep over policies")
struct PolicySweepTests {
  private static let sweep = PolicySweep(
    caps: [.seconds(2), .seconds(8)], bases: [.seconds(1)], jitters: [.full, .decorrelated],
    firsts: [.seconds(1), .seconds(4)], spacings: [.zero],
    connectDeadlines: [.seconds(2), .seconds(10)])

  private static let server = FleetServer(
    serviceTime: .milliseconds(10), backlog: 64, outage: .restart(down: .seconds(2)))

  private static func pinned() throws -> Policy {
    try Policy(
      connectDeadline: .seconds(1), connectDeadlineLimit: .seconds(5),
      backoff: Backoff(attemptLimit: 900), heartbeat: nil)
  }

  @Test("the policies are the product of all values, without those that cannot be")
  func product() throws {
    let policies = try Self.sweep.policies(like: Self.pinned())
    // A cap of 2 s leaves one first wait, a cap of 8 s both.
    #expect(policies.count == 3 * 2 * 2)
    #expect(Set(policies.map(\.backoff)).count == 6)
    #expect(policies.allSatisfy { $0.backoff.first <= $0.backoff.cap })
    #expect(Set(policies.map(\.connectDeadline)) == [.seconds(2), .seconds(10)])
    var odd = Self.sweep
    odd.bases = [.seconds(2)]
    odd.caps = [.seconds(2)]
    #expect(try odd.policies(like: Self.pinned()).allSatisfy { $0.backoff.jitter == .full })
  }

  @Test("what is not swept stays as it is in the policy given")
  func keepsTheRest() throws {
    for policy in try Self.sweep.policies(like: Self.pinned()) {
      #expect(policy.heartbeat == nil && policy.backoff.attemptLimit == 900)
      #expect(policy.connectDeadlineLimit == max(policy.connectDeadline, .seconds(5)))
    }
  }

  @Test("a sweep that nobody narrows tries the default policy, and each policy once")
  func triesTheDefault() throws {
    let policies = try PolicySweep().policies(like: Policy())
    #expect(try policies.contains(Policy()))
    let names = policies.map {
      "\($0.backoff) \($0.minimumDialSpacing) \($0.connectDeadline)"
    }
    #expect(Set(names).count == policies.count)
  }

  @Test("every first wait is drawn from zero on")
  func spreadsFirstWaits() throws {
    for policy in try Self.sweep.policies(like: Self.pinned()) {
      var random = SplitMix64(seed: 1)
      let waits = (0..<100).map { _ in policy.backoff.wait(afterFailures: 0, using: &random) }
      let first = policy.backoff.first.nanoseconds
      #expect(waits.contains { $0.nanoseconds < first / 5 })
      #expect(waits.contains { $0.nanoseconds > first / 5 * 4 && $0.nanoseconds <= first })
    }
  }

  @Test("the front holds every trial that no other one beats, and no other")
  func front() throws {
    let outcomes = try Self.sweep.policies(like: Self.pinned()).map {
      try FleetTrial(of: $0, clients: 400, server: Self.server, seeds: [1, 2]).run()
    }
    let front = outcomes.front
    #expect(front.count > 1 && front.count < outcomes.count)
    for outcome in outcomes {
      let isBeaten = outcomes.contains { Self.beats($0, outcome) }
      #expect(front.contains(outcome) != isBeaten, "\(outcome)")
    }
  }

  @Test("a front is ordered by recovery, keeps equals, and leaves out who never came back")
  func knownFront() throws {
    let policy = try Self.pinned()
    let figures: [(seconds: Int64?, peak: Int)] = [
      (30, 100), (10, 900), (20, 400), (25, 400), (nil, 1), (20, 400), (31, 100), (20, 500),
    ]
    let outcomes = figures.map { seconds, peak in
      FleetTrial.Outcome(policy: policy, recovery: seconds.map { .seconds($0) }, peak: peak)
    }
    #expect(outcomes.front == [1, 2, 5, 0].map { outcomes[$0] })
  }

  @Test("a trial tells the worst of its runs")
  func worst() throws {
    let policy = try #require(try Self.sweep.policies(like: Self.pinned()).first)
    let alone = try (1...4).map { seed in
      try FleetTrial(of: policy, clients: 300, server: Self.server, seeds: [seed]).run()
    }
    let both = try FleetTrial(of: policy, clients: 300, server: Self.server, seeds: [1, 2, 3, 4])
      .run()
    #expect(Set(alone.map(\.peak)).count > 1)
    #expect(both.peak == alone.map(\.peak).max())
    #expect(both.recovery == alone.compactMap(\.recovery).max())
  }

  @Test("a fleet that is not back at the limit in some run has not recovered")
  func neverBack() throws {
    let policy = try #require(try Self.sweep.policies(like: Self.pinned()).first)
    let trial = try FleetTrial(
      of: policy, clients: 300, server: Self.server, limit: .seconds(3))
    #expect(try trial.run().recovery == nil)
  }

  @Test("a trial that cannot be is refused before it runs, by the name of its setting")
  func refuses() throws {
    let policy = try Self.pinned()
    var server = Self.server
    server.backlog = 0
    let refusals: [(String, () throws -> Void)] = [
      ("seeds", { _ = try FleetTrial(of: policy, clients: 9, server: Self.server, seeds: []) }),
      ("clients", { _ = try FleetTrial(of: policy, clients: 0, server: Self.server) }),
      ("server.backlog", { _ = try FleetTrial(of: policy, clients: 9, server: server) }),
    ]
    for (setting, make) in refusals {
      let error = #expect(throws: FleetError.self) { try make() }
      #expect(error?.setting == setting)
    }
  }

  private static func beats(_ one: FleetTrial.Outcome, _ other: FleetTrial.Outcome) -> Bool {
    guard let mine = one.recovery else { return false }
    guard let its = other.recovery else { return true }
    return mine <= its && one.peak <= other.peak && (mine < its || one.peak < other.peak)
  }
}
