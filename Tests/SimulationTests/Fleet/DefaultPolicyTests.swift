import ConnectionFSM
import NetSim
import Testing

/// The default policy where it matters to more than one client: in a fleet that lost its server.
@Suite("the default policy")
struct DefaultPolicyTests {
  // A debug build takes seconds for each run.
  #if DEBUG
    private static let seeds: [UInt64] = [1]
  #else
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5]
  #endif

  @Test(
    "no known client's waits are as good in both recovery and peak load",
    arguments: FleetReference.Scenario.allCases)
  func isOnTheFront(scenario: FleetReference.Scenario) throws {
    let policy = try Policy(connectDeadline: scenario.connectDeadline)
    let trial = try FleetTrial(
      of: policy, clients: 10_000, server: scenario.server, seeds: Self.seeds)
    let outcome = try trial.run()
    let recovery = try Double(#require(outcome.recovery).nanoseconds) / 1e9
    let rows = try FleetReference.rows(scenario)
    #expect(rows.count == 11)
    for (name, figures) in rows {
      let (its, peak) = (try #require(figures["t99_mean"]), try #require(figures["peak100_mean"]))
      #expect(
        its > recovery || peak > Double(outcome.peak),
        "\(name): \(its) s and \(peak), the default: \(recovery) s and \(outcome.peak)")
    }
  }

  @Test("after a loss a client dials within 5 s, in the median after 2.5 s")
  func firstWait() throws {
    var random = SplitMix64(seed: 1)
    let waits = (0..<1_000).map { _ in Backoff().wait(afterFailures: 0, using: &random) }.sorted()
    #expect(waits[999] <= .seconds(5))
    #expect((TimeSpan.milliseconds(2_300)...(.milliseconds(2_700))).contains(waits[500]))
  }
}
