import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Determinism check")
struct DeterminismTests {
  private func second(_ count: Int) -> Instant { .origin + .seconds(Int64(count)) }

  private func text(_ text: String, at count: Int) -> RunLog.Event {
    .init(instant: second(count), content: .text(text))
  }

  /// The difference that a check finds; nil if it finds none.
  private func difference(
    _ run: (UInt64, RunLog) throws -> Void
  ) throws -> Nondeterminism? {
    do {
      try Determinism.check(seed: 7, run)
      return nil
    } catch let difference as Nondeterminism {
      return difference
    }
  }

  @Test("equal runs pass, and give a digest that is the same everywhere")
  func equal() throws {
    let digest = try Determinism.check(seed: 7) { seed, log in
      var random = RandomStream(seed: seed, name: "run")
      for count in 0..<3000 {
        log.record("draw \(random.next(through: 999))", at: second(count))
        log.record([UInt8(random.next(through: 255))], at: second(count))
      }
    }
    #expect(digest == 3_858_653_023_033_617_507)
    let other = try Determinism.check(seed: 8) { seed, log in log.record("\(seed)", at: .origin) }
    #expect(other != digest)
    try Determinism.check(seed: 1) { _, _ in }
  }

  @Test("a variable that outlives the run is named by the event that it changes, with both sides")
  func outlives() throws {
    var dials = 0
    let found = try difference { _, log in
      for count in 0..<20 { log.record("event \(count)", at: second(count)) }
      dials += 1
      log.record("dial \(dials)", at: second(20))
      for count in 21..<40 { log.record("event \(count)", at: second(count)) }
    }
    let expected = Nondeterminism.event(
      seed: 7, index: 20, first: text("dial 1", at: 20), second: text("dial 2", at: 20))
    #expect(found == expected)
    #expect(
      expected.description == """
        seed 7: two runs differ in event 20, the first that does
          first run:  at 20.000 “dial 1”
          second run: at 20.000 “dial 2”
        """)
  }

  @Test("an event at another time, or of bytes instead of text, is a difference")
  func instantAndKind() throws {
    var run = 0
    let found = try difference { _, log in
      run += 1
      log.record("a", at: second(run))
    }
    #expect(
      found == .event(seed: 7, index: 0, first: text("a", at: 1), second: text("a", at: 2)))
    let kind = try difference { _, log in
      run += 1
      if run.isMultiple(of: 2) {
        log.record("a", at: .origin)
      } else {
        log.record([97], at: .origin)
      }
    }
    #expect(kind?.description.contains("at 0.000 1 bytes 61") == true)
  }

  @Test("a run that is shorter was over where the other goes on", arguments: [10, 1024, 5000])
  func lengths(_ length: Int) throws {
    var run = 0
    let found = try difference { _, log in
      for count in 0..<length - run { log.record("event \(count)", at: second(count)) }
      run += 1
    }
    let last = text("event \(length - 1)", at: length - 1)
    #expect(found == .event(seed: 7, index: length - 1, first: last, second: nil))
    #expect(found?.description.hasSuffix("second run: was over") == true)
  }

  @Test("a difference beyond what is kept is found by running twice more")
  func far() throws {
    var runs = 0
    let found = try difference { _, log in
      runs += 1
      for count in 0..<200_000 {
        log.record(count == 150_000 ? "odd \(runs)" : "event", at: second(count))
      }
    }
    #expect(runs == 4)
    let (first, other) = (text("odd 3", at: 150_000), text("odd 4", at: 150_000))
    #expect(found == .event(seed: 7, index: 150_000, first: first, second: other))
  }

  @Test("a difference that is never where it was is said to be elsewhere")
  func elsewhere() throws {
    var runs = 0
    let found = try difference { _, log in
      runs += 1
      let odd = 70_000 * ((runs + 1) / 2)
      for count in 0..<250_000 {
        log.record(count == odd ? "odd \(runs)" : "event", at: .origin)
      }
    }
    #expect(runs == 6)
    guard case .elsewhere(seed: 7, let equal) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect((200_000..<210_001).contains(equal))
  }

  @Test("an error is thrown on if both runs end with it, and is the last event if they do not")
  func errors() throws {
    struct Odd: Error, Equatable { let run: Int }
    #expect(throws: Odd(run: 3)) {
      try Determinism.check(seed: 7) { _, log in
        log.record("begun", at: .origin)
        throw Odd(run: 3)
      }
    }
    var run = 0
    let found = try difference { _, log in
      log.record("begun", at: second(1))
      run += 1
      throw Odd(run: run)
    }
    let sides = (text("threw Odd(run: 1)", at: 1), text("threw Odd(run: 2)", at: 1))
    #expect(found == .event(seed: 7, index: 1, first: sides.0, second: sides.1))
  }

  @Test("a built-in scenario does the same each time", arguments: BuiltInScenario.all.map(\.name))
  func scenario(_ name: String) throws {
    let story = try #require(BuiltInScenario.named(name))
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(story.json.utf8))
    try Determinism.check(seed: 7) { seed, log in
      var simulation = try Simulation(scenario, seed: seed)
      try simulation.run { event in
        guard case .step(let record) = event else { return }
        log.record("\(record.input), \(record.from) to \(record.to)", at: record.instant)
      }
    }
  }

  @Test("a fleet does the same each time")
  func fleet() throws {
    for seed in UInt64(1)...4 {
      try Determinism.check(seed: seed) { seed, log in
        var fleet = try Workload.fleet(20, seed: seed)
        for event in try fleet.events(through: second(300)) {
          log.record("\(event.client) \(event.kind)", at: event.instant)
        }
      }
    }
  }
}
