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

@Suite("Exploration: the promises of the machine after every step")
struct ExplorationTests {
  private static func slice(_ name: String) throws -> Slice {
    try #require(try Slice.all().first { $0.name == name })
  }

  @Test(
    "everything that can happen in a slice keeps every promise, to the fixed point",
    arguments: [
      "link", "lanes", "session", "credentials", "path", "lifecycle", "heartbeat",
    ])
  func fixedPoint(name: String) throws {
    var explorer = Explorer(try Self.slice(name))
    let result = try explorer.explore()
    #expect(result.isComplete)
    print(name, result.states, result.transitions, result.depth)
  }

  @Test(
    "machines of equal form behave equally, whatever happens to them",
    arguments: [
      "link", "lanes", "session", "credentials", "path", "lifecycle", "heartbeat", "product",
    ])
  func equalForms(name: String) throws {
    var check = FormCheck(try Self.slice(name))
    let pairs = try check.check(states: 1000, pairs: 3000)
    print(name, pairs)
    #expect(pairs >= 500)
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
