import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Stories drawn from seeds")
struct CheckTests {
  /// A debug build is some thirty times slower.
  private static let count: UInt64 = {
    #if DEBUG
      2000
    #else
      10_000
    #endif
  }()

  /// The first thousand stories, and all of them.
  private static let reports: (first: CheckSummary, all: CheckSummary) = {
    var check = Check(.machine)
    for seed in 0..<1000 as Range<UInt64> { check.run(seed: seed) }
    let first = check.report
    for seed in 1000..<count { check.run(seed: seed) }
    return (first, check.report)
  }()

  @Test("keep every promise: 2,000 of them in a debug build, 10,000 in release")
  func everyPromiseHolds() {
    let report = Self.reports.all
    #expect(report.failures.isEmpty)
    #expect(report.stories == Self.count)
    #expect(report.seeds.map(\.first) == [0])
  }

  // To renew it, once stories are drawn or told otherwise on purpose:
  //   swift run -c release fsm-demo check --seeds 0..999
  // and take the digest that it prints. A change that was to change nothing must leave it alone.
  @Test("do the same on every machine, in debug and release: the digest of seeds 0 to 999")
  func digest() {
    #expect(Self.reports.first.digest == 6_828_461_358_513_496_541)
  }

  @Test("run from their files as they ran when they were drawn: 300 of them")
  func files() throws {
    for seed in 0..<300 as Range<UInt64> {
      var check = Check(.machine)
      check.run(seed: seed)
      let file = try JSONEncoder().encode(CheckProfile.machine.scenario(seed: seed))
      let scenario = try JSONDecoder().decode(Scenario.self, from: file)
      var run = try Simulation(scenario, seed: scenario.seed)
      var steps: UInt64 = 0
      #expect(throws: Never.self, "seed \(seed)") {
        try run.run { if case .step = $0 { steps += 1 } }
      }
      #expect(steps == check.report.steps, "seed \(seed)")
      #expect(UInt64(run.dials.count) == check.report.dials, "seed \(seed)")
      var messages: [String: UInt64] = [:]
      for outcome in run.outcomes {
        // “m1 written”, “m2 rejected(laneIsFull)”.
        let end = outcome.drop { $0 != " " }.dropFirst().prefix { $0 != "(" }
        messages[String(end), default: 0] += 1
      }
      #expect(messages == check.report.messages, "seed \(seed)")
    }
  }

  @Test("F59: add up: parts in any order give the summary of the whole")
  func merging() throws {
    var whole = Check(.machine)
    for seed in 0..<60 as Range<UInt64> { whole.run(seed: seed) }
    var sum = CheckSummary(profile: "machine")
    for part in [1, 0, 2] as [UInt64] {
      var check = Check(.machine)
      for seed in (0..<20 as Range<UInt64>).reversed() { check.run(seed: part * 20 + seed) }
      try sum.merge(check.report)
    }
    #expect(sum == whole.report)
  }

  @Test("that were run in both summaries are not added up")
  func overlap() {
    var (one, other) = (Check(.machine), Check(.machine))
    for seed in 5...7 as ClosedRange<UInt64> { one.run(seed: seed) }
    other.run(seed: 7)
    var sum = one.report
    #expect(throws: CheckMergeError.seedsTwice(7)) { try sum.merge(other.report) }
    #expect(sum == one.report)
  }

  @Test("have a table for each kind of thing to meet, whose cells are those of the summary")
  func coverage() {
    let report = Self.reports.first
    let cells = report.coverage.flatMap(\.cells)
    #expect(report.coverage.count == 3)
    #expect(Set(cells.map(\.name)).count == cells.count)
    let met = cells.filter { $0.count > 0 }
    #expect(Dictionary(uniqueKeysWithValues: met.map { ($0.name, $0.count) }) == report.cells)
    #expect(report.coverage.map(\.met).reduce(0, +) == report.cells.count)
  }

  @Test("have met no cell of which a reason says that it cannot be met")
  func reasons() {
    let met = Self.reports.all.coverage.flatMap(\.cells).filter { $0.count > 0 }
    #expect(met.count > 900)
    #expect(met.filter { $0.reason != nil }.map(\.name) == [])
  }

  @Test("I19: what a scenario expects counts only where it is given the time for it")
  func fairness() throws {
    func failure(_ steps: String) throws -> CheckFailure? {
      let json = #"""
        { "version": 1, "name": "s", "seed": 1, "policy": { "heartbeat": null },
          "steps": [ \#(steps) ] }
        """#
      return CheckProfile.machine.failure(
        of: try JSONDecoder().decode(Scenario.self, from: Data(json.utf8)))
    }
    let connect = #"{ "t": 0, "ev": "api.connect" }, "#
    let heal = #"{ "t": 1, "ev": "net.heal" }, "#
    func expect(_ t: Int, _ state: String) -> String {
      #"{ "t": \#(t), "ev": "expect.state", "arg": "\#(state)" }"#
    }
    // Not open yet, and nobody said that it would be.
    #expect(try failure(connect + expect(1, "open")) == nil)
    #expect(try failure(connect + heal + expect(2, "open")) == nil)
    // Given all the time in the world; but nobody wants it open.
    #expect(try failure(heal + expect(9_000, "open")) == nil)
    #expect(try failure(connect + heal + expect(9_000, "open")) == nil)
    // It closes at once, which is not what is expected of it.
    let close = #"{ "t": 2, "ev": "api.close" }, "#
    let found = try failure(connect + heal + close + expect(9_000, "connecting"))
    #expect(found?.promise == "expect.state connecting")
  }
}
