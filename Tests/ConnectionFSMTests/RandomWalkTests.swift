import ConnectionFSM
import Testing

/// The whole machine in any weather; the rig's ledger and the machine's invariants judge each step.
@Suite("Random walks")
struct RandomWalkTests {
  static let fourLanes: [Lane] = [
    .made(.atMostOnce, timeToLive: .seconds(4), countLimit: 6, byteLimit: 100, window: 2),
    .made(.atLeastOnce, timeToLive: .seconds(9), countLimit: 8, window: 3),
    .made(.atLeastOnce, countLimit: 5, byteLimit: 90, overflow: .dropOldest, window: 2),
    .made(.atMostOnce, countLimit: 4, overflow: .dropOldest, window: 1),
  ]

  private static func policy(_ variant: UInt64) throws -> Policy {
    let strategies: [Backoff.Strategy] = [
      .doubling, .constant, .linear, .exponential(percent: 160), .table([.zero, .seconds(1)]),
    ]
    let jitters: [Backoff.Jitter] = [.full, .equal, .decorrelated, .within(percent: 20)]
    let jittered = Backoff(
      strategy: strategies[Int(variant / 2) % strategies.count],
      first: .milliseconds(500), base: .milliseconds(300), cap: .seconds(8),
      jitter: jitters[Int(variant / 2) % jitters.count],
      firstJitter: variant.isMultiple(of: 4) ? nil : Backoff.Jitter.none, stability: .seconds(3),
      attemptLimit: variant.isMultiple(of: 5) ? 4 : nil,
      elapsedLimit: variant.isMultiple(of: 6) ? .seconds(20) : nil)
    let path = PathPolicy(
      onLoss: variant.isMultiple(of: 3) ? .close : .probe, suspectTimeout: .seconds(2),
      probeInterval: .seconds(7), returnJitter: .milliseconds(400))
    return try Policy.made(
      connectDeadline: .seconds(4), closeDeadline: .seconds(2),
      backoff: variant.isMultiple(of: 2) ? jittered : .none, spacing: .milliseconds(600),
      heartbeat: variant.isMultiple(of: 7)
        ? nil : Heartbeat(interval: .seconds(6), timeout: .seconds(2)),
      path: path, session: variant.isMultiple(of: 4) ? nil : .seconds(3),
      credentials: variant.isMultiple(of: 3) ? .seconds(3) : nil, lanes: fourLanes)
  }

  @Test("I1 to I11: no invariant breaks in any weather, late timers included")
  func safety() throws {
    var phases: Set<Phase> = []
    for seed in 1...240 as ClosedRange<UInt64> {
      var rig = Rig(try Self.policy(seed), seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...400 {
        let instant = walk.instant(for: rig)
        rig.feed(walk.input(for: rig, lanes: 4), at: instant)
        phases.insert(rig.phase)
      }
    }
    #expect(phases.count == Phase.allCases.count)
  }

  @Test("equal machines given equal inputs stay equal and make equal effects")
  func determinism() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let policy = try Self.policy(seed)
      var (rig, twin) = (Rig(policy, seed: seed), Rig(policy, seed: seed))
      var walk = Walk(seed: seed)
      for _ in 1...200 {
        let instant = walk.instant(for: rig)
        let input = walk.input(for: rig, lanes: 4)
        let (step, other) = (rig.feed(input, at: instant), twin.feed(input, at: instant))
        guard step.text == other.text, rig.machine == twin.machine else {
          Issue.record("seed \(seed) differs at \(input)")
          break
        }
      }
    }
  }

  @Test("machines that differ in the sizes of their messages alone are not equal")
  func sizesMatter() throws {
    let policy = try Policy.made(
      lanes: [.made(.atMostOnce, byteLimit: 10, overflow: .dropOldest)])
    var (rig, twin) = (Rig(policy), Rig(policy))
    for size in [3, 7] as [UInt32] { rig.feed(.offerA(size)) }
    for size in [7, 3] as [UInt32] { twin.feed(.offerA(size)) }
    #expect(rig.machine != twin.machine)
    #expect(rig.feed(.offerA(4)).text == "a1-a2 evicted")
    #expect(twin.feed(.offerA(4)).text == "a1 evicted")
  }

  @Test("an ignored input changes nothing but the time")
  func ignored() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var rig = Rig(try Self.policy(seed), seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...200 {
        rig.feed(.transport(Epoch(0), .opened), at: walk.instant(for: rig))
        let before = rig.machine
        let input = walk.input(for: rig, lanes: 4)
        if case .ignored = rig.feed(input).disposition, rig.machine != before {
          Issue.record("seed \(seed): \(input) was ignored and changed the machine")
        }
      }
    }
  }

  @Test("I19: whatever happened, fair weather leads to an open link in bounded time")
  func liveness() throws {
    for seed in 1...120 as ClosedRange<UInt64> {
      var rig = Rig(try Self.policy(seed), seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...walk.below(300) {
        rig.feed(walk.input(for: rig, lanes: 4), at: walk.instant(for: rig))
      }
      rig.feed(.pathChanged(.up))
      rig.feed(.lifecycleChanged(.foreground))
      rig.feed(.demandChanged(true))
      let fair = rig.now
      rig.feed(.connect(here))
      while rig.phase != .open, rig.now < fair + .seconds(60) { try befriend(&rig) }
      // The longest waits that may still run: a login, the close, a backoff at its cap, a connect.
      #expect(rig.phase == .open && rig.now <= fair + .seconds(17), "seed \(seed)")
    }
  }

  /// Answers as the best of peers would.
  private func befriend(_ rig: inout Rig) throws {
    switch rig.phase {
    case .waitingForCredentials:
      rig.feed(.credentials(try #require(rig.ledger.requests.last), .available))
    case .connecting: rig.transport(.opened)
    case .authenticating: rig.feed(.session(rig.epoch, .ready))
    case .idle, .offline, .backingOff, .suspended, .open, .closing, .closed:
      try rig.serveDeadline()
    }
  }
}
