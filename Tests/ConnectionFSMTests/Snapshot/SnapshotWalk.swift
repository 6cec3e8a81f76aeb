import ConnectionFSM

/// A random life that meets whatever a snapshot must hold: two links, lists of endpoints, lanes
/// under pressure, beats, bursts, budgets, learned intervals, slow outages.
struct SnapshotWalk {
  private(set) var machine: Machine
  private var random: SplitMix64
  private var effects = Effects()
  private let policies: [Policy]
  private(set) var now = Instant.origin

  init(seed: UInt64) throws {
    policies = try [false, true].map { try Self.policy(seed, isOther: $0) }
    machine = Machine(policy: policies[0], seed: seed)
    random = SplitMix64(seed: seed &* 77)
  }

  private static func policy(_ seed: UInt64, isOther: Bool) throws -> Policy {
    func every(_ count: UInt64) -> Bool { seed % count == 0 }
    return try Policy(
      connectDeadline: .seconds(4), connectDeadlineLimit: .seconds(16), closeDeadline: .seconds(2),
      drainDeadline: .seconds(3),
      backoff: Backoff(
        first: .milliseconds(500), base: .milliseconds(300), cap: .seconds(8),
        jitter: every(2) ? .decorrelated : .full, stability: .seconds(3),
        attemptLimit: every(7) ? 9 : nil),
      minimumDialSpacing: .milliseconds(600),
      retryBudget: every(3) ? RetryBudget(burst: 5, interval: .seconds(10)) : nil,
      patience: Patience(fastFor: .seconds(40), slowWait: .seconds(60)),
      heartbeat: Heartbeat(
        interval: .seconds(isOther ? 9 : 6), timeout: .seconds(2), misses: every(2) ? 3 : 1,
        shortestInterval: .seconds(2), stretch: 150),
      beat: every(2) ? Beat(interval: .seconds(5), answerTimeout: .seconds(4)) : nil,
      path: every(3) ? .probing : PathPolicy(debounce: .milliseconds(400)),
      lifecycle: LifecyclePolicy(backgroundGrace: .seconds(5), idleGrace: .seconds(5)),
      shufflesEndpoints: every(2), sessionDeadline: every(3) ? nil : .seconds(3),
      resumeWindow: every(3) ? nil : .seconds(20),
      credentialsDeadline: every(5) ? .seconds(3) : nil,
      pacing: every(4) ? Pacing(burst: 2, interval: .milliseconds(300)) : nil,
      rollover: Rollover(maxAge: .seconds(15), dither: .seconds(2), returnAfter: .seconds(8)),
      lanes: [
        Lane(
          .atMostOnce, timeToLive: .seconds(4), countLimit: 12, byteLimit: 300, window: 2,
          highWater: 3, lowWater: 1),
        Lane(.atLeastOnce, countLimit: 8, byteLimit: 900, overflow: .dropOldest, window: 3),
      ])
  }

  /// What happens next, and when.
  mutating func next() -> (input: Input, at: Instant) {
    let input = input()
    let due = max(now, machine.nextDeadline ?? now)
    let late = TimeSpan.milliseconds(Int64(random.next(through: 700)))
    return (input, input == .deadlineReached && below(8) > 0 ? due : now + late)
  }

  /// Lets it happen.
  mutating func take(_ next: (input: Input, at: Instant)) throws -> (Disposition, [Effect]) {
    now = max(now, next.at)
    return try Self.take(next, policies[1], by: &machine, into: &effects)
  }

  /// What another machine makes of it.
  func fed(_ next: (input: Input, at: Instant), to other: Machine) throws -> (
    Machine, Disposition, [Effect]
  ) {
    var (other, effects) = (other, Effects())
    let (disposition, made) = try Self.take(next, policies[1], by: &other, into: &effects)
    return (other, disposition, made)
  }

  private static func take(
    _ next: (input: Input, at: Instant), _ policy: Policy, by machine: inout Machine,
    into effects: inout Effects
  ) throws -> (Disposition, [Effect]) {
    let disposition =
      next.input == .policyReplaced
      ? try machine.adopt(policy, at: next.at, into: &effects)
      : machine.handle(next.input, at: next.at, into: &effects)
    return (disposition, Array(effects))
  }

  private mutating func below(_ bound: UInt64) -> Int { Int(random.next(through: bound - 1)) }

  private mutating func input() -> Input {
    let bearings = machine.bearings
    let epoch = below(3) == 0 ? bearings.standby ?? bearings.current : bearings.current
    let lane = LaneID(UInt8(below(2)))
    let messages = lane.rawValue == 0 ? bearings.messages.0 : bearings.messages.1
    switch (below(20), bearings.phase) {
    case (0...8, .waitingForCredentials): return .credentials(epoch, .available)
    case (0...8, .connecting): return .transport(epoch, below(4) > 0 ? .opened : .failed(.lost))
    case (0...8, .authenticating): return .session(epoch, below(4) == 0 ? .resumed : .ready)
    case (0...8, .closed), (0...8, .suspended), (0...2, .idle):
      return [.connect(here, count: 3), .demandChanged(true), .lifecycleChanged(.foreground)][
        below(3)]
    case (0...1, .open): return .transport(epoch, .opened)
    case (2, .open): return .session(epoch, .ready)
    case (3, .open): return .transport(epoch, .received(byteCount: 9))
    case (4, .open): return .credentials(epoch, .available)
    case (0...9, _): return .deadlineReached
    case (10...14, _): return .offer(lane, byteCount: UInt32(random.next(through: 120)))
    case (15...16, _):
      guard let newest = messages.newestInFlight ?? messages.newestWaiting else { return .close }
      return lane.rawValue == 0
        ? .transport(epoch, .written(through: newest))
        : .transport(epoch, .acknowledged(through: newest))
    case (17, _):
      guard let waiting = messages.oldestWaiting else { return .policyReplaced }
      return below(2) == 0 ? .cancel(waiting) : .resized(waiting, byteCount: 3)
    default: return AnyInput.drawn(&random)
    }
  }
}
