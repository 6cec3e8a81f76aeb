import ConnectionFSM
import Testing

@Suite("Policies of published managers")
struct PolicyPresetTests {
  @Test("F09: the policy xt, value by value")
  func xt() throws {
    let policy = try Policy.xt()
    #expect(policy.connectDeadline == .seconds(10))
    #expect(policy.backoff == Backoff(.xt))
    let waits = (0..<8).map { policy.backoff.ceiling(afterFailures: $0) }
    #expect(waits == [0, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    #expect(policy.backoff.jitter == .none && policy.backoff.firstJitter == nil)
    #expect(policy.backoff.attemptLimit == nil && policy.backoff.elapsedLimit == nil)
    #expect(policy.path.onLoss == .close)
    #expect(policy.heartbeat == nil)
    #expect(policy.beat == Beat(interval: .seconds(180), isImmediate: true))
    #expect(policy.lanes == [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
    #expect(policy.overrides.isEmpty)
  }

  @Test("F10: the policy doubling, value by value")
  func doubling() throws {
    let policy = try Policy.doubling()
    #expect(policy.connectDeadline == .seconds(10))
    let waits = (0..<7).map { policy.backoff.ceiling(afterFailures: $0) }
    #expect(waits == [2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    #expect(policy.backoff.jitter == .none && policy.backoff.firstJitter == nil)
    #expect(policy.backoff.attemptLimit == nil && policy.backoff.elapsedLimit == nil)
    #expect(policy.heartbeat == nil && policy.beat == nil)
    #expect(policy.lanes == [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
    #expect(policy.overrides.isEmpty)
  }

  @Test("F43: both take a heartbeat, and refuse one that cannot be")
  func heartbeats() throws {
    let heartbeat = Heartbeat(interval: .seconds(20), timeout: .seconds(20))
    #expect(try Policy.xt(heartbeat: heartbeat).heartbeat == heartbeat)
    #expect(try Policy.doubling(heartbeat: heartbeat).heartbeat == heartbeat)
    #expect(throws: PolicyError.self) { try Policy.xt(heartbeat: Heartbeat(interval: .zero)) }
    #expect(throws: PolicyError.self) { try Policy.doubling(heartbeat: Heartbeat(misses: 0)) }
  }

  @Test("F05: never means that no cause is followed by another try", arguments: Cause.Kind.allCases)
  func never(kind: Cause.Kind) throws {
    #expect(VerdictOverride.never.count { $0.pattern == .kind(kind) } == 1)
    #expect(VerdictOverride.never.allSatisfy { $0.verdict == .terminal })
    #expect(throws: Never.self) { try Policy(overrides: VerdictOverride.never) }
  }

  @Test("F05: without the network the connection ends; other causes follow the tables")
  func notWithoutNetwork() throws {
    let policy = try Policy(overrides: VerdictOverride.notWithoutNetwork)
    let stopping: [Cause] = [
      .pathLost, .localAddressLost, .system(.notConnected), .system(.networkDown),
      .system(.networkUnreachable),
    ]
    for cause in stopping {
      #expect(policy.verdict(on: cause, in: Circumstances(reach: .stable)) == .terminal)
    }
    let others: [Cause] = [
      .closedByPeer(nil), .system(.connectionReset), .system(.connectionRefused), .truncated,
      .timedOut(.connect), .protocolError,
    ]
    for cause in others {
      #expect(policy.verdict(on: cause, in: Circumstances()) == cause.verdict())
    }
  }
}
