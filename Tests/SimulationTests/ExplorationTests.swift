import ConnectionFSM
import NetSim
import Testing

/// Small numbers, so that deadlines meet and lanes fill up within a few steps.
private func policy(
  backoff: Backoff = Backoff(
    first: .seconds(2), base: .seconds(2), cap: .seconds(4), jitter: .full,
    stability: .seconds(3), attemptLimit: 3),
  heartbeat: Heartbeat? = Heartbeat(interval: .seconds(3), timeout: .seconds(2)),
  onLoss: PathPolicy.Loss = .probe,
  sessionDeadline: TimeSpan? = nil,
  credentialsDeadline: TimeSpan? = nil,
  overflow: Lane.Overflow = .reject
) throws -> Policy {
  try Policy(
    connectDeadline: .seconds(3), closeDeadline: .seconds(2), backoff: backoff,
    minimumDialSpacing: .seconds(1), heartbeat: heartbeat,
    path: PathPolicy(
      onLoss: onLoss, suspectTimeout: .seconds(1), probeInterval: .seconds(5),
      returnJitter: .seconds(1)),
    sessionDeadline: sessionDeadline, credentialsDeadline: credentialsDeadline,
    lanes: [
      Lane(
        .atMostOnce, timeToLive: .seconds(4), countLimit: 2, byteLimit: 4, overflow: overflow,
        window: 1),
      Lane(
        .atLeastOnce, timeToLive: nil, countLimit: 2, byteLimit: 4, overflow: overflow, window: 2),
    ])
}

@Suite("Exploration: everything that can happen, every promise after each step")
struct ExplorationTests {
  static let names = [
    "link", "lanes", "session", "credentials", "path", "interfaces", "lifecycle", "heartbeat",
    "beat", "endpoints", "rollover", "pacing", "drain", "patience", "product",
  ]

  /// How deep a slice is explored here. A debug build, fifty times slower, goes to the end of the
  /// small ones alone.
  private static func depth(_ slice: Slice) -> Int? {
    #if DEBUG
      switch slice.name {
      case "link", "session", "credentials", "path", "heartbeat", "pacing", "patience": nil
      case "product": 3
      case _: 6
      }
    #else
      slice.depth.map { $0 - 1 }
    #endif
  }

  private static func slice(_ name: String) throws -> Slice {
    try #require(try Slice.all().first { $0.name == name })
  }

  @Test("every slice of the machine is here")
  func allSlices() throws {
    #expect(try Slice.all().map(\.name) == Self.names)
  }

  @Test("nothing that can happen in a slice breaks a promise", arguments: names)
  func promises(name: String) throws {
    let slice = try Self.slice(name)
    var explorer = Explorer(slice)
    let depth = Self.depth(slice)
    let result = try explorer.explore(depth: depth)
    #expect(result.isComplete == (depth == nil))
    #expect(result.coverage.count > 100)
    let isImpossible = { (pair: Coverage.Pair) in pair.reason != nil }
    let impossible = Coverage().missing.filter(isImpossible)
    #expect(result.coverage.missing.filter(isImpossible) == impossible)
  }

  @Test("machines of equal form behave equally, whatever happens to them", arguments: names)
  func equalForms(name: String) throws {
    var check = FormCheck(try Self.slice(name))
    #if DEBUG
      let pairs = try check.check(states: 200, pairs: 100)
    #else
      let pairs = try check.check(states: 2000, pairs: 4000)
    #endif
    #expect(pairs >= 100)
  }

  #if !DEBUG
    @Test("every input is tried in every phase, or is listed with the reason why it cannot be")
    func coverage() throws {
      var coverage = Coverage()
      for slice in try Slice.all() {
        var explorer = Explorer(slice)
        coverage.formUnion(try explorer.explore(depth: slice.depth).coverage)
      }
      let unexplained = coverage.missing.filter { $0.reason == nil }
      #expect(unexplained.isEmpty, "\(unexplained)")
      // And what is said to be impossible was not seen.
      let impossible = Coverage().missing.filter { $0.reason != nil }
      #expect(coverage.missing.count == impossible.count)
    }
  #endif

  @Test("the same slice is explored the same way")
  func determinism() throws {
    var one = Explorer(try Self.slice("session"))
    var other = Explorer(try Self.slice("session"))
    let (first, second) = (try one.explore(depth: nil), try other.explore(depth: nil))
    #expect(first.states == second.states)
    #expect(first.transitions == second.transitions)
    #expect(first.depth == second.depth)
  }
}

@Suite("Canonical forms")
struct CanonicalFormTests {
  private static func policy() throws -> Policy {
    try Policy(
      connectDeadline: .nanoseconds(2), closeDeadline: .nanoseconds(2),
      backoff: Backoff(
        first: .nanoseconds(1), base: .nanoseconds(1), cap: .nanoseconds(2), jitter: .none,
        stability: .nanoseconds(2)),
      minimumDialSpacing: .nanoseconds(1), heartbeat: nil,
      path: PathPolicy(
        suspectTimeout: .nanoseconds(1), probeInterval: .nanoseconds(3),
        returnJitter: .nanoseconds(1)),
      lifecycle: LifecyclePolicy(idleGrace: nil),
      lanes: [Lane(.atMostOnce, timeToLive: nil, countLimit: 2, byteLimit: 4, window: 1)])
  }

