import ConnectionFSM

// Whole knobs are off in most stories, and what is on has few values: a finding is easier to read
// with round numbers, and rules meet more often at one instant.

extension Swarm {
  static func policy(from draws: inout RandomStream, _ families: Families) -> Policy {
    let backoff = backoff(from: &draws)
    let heartbeat = draws.isOn(3, in: 4) ? heartbeat(from: &draws) : nil
    let beat = heartbeat != nil && draws.isOn(1, in: 4) ? beat(from: &draws) : nil
    let hasSession = families.contains(.sessions)
    let connectDeadline = draws.seconds(2, 5, 10)
    do {
      return try Policy(
        connectDeadline: connectDeadline,
        connectDeadlineLimit: draws.isOn(1, in: 4)
          ? connectDeadline + draws.seconds(0, 10, 30) : nil,
        closeDeadline: draws.seconds(1, 3, 5), drainDeadline: draws.seconds(1, 3, 5),
        backoff: backoff, minimumDialSpacing: draws.seconds(0, 1, 1, 2),
        retryBudget: draws.isOn(1, in: 6)
          ? RetryBudget(burst: UInt32(1 + draws.next(through: 3)), interval: draws.seconds(2, 10))
          : nil,
        patience: draws.isOn(1, in: 6)
          ? Patience(fastFor: draws.seconds(10, 60), slowWait: draws.seconds(10, 30)) : nil,
        heartbeat: heartbeat, beat: beat, path: path(from: &draws),
        lifecycle: LifecyclePolicy(
          backgroundGrace: draws.isOn(1, in: 2) ? draws.seconds(0, 0, 5, 30) : nil,
          idleGrace: draws.isOn(1, in: 2) ? draws.seconds(0, 0, 5, 30) : nil),
        shufflesEndpoints: draws.isOn(1, in: 3),
        sessionDeadline: hasSession ? draws.seconds(2, 5) : nil,
        resumeWindow: hasSession && draws.isOn(1, in: 2) ? draws.seconds(5, 60) : nil,
        credentialsDeadline: families.contains(.credentials) ? draws.seconds(2, 5) : nil,
        pacing: draws.isOn(1, in: 6)
          ? Pacing(burst: UInt32(1 + draws.next(through: 4)), interval: draws.milliseconds(50, 500))
          : nil,
        rollover: draws.isOn(families.contains(.drains) ? 2 : 1, in: 4)
          ? rollover(from: &draws) : nil,
        lanes: (0...draws.next(through: 3)).map { _ in lane(from: &draws) })
    } catch {
      preconditionFailure("a policy was drawn that is none: \(error)")
    }
  }

  private static func backoff(from draws: inout RandomStream) -> Backoff {
    let strategies: [Backoff.Strategy] = [
      .doubling, .doubling, .constant, .linear, .exponential(percent: 150),
      .table([.zero, .seconds(1), .seconds(2), .seconds(5)]),
    ]
    let jitters: [Backoff.Jitter] = [
      .none, .none, .full, .equal, .decorrelated, .within(percent: 20), .above(percent: 30),
      .added(.seconds(1)), .fullOver(.seconds(1)),
    ]
    return Backoff(
      strategy: draws.one(of: strategies), first: draws.seconds(0, 1, 2),
      base: draws.seconds(1, 2), cap: draws.seconds(4, 8, 30), jitter: draws.one(of: jitters),
      stability: draws.seconds(0, 5, 10, 30),
      attemptLimit: draws.isOn(1, in: 8) ? UInt32(1 + draws.next(through: 5)) : nil,
      elapsedLimit: draws.isOn(1, in: 8) ? draws.seconds(20, 120) : nil)
  }

  private static func heartbeat(from draws: inout RandomStream) -> Heartbeat {
    let interval = draws.seconds(5, 10, 30)
    let isServerDriven = draws.isOn(1, in: 8)
    return Heartbeat(
      interval: interval, timeout: draws.seconds(2, 5, 10),
      misses: UInt8(1 + draws.next(through: 2)), isServerDriven: isServerDriven,
      anyByteCounts: isServerDriven || draws.isOn(3, in: 4),
      shortestInterval: !isServerDriven && draws.isOn(1, in: 4) ? .seconds(2) : nil,
      stretch: draws.isOn(1, in: 4) ? 200 : 100)
  }

  private static func beat(from draws: inout RandomStream) -> Beat {
    Beat(
      interval: draws.seconds(5, 20), isImmediate: draws.isOn(1, in: 2),
      skipsAfterTraffic: draws.isOn(1, in: 2),
      answerTimeout: draws.isOn(1, in: 2) ? .seconds(3) : nil)
  }

  private static func path(from draws: inout RandomStream) -> PathPolicy {
    PathPolicy(
      onLoss: draws.one(of: PathPolicy.Loss.allCases),
      onSwitch: draws.one(of: PathPolicy.Switch.allCases), suspectTimeout: draws.seconds(1, 3),
      probeInterval: draws.seconds(10, 60), returnJitter: draws.milliseconds(0, 500),
      debounce: draws.milliseconds(0, 0, 1000))
  }

  private static func rollover(from draws: inout RandomStream) -> Rollover {
    Rollover(
      maxAge: draws.isOn(1, in: 2) ? draws.seconds(20, 60) : nil, dither: draws.seconds(0, 5),
      returnAfter: draws.isOn(1, in: 2) ? draws.seconds(10, 30) : nil)
  }

  private static func lane(from draws: inout RandomStream) -> Lane {
    Lane(
      draws.one(of: Lane.Delivery.allCases),
      timeToLive: draws.isOn(1, in: 2) ? draws.seconds(2, 10, 20) : nil,
      countLimit: draws.one(of: [2, 5, 20]), byteLimit: draws.one(of: [100, 1000]),
      overflow: draws.one(of: Lane.Overflow.allCases), window: draws.one(of: [1, 2, 5]),
      highWater: draws.isOn(1, in: 3) ? 2 : .max)
  }
}

extension RandomStream {
  /// True in so many of so many cases.
  mutating func isOn(_ count: UInt64, in all: UInt64) -> Bool { next(through: all - 1) < count }

  mutating func one<Element>(of list: [Element]) -> Element {
    list[Int(next(through: UInt64(list.count - 1)))]
  }

  mutating func seconds(_ choices: Int64...) -> TimeSpan { .seconds(one(of: choices)) }

  mutating func milliseconds(_ choices: Int64...) -> TimeSpan { .milliseconds(one(of: choices)) }
}
