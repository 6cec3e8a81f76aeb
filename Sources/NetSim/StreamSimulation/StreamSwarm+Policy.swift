import ConnectionFSM

// The policies of the swarm: short times, so that much happens in a minute.

extension StreamDraw {
  mutating func drawPolicy() -> Policy {
    let connect = span(3000, 8000)
    let limit = coin() ? connect + span(0, 8000) : nil
    let backoff = drawBackoff()
    let heartbeat = drawHeartbeat()
    do {
      return try Policy(
        connectDeadline: connect, connectDeadlineLimit: limit, closeDeadline: span(1000, 4000),
        drainDeadline: span(1000, 4000), backoff: backoff, minimumDialSpacing: span(100, 1500),
        patience: chance(8)
          ? Patience(fastFor: span(5000, 20_000), slowWait: span(2000, 10_000)) : nil,
        heartbeat: heartbeat, path: drawPath(),
        lifecycle: LifecyclePolicy(
          backgroundGrace: coin() ? span(0, 8000) : nil, idleGrace: coin() ? span(0, 8000) : nil),
        rollover: coin() ? drawRollover() : nil, lanes: drawLanes())
    } catch {
      preconditionFailure("what is drawn keeps the limits of a policy: \(error)")
    }
  }

  private mutating func drawBackoff() -> Backoff {
    let jitters: [Backoff.Jitter] = [
      .full, .equal, .none, .decorrelated, .within(percent: 20), .above(percent: 50),
      .added(.milliseconds(700)), .fullOver(.milliseconds(300)),
    ]
    let strategies: [Backoff.Strategy] = [
      .doubling, .constant, .linear, .exponential(percent: 150),
      .table([.zero, .seconds(1), .seconds(4)]),
    ]
    return Backoff(
      strategy: pick(strategies), first: span(0, 2000), base: span(300, 2000),
      cap: span(3000, 10_000), jitter: pick(jitters), stability: span(2000, 12_000))
  }

  private mutating func drawHeartbeat() -> Heartbeat {
    let interval = span(800, 8000)
    return Heartbeat(
      interval: interval, timeout: span(1000, 6000), misses: coin() ? 1 : 2,
      anyByteCounts: !chance(4), shortestInterval: chance(4) ? .milliseconds(800) : nil)
  }

  private mutating func drawPath() -> PathPolicy {
    PathPolicy(
      onLoss: pick(PathPolicy.Loss.allCases), onSwitch: pick(PathPolicy.Switch.allCases),
      suspectTimeout: span(500, 3000), probeInterval: span(3000, 20_000),
      returnJitter: span(0, 1000), debounce: chance(3) ? span(0, 2000) : .zero)
  }

  private mutating func drawRollover() -> Rollover {
    let age = span(2000, 20_000)
    return Rollover(maxAge: age, dither: TimeSpan(nanoseconds: age.nanoseconds / 4))
  }

  private mutating func drawLanes() -> [Lane] {
    let windows: [UInt32] = [1, 2, 3, 8, 64]
    var lanes = [
      Lane(
        .atMostOnce, timeToLive: coin() ? span(1000, 20_000) : nil, countLimit: pick([3, 10, 100]),
        overflow: coin() ? .dropOldest : .reject, window: pick(windows)),
      Lane(
        .atLeastOnce, timeToLive: nil, countLimit: pick([5, 30, 1000]),
        byteLimit: pick([1000, 100_000, 8 << 20]), window: pick(windows)),
    ]
    if coin() {
      lanes.append(
        Lane(
          .atLeastOnce, timeToLive: span(1000, 20_000), countLimit: 20,
          overflow: coin() ? .dropOldest : .reject, window: pick(windows)))
    }
    return lanes
  }
}

// MARK: Draws

extension StreamDraw {
  private mutating func span(_ least: Int64, _ most: Int64) -> TimeSpan {
    .milliseconds(least) + policies.span(through: .milliseconds(most - least))
  }

  private mutating func coin() -> Bool { policies.next(through: 1) == 0 }

  /// Once in so many times.
  private mutating func chance(_ count: UInt64) -> Bool { policies.next(through: count - 1) == 0 }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int(policies.next(through: UInt64(values.count - 1)))]
  }
}