  private static func form(of machine: Machine) -> CanonicalForm.Fingerprint {
    var form = CanonicalForm(limits: CanonicalForm.Limits(policy: machine.policy))
    machine.add(to: &form)
    return form.fingerprint()
  }

  /// Dials so many times, each a long time after the one before, and stops while connecting.
  private static func dialled(_ times: UInt64) throws -> Machine {
    var machine = Machine(policy: try policy(), seed: 1)
    var effects = Effects()
    for attempt in 1...times {
      let now = Instant(nanoseconds: Int64(attempt) * 1000)
      machine.handle(.close, at: now, into: &effects)
      machine.handle(.connect(EndpointID(0)), at: now, into: &effects)
    }
    return machine
  }

  @Test("a form has no names and no absolute times")
  func renaming() throws {
    let (one, other) = (try Self.dialled(1), try Self.dialled(7))
    #expect(one != other)
    #expect(Self.form(of: one) == Self.form(of: other))
  }

  @Test("a form tells times apart until they matter no more")
  func saturation() throws {
    var machine = try Self.dialled(1)
    var effects = Effects()
    var forms: [CanonicalForm.Fingerprint] = []
    for later in 0...6 as ClosedRange<Int64> {
      // An answer of no attempt does nothing but show the time.
      machine.handle(
        .transport(Epoch(9), .opened), at: Instant(nanoseconds: 1000 + later), into: &effects)
      forms.append(Self.form(of: machine))
    }
    // The connect deadline is at 2; from then on it is overdue.
    #expect(Set(forms.prefix(3)).count == 3)
    #expect(Set(forms.dropFirst(2)).count == 1)
  }

  @Test("a form tells apart what decides over the future")
  func differences() throws {
    let machine = try Self.dialled(1)
    let now = Instant(nanoseconds: 1000)
    let inputs: [Input] = [
      .transport(Epoch(1), .opened), .transport(Epoch(1), .failed(.truncated)), .close,
      .pathChanged(.down), .lifecycleChanged(.background), .demandChanged(false),
      .offer(LaneID(0), byteCount: 1), .offer(LaneID(0), byteCount: 2),
    ]
    var forms = [Self.form(of: machine)]
    for input in inputs {
      var next = machine
      var effects = Effects()
      next.handle(input, at: now, into: &effects)
      forms.append(Self.form(of: next))
    }
    #expect(Set(forms).count == inputs.count + 1)
  }
}

@Suite("Random walks: every promise over long lives")
struct RandomWalkTests {
  // Each shard is one test, so that they share the cores. 10,000 walks of 1,000 steps in all; a
  // debug build, eight times slower, takes a tenth of them.
  #if DEBUG
    static let walksPerShard: UInt64 = 125
  #else
    static let walksPerShard: UInt64 = 1250
  #endif

  private static func shardPolicy(_ shard: Int) throws -> Policy {
    switch shard % 4 {
    case 0: try policy()
    case 1: try policy(sessionDeadline: .seconds(2), credentialsDeadline: .seconds(2))
    case 2:
      try policy(
        backoff: Backoff(
          strategy: .linear, first: .seconds(2), base: .seconds(1), cap: .seconds(4),
          jitter: .decorrelated, firstJitter: .within(percent: 50), stability: .seconds(3),
          attemptLimit: nil, elapsedLimit: .seconds(12)),
        onLoss: .close, overflow: .dropOldest)
    default: try policy(heartbeat: nil)
    }
  }

  @Test("walks of 1,000 steps keep every promise and visit every phase", arguments: 0..<8)
  func walks(shard: Int) throws {
    let policy = try Self.shardPolicy(shard)
    var entered = Array(repeating: 0, count: Phase.allCases.count)
    for walk in 0..<Self.walksPerShard {
      let seed = UInt64(shard) << 32 | walk
      var life = RandomWalk(policy: policy, seed: seed)
      for (phase, count) in try life.walk(steps: 1000).enumerated() { entered[phase] += count }
    }
    for phase in Phase.allCases where phase != .idle {
      let exists =
        phase == .authenticating
        ? policy.sessionDeadline != nil
        : phase != .waitingForCredentials || policy.credentialsDeadline != nil
      #expect((entered[Int(phase.rawValue)] > 100) == exists, "\(phase)")
    }
  }

  @Test("I2: the same seed walks the same way")
  func sameSeedSameWalk() throws {
    let policy = try policy()
    var one = RandomWalk(policy: policy, seed: 7)
    var other = RandomWalk(policy: policy, seed: 7)
    let (first, second) = (try one.walk(steps: 500), try other.walk(steps: 500))
    #expect(first == second)
  }
}
