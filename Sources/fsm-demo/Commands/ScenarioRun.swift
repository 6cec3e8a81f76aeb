import ConnectionFSM
import NetSim

/// Runs a scenario and writes its trace.
struct ScenarioRun {
  let scenario: Scenario
  /// Where it came from, for messages: a path, or the name of a built-in one.
  let source: String
  let seed: UInt64
  private let options: RunOptions

  init(_ scenario: Scenario, from source: String, options: RunOptions) {
    self.scenario = scenario
    self.source = source
    seed = options.seed ?? scenario.seed
    self.options = options
  }

  /// - Throws: What went otherwise than the scenario says, after the trace up to there.
  func run() throws(Failure) -> Statistics {
    let play = try prepared()
    var writer = try RunWriter(options, title: scenario.name, seed: seed)
    // Whatever happened: what was told so far is worth most where something went wrong.
    defer { writer.finish() }
    var statistics = Statistics()
    do {
      writer.begin(policy: scenario.policy, seed: seed)
      try play.run(
        { event in
          switch event {
          case .step(let record):
            statistics.add(record)
            writer.step(record)
          case .note(let instant, let note): writer.note(note, at: instant)
          }
        }, capture: writer.captures ? { writer.packet($0) } : nil)
      return statistics
    } catch let error as ScenarioError {
      throw Failure(.failed, "\(source): \(error)")
    } catch {
      throw Failure(
        .failed,
        "\(source): line \(statistics.steps) of the trace, at \(statistics.end) s: \(error); a bug "
          + "of this package, which the scenario with --seed \(seed) replays: please report it")
    }
  }
}

extension ScenarioRun {
  private func prepared() throws(Failure) -> ScenarioPlay {
    if scenario.over?.isOfBytes != true { try options.requireNoBytes(of: source) }
    do {
      return try ScenarioPlay(scenario, seed: seed)
    } catch {
      throw Failure(.badData, "\(source): \(error)")
    }
  }
}
