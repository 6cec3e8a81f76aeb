// Blocks of the article “Choosing a policy”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import Testing

/// People talk: back soon, a message is worth waiting for, the battery counts.
func chatPolicy() throws -> Policy {
  try Policy(
    backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30)),
    heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10), stretch: 200),
    lifecycle: LifecyclePolicy(backgroundGrace: .seconds(20)),
    lanes: [
      Lane(.atMostOnce, timeToLive: .seconds(5), overflow: .dropOldest),  // “is typing”
      Lane(.atLeastOnce, timeToLive: nil),  // what was written
    ],
    overrides: VerdictOverride.httpLike)
}

/// Prices age in seconds, and the exchange cuts every link after a day.
func tradingPolicy() throws -> Policy {
  try Policy(
    connectDeadline: .seconds(5),
    backoff: Backoff(first: .milliseconds(500), base: .milliseconds(500), cap: .seconds(10)),
    heartbeat: Heartbeat(interval: .seconds(5), timeout: .seconds(3)),
    sessionDeadline: .seconds(5),
    pacing: Pacing(burst: 5, interval: .seconds(1)),
    rollover: Rollover(maxAge: .seconds(23 * 3600), dither: .seconds(1800)),
    lanes: [Lane(.atMostOnce, timeToLive: .seconds(2), admission: .whileOpen)])
}

/// Thousands of devices, a metered link, nobody who waits.
func devicePolicy() throws -> Policy {
  try Policy(
    connectDeadline: .seconds(30), connectDeadlineLimit: .seconds(120),
    backoff: Backoff(first: .seconds(30), base: .seconds(30), cap: .seconds(3600)),
    minimumDialSpacing: .seconds(10),
    retryBudget: RetryBudget(burst: 20, interval: .seconds(600)),
    heartbeat: Heartbeat(
      interval: .seconds(240), timeout: .seconds(30), shortestInterval: .seconds(30)),
    lanes: [
      Lane(.atLeastOnce, timeToLive: .seconds(86_400), countLimit: 500, overflow: .dropOldest)
    ])
}

/// Codes of the application's own that stop it, slow it down, or want fresh credentials.
func overrides() -> [VerdictOverride] {
  [
    VerdictOverride(.closeCodes(4000...4000), .terminal),  // this version is too old
    VerdictOverride(.closeCodes(4001...4001), .terminal.refreshing),  // the token has expired
    VerdictOverride(.httpStatuses(503...503), .transient.slow),  // maintenance: 30 s at least
    VerdictOverride(.kind(.resolution), .network.capped(5)),
  ]
}

@Suite("Article: Choosing a policy")
struct ChoosingAPolicyTests {
  @Test("each policy of the article is one that can be, with the waits that it names")
  func waits() throws {
    let policy = try chatPolicy()
    let longest = (0..<7).map { policy.backoff.ceiling(afterFailures: $0) }
    #expect(longest == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    #expect(try tradingPolicy().lanes.count == 1)
    #expect(try devicePolicy().backoff.ceiling(afterFailures: 9) == .seconds(3600))
    #expect(try Policy(overrides: overrides()).overrides.count == 4)
  }

  @Test("a running connection can have another policy, but no other lanes")
  func update() throws {
    let calm = try Policy(heartbeat: Heartbeat(interval: .seconds(60), timeout: .seconds(10)))
    let connection = try feed(Policy())
    try connection.update(policy: calm)
    #expect(throws: ConnectionError.lanesDiffer) { try connection.update(policy: chatPolicy()) }
  }
}
