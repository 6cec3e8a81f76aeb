import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Traces of simulated runs replay")
struct CaseReplayTests {
  /// The trace as JSON Lines, and read back from them.
  private static func written(
    _ scenario: Scenario, seed: UInt64
  ) throws -> (header: TraceHeader, lines: [TraceLine]) {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    func backAgain<Value: Codable>(_ value: Value) throws -> Value {
      try decoder.decode(Value.self, from: encoder.encode(value))
    }
    var simulation = try Simulation(scenario, seed: seed)
    var causality = Causality()
    var lines: [TraceLine] = []
    do {
      try simulation.run { event in
        guard case .step(let record) = event else { return }
        lines.append(TraceLine(record, parent: causality.parent(of: record)))
      }
    } catch is ScenarioError {
      // What was recorded up to there is a trace too.
    }
    let header = TraceHeader(policy: scenario.policy, seed: seed)
    return (try backAgain(header), try lines.map(backAgain))
  }

  @Test(
    "every reported case, read back from its JSON Lines", arguments: Fixtures.names(in: "cases"))
  func cases(file: String) throws {
    let scenario = try Fixtures.scenario(file, in: "cases")
    for seed in [scenario.seed, 100, 101] {
      let (header, lines) = try Self.written(scenario, seed: seed)
      var replay = try Replay(header)
      for line in lines { _ = try replay.next(line) }
    }
  }

  @Test("stories that were drawn, with every fault there is")
  func drawn() throws {
    var steps = 0
    for seed in 1...60 as ClosedRange<UInt64> {
      let (header, lines) = try Self.written(CheckProfile.machine.scenario(seed: seed), seed: seed)
      var replay = try Replay(header)
      for line in lines { _ = try replay.next(line) }
      steps += lines.count
    }
    #expect(steps > 6000)
  }

  @Test("the golden trace of the tour, as an earlier release wrote it")
  func golden() throws {
    let lines = try Fixtures.text("golden/tour.jsonl").split(separator: "\n").map { Data($0.utf8) }
    let decoder = JSONDecoder()
    var replay = try Replay(decoder.decode(TraceHeader.self, from: try #require(lines.first)))
    for line in lines.dropFirst() {
      _ = try replay.next(decoder.decode(TraceLine.self, from: line))
    }
    #expect(lines.count > 30)
  }
}
