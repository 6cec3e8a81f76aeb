import ConnectionFSM
import Foundation
import NetSim
import Testing

/// The built-in scenarios as the demo runs them.
private enum BuiltIn {
  static let names = BuiltInScenario.all.map(\.name)

  static func scenario(_ name: String) throws -> Scenario {
    let builtIn = try #require(BuiltInScenario.named(name))
    return try JSONDecoder().decode(Scenario.self, from: Data(builtIn.json.utf8))
  }

  /// The trace as text for people, as `fsm-demo simulate` writes it.
  static func text(_ name: String, seed: UInt64? = nil) throws -> String {
    let scenario = try scenario(name)
    let text = TraceText(colour: false)
    var simulation = try Simulation(scenario, seed: seed ?? scenario.seed)
    var lines = [text.head]
    try simulation.run { event in
      switch event {
      case .step(let record): lines.append(text.line(record))
      case .note(let instant, let note): lines.append(text.note(note, at: instant))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The trace for programs, as `fsm-demo simulate --format jsonl` writes it.
  static func jsonLines(_ name: String) throws -> String {
    let scenario = try scenario(name)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var simulation = try Simulation(scenario, seed: scenario.seed)
    var lines = [try encoder.encode(TraceHeader(policy: scenario.policy, seed: scenario.seed))]
    var steps: [TraceRecord] = []
    try simulation.run { if case .step(let record) = $0 { steps.append(record) } }
    var causality = Causality()
    lines += try steps.map { record in
      try encoder.encode(TraceLine(record, parent: causality.parent(of: record)))
    }
    return lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
  }
}

@Suite("Built-in scenarios: golden traces")
struct DemoTraceTests {
  // Where a change of a trace is meant, the new fixture NAME.txt is
  //   fsm-demo simulate --scenario NAME | sed '/^$/,$d'
  @Test(
    "the text trace of a built-in scenario is that of its fixture, to the byte",
    arguments: BuiltIn.names)
  func text(name: String) throws {
    #expect(try BuiltIn.text(name) == Fixtures.text("golden/\(name).txt"))
  }

  @Test("the JSON Lines of the tour are those of its fixture, to the byte")
  func jsonLines() throws {
    #expect(try BuiltIn.jsonLines("tour") == Fixtures.text("golden/tour.jsonl"))
  }

  @Test("two runs of one seed give the same trace", arguments: BuiltIn.names)
  func repeats(name: String) throws {
    #expect(try BuiltIn.text(name, seed: 77) == BuiltIn.text(name, seed: 77))
  }

  @Test("another seed gives another trace of the tour")
  func otherSeed() throws {
    #expect(try BuiltIn.text("tour", seed: 5) != BuiltIn.text("tour", seed: 6))
  }

  @Test("a built-in scenario goes as it says with any seed", arguments: BuiltIn.names)
  func holdsForEverySeed(name: String) throws {
    let scenario = try BuiltIn.scenario(name)
    for seed in 1...40 as ClosedRange<UInt64> {
      var simulation = try Simulation(scenario, seed: seed)
      try simulation.run()
    }
  }

  @Test("a built-in scenario is found by the name in its own text, and says what it shows")
  func names() throws {
    #expect(Set(BuiltIn.names).count == BuiltIn.names.count)
    for name in BuiltIn.names {
      let scenario = try BuiltIn.scenario(name)
      #expect(scenario.name == name)
      #expect(scenario.about != nil)
    }
    #expect(BuiltInScenario.named("no such story") == nil)
  }

  @Test("the tour fits a page: at most 45 lines of at most 100 columns")
  func tourFitsAPage() throws {
    let lines = try BuiltIn.text("tour").split(separator: "\n")
    #expect((25...45).contains(lines.count))
    #expect(lines.allSatisfy { $0.count <= 100 })
  }
}
