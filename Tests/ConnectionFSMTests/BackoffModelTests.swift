import ConnectionFSM
import Testing

@Suite("Backoff against a naive model")
struct BackoffModelTests {
  /// A machine and naive books that go through the same weather and must agree at every step.
  struct Pair {
    var rig: Rig
    var model: NaiveBackoff
    var walk: Walk

    init(seed: UInt64) throws {
      walk = Walk(seed: seed)
      let rules = Self.rules(&walk)
      model = NaiveBackoff(rules)
      let backoff = Backoff(
        strategy: Self.strategy(rules.growth), first: .nanoseconds(Int64(rules.first)),
        base: .nanoseconds(Int64(rules.base)), cap: .nanoseconds(Int64(rules.cap)), jitter: .none,
        firstJitter: nil, stability: .nanoseconds(Int64(rules.stability)),
        attemptLimit: rules.attemptLimit.map { UInt32($0) },
        elapsedLimit: rules.elapsedLimit.map { .nanoseconds(Int64($0)) })
      // No deadline but that of the wait falls into the walk.
      let policy = try Policy.long(
        connectDeadline: .seconds(1_000_000), closeDeadline: .seconds(1_000_000),
        backoff: backoff, spacing: .nanoseconds(Int64(rules.spacing)),
        budget: rules.burst.map {
          RetryBudget(burst: UInt32($0), interval: .nanoseconds(Int64(rules.refill)))
        })
      rig = Rig(policy, seed: seed)
    }

    private static func rules(_ walk: inout Walk) -> NaiveBackoff.Rules {
      let unit = 1_000_000
      let growths: [NaiveBackoff.Growth] = [
        .constant, .linear, .doubling, .steps([0, 7 * unit, 3 * unit, 900 * unit]),
      ]
      return NaiveBackoff.Rules(
        growth: growths[walk.below(4)], first: walk.below(3_000) * unit,
        base: walk.below(900) * unit, cap: (1 + walk.below(20_000)) * unit,
        stability: walk.below(2_000) * unit,
        attemptLimit: walk.chance(40) ? 1 + walk.below(9) : nil,
        elapsedLimit: walk.chance(40) ? (1 + walk.below(30_000)) * unit : nil,
        spacing: walk.chance(70) ? walk.below(2_000) * unit : 0,
        burst: walk.chance(50) ? 1 + walk.below(5) : nil, refill: (1 + walk.below(4_000)) * unit)
    }

    private static func strategy(_ growth: NaiveBackoff.Growth) -> Backoff.Strategy {
      switch growth {
      case .constant: .constant
      case .linear: .linear
      case .doubling: .doubling
      case .steps(let steps): .table(Backoff.Table(steps.map { .nanoseconds(Int64($0)) }))
      }
    }
  }

  @Test("I6, F11, F12: for any seed waits, limits and budgets are those of naive books")
  func agrees() throws {
    var met: [String: Int] = [:]
    for seed in 1...100 as ClosedRange<UInt64> {
      var pair = try Pair(seed: seed)
      for number in 1...200 {
        let input = try pair.step()
        met[input, default: 0] += 1
        if let problem = pair.difference {
          Issue.record("seed \(seed), step \(number), after \(input): \(problem)")
          break
        }
      }
    }
    let rare = met.filter { $0.value < 100 }
    #expect(met.values.reduce(0, +) == 20_000 && met.count == 10 && rare.isEmpty, "\(met)")
  }
}

extension BackoffModelTests.Pair {
  private var now: Int { Int(rig.now.nanoseconds) }

  /// Where machine and model differ, if they do.
  var difference: String? {
    if rig.ledger.dials.count != model.dials { return "\(model.dials) dials" }
    let isRight =
      switch model.situation {
      case .resting: rig.phase == .idle || rig.closed?.hasPrefix("requested") == true
      case .exhausted: rig.closed?.hasPrefix("exhausted") == true
      case .dialling: rig.phase == .connecting
      case .open: rig.phase == .open
      case .waiting(let until): rig.retryAt == Instant(nanoseconds: Int64(until))
      }
    return isRight ? nil : "\(model.situation), not \(rig.machine.state) in \(rig.phase)"
  }

  /// One input to both; what it was.
  mutating func step() throws -> String {
    rig.advance(to: rig.now + .milliseconds(Int64(walk.chance(30) ? 0 : walk.below(1_500))))
    if case .waiting(let until) = model.situation, now > until {
      rig.advance(to: Instant(nanoseconds: Int64(until)))
    }
    switch model.situation {
    case .resting, .exhausted:
      let name = model.situation == .exhausted ? "connect, exhausted" : "connect, at rest"
      connect(.accepted)
      return name
    case .dialling: return walk.chance(70) ? fail() : opens()
    case .open: return whileOpen()
    case .waiting: return try whileWaiting()
    }
  }

  private mutating func connect(_ expected: Disposition) {
    let counts = model.connect(at: now)
    let step = rig.feed(.connect(here))
    #expect(step.disposition == expected && counts == (expected == .accepted))
  }

  private mutating func opens() -> String {
    if walk.chance(10) {
      connect(.ignored(.redundant))
      return "connect, dialling"
    }
    model.open(at: now)
    rig.transport(.opened)
    return "opened"
  }

  private mutating func fail() -> String {
    let isNetwork = walk.chance(30)
    model.fail(isNetwork: isNetwork, at: now)
    rig.transport(.failed(isNetwork ? .system(.networkUnreachable) : .lost))
    return isNetwork ? "network failure" : "failure"
  }

  private mutating func whileOpen() -> String {
    guard walk.chance(25) else { return fail() }
    model.flap()
    rig.feed(.pathChanged(.down))
    rig.feed(.pathChanged(.up))
    return "flap"
  }

  private mutating func whileWaiting() throws -> String {
    if walk.chance(8) {
      connect(.accepted)
      return "connect, waiting"
    }
    if walk.chance(4) {
      model.rest()
      rig.feed(.close)
      return "close"
    }
    try rig.serveDeadline()
    model.retry(at: now)
    return "retry"
  }
}
