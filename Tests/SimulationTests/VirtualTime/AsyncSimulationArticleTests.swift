// The examples of Docs/AsyncSimulation.md; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import NetSim
import Testing

/// Asks again and again, twice as long after each failure.
func patiently<C: Clock>(
  on clock: C, _ ask: () async throws -> String
) async throws -> String where C.Duration == Duration {
  var wait = Duration.seconds(1)
  while true {
    do { return try await ask() } catch {
      try await clock.sleep(for: wait)
      wait = min(wait * 2, .seconds(60))
    }
  }
}

@Test("it waits 1, 2, 4 … seconds, and never more than a minute")
func waits() throws {
  let elapsed = try VirtualTime.run { loop in
    var failures = 10
    _ = try await patiently(on: loop.clock) {
      failures -= 1
      if failures >= 0 { throw CancellationError() }
      return "done"
    }
    return loop.now
  }
  #expect(elapsed == .origin + .seconds(303))  // 1 + 2 + … + 32, then 4 × 60
}

@Test("a phone that sleeps has counted the time on one of its clocks")
func devices() throws {
  try VirtualTime.run { server in
    let phone = server.time.makeLoop(skew: 100)  // its clock is fast by 100 millionths
    phone.sleep(for: .seconds(600))
    try await server.clock.sleep(for: .seconds(601))
    #expect(phone.clock.now > phone.suspendingClock.now)
  }
}
