import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Forks: a run that goes on in two ways")
struct ForkTests {
  /// A run with what it has told.
  private struct Run {
    var simulation: Simulation
    var records: [TraceRecord] = []
    var notes: [String] = []

    init(_ scenario: Scenario) throws {
      simulation = try Simulation(scenario, seed: scenario.seed)
    }

    mutating func goOn(toStep limit: Int = .max) throws {
      var heard: [Simulation.Event] = []
      while records.count < limit, try simulation.advance({ heard.append($0) }) {
        for event in heard {
          switch event {
          case .step(let record): records.append(record)
          case .note(let instant, let note): notes.append("\(instant) \(note)")
          }
        }
        heard = []
      }
    }
  }

  private static func story(_ name: String) throws -> Scenario {
    let builtIn = try #require(BuiltInScenario.named(name))
    return try JSONDecoder().decode(Scenario.self, from: Data(builtIn.json.utf8))
  }

  private static let names = BuiltInScenario.all.map(\.name)

  @Test(
    "a copy from any step is equal to the run it was taken from, to the last step",
    arguments: names)
  func copies(name: String) throws {
    var whole = try Run(Self.story(name))
    try whole.goOn()
    for step in 1...whole.records.count {
      var run = try Run(Self.story(name))
      try run.goOn(toStep: step)
      var copy = run
      try copy.goOn()
      #expect(copy.records == whole.records && copy.notes == whole.notes, "from step \(step)")
      #expect(copy.simulation.outcomes == whole.simulation.outcomes)
    }
  }

  @Test(
    "what is expected no more and drawn as before changes no step",
    arguments: names)
  func withoutExpectations(name: String) throws {
    var whole = try Run(Self.story(name))
    try whole.goOn()
    for step in stride(from: 1, through: whole.records.count, by: 3) {
      var run = try Run(Self.story(name))
      try run.goOn(toStep: step)
      try run.simulation.diverge(doing: [])
      try run.goOn()
      #expect(run.records == whole.records, "from step \(step)")
    }
  }

  @Test(
    "the run that was copied hears nothing of what befalls the copy",
    arguments: names)
  func undisturbed(name: String) throws {
    var whole = try Run(Self.story(name))
    try whole.goOn()
    for step in stride(from: 1, through: whole.records.count, by: 5) {
      var run = try Run(Self.story(name))
      try run.goOn(toStep: step)
      for (seed, steps) in [(9, ["net.rst"]), (nil, ["api.close"]), (10, [])]
        as [(UInt64?, [String])]
      {
        var copy = run
        try copy.simulation.diverge(seed: seed, doing: steps)
        try copy.goOn()
        #expect(copy.records.prefix(step) == run.records.prefix(step))
      }
      try run.goOn()
      #expect(run.records == whole.records && run.notes == whole.notes, "from step \(step)")
    }
  }

  @Test("another seed draws other waits from there on, and the same seed the same ones")
  func seeds() throws {
    var run = try Run(Self.story("tour"))
    try run.goOn(toStep: 12)
    func waits(_ seed: UInt64) throws -> [TraceRecord] {
      var copy = run
      try copy.simulation.diverge(seed: seed, doing: [])
      try copy.goOn()
      return copy.records
    }
    let (seven, again, eight) = (try waits(7), try waits(7), try waits(8))
    #expect(seven == again)
    #expect(seven != eight)
    #expect(seven.prefix(12) == eight.prefix(12))
  }

  @Test("steps that are added befall at once and in order, and do not prolong the story")
  func additions() throws {
    var run = try Run(Self.story("dead-peer"))
    try run.goOn(toStep: 5)
    let now = run.records[4].instant
    try run.simulation.diverge(doing: ["net.rst", "api.send x,y"])
    try run.goOn()
    #expect(run.notes.contains("\(now) net.rst"))
    let inputs = run.records[5...8].map(\.input)
    #expect(
      inputs == [
        .transport(Epoch(1), .failed(.system(.connectionReset))),
        .offer(LaneID(0), byteCount: 1), .offer(LaneID(0), byteCount: 1), .deadlineReached,
      ])
    #expect(run.records[5...7].allSatisfy { $0.instant == now })
    #expect(run.simulation.unconsumedAdditions.isEmpty)
    #expect(try #require(run.records.last).instant <= .origin + .seconds(82))
  }

  @Test("a fork can be forked, and what found nothing to befall is named")
  func again() throws {
    var run = try Run(Self.story("dead-peer"))
    try run.goOn(toStep: 5)
    try run.simulation.diverge(seed: 3, doing: ["net.rst"])
    try run.goOn(toStep: 8)
    var copy = run
    try copy.simulation.diverge(seed: 4, doing: ["api.close", "net.http 503"])
    try copy.goOn()
    #expect(try #require(copy.records.last).to == .closed)
    #expect(copy.simulation.unconsumedAdditions == ["net.http 503"])
    #expect(run.simulation.unconsumedAdditions.isEmpty)
  }

  @Test(
    "a step that makes no sense is refused, and the run is what it was",
    arguments: [
      ("net.http", "net.http: "), ("net.xx 1", "net.xx: unknown event"), ("", ": unknown event"),
      ("expect.state open", "expect.state: is nothing that happens"),
      ("hb.ping", "hb.ping: is nothing that happens"),
    ])
  func refused(words: String, problem: String) throws {
    var run = try Run(Self.story("dead-peer"))
    try run.goOn(toStep: 5)
    var copy = run
    let error = #expect(throws: ScenarioError.self) {
      try copy.simulation.diverge(seed: 2, doing: ["net.rst", words])
    }
    #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
    #expect(error?.step == nil)
    try copy.goOn()
    try run.goOn()
    #expect(copy.records == run.records)
  }
}
