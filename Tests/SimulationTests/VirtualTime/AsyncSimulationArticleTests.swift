import ConnectionFSM
import NetSim
import Testing

// The examples of Docs/AsyncSimulation.md, as they stand there.

/// Asks again and again, twice as long after each failure.
private func patiently<C: Clock>(
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

@Suite("Virtual time: the article")
struct AsyncSimulationArticleTests {
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
    #expect(elapsed == .origin + .seconds(63 + 4 * 60))
  }
}
