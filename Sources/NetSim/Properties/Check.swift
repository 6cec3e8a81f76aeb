import ConnectionFSM

/// Runs the stories of many seeds, with every promise checked after each step.
///
/// A story is drawn from its seed: a policy, what the application does and what befalls it. Then
/// everything is well, and a link must be open, a message delivered and the close complete within
/// spans that follow from the policy.
public struct Check: Sendable {
  /// What came of the seeds so far.
  public private(set) var summary: CheckSummary
  private var cells: Cells?

  /// Makes a check that has run nothing.
  public init() {
    summary = CheckSummary()
    cells = Cells()
  }

  /// Runs the story of a seed and adds what came of it to the summary.
  /// - Returns: What went wrong; nil if nothing did.
  @discardableResult
  public mutating func run(seed: UInt64) -> CheckFailure? {
    var run = Simulation(Swarm.story(seed: seed), seed: seed)
    run.isWatched = false
    // Handed over, so that there is one copy.
    run.cells = cells.take()
    run.cells?.begin()
    var failure: CheckFailure?
    do {
      try run.run()
    } catch {
      failure = CheckFailure(seed: seed, error, in: run)
    }
    cells = run.cells.take()
    summary.add(run, seed: seed, failure)
    return failure
  }

  public static var cellNames: [String] { Cells().all.map(\.name) }

  /// The story of a seed as a scenario.
  public static func scenario(seed: UInt64) -> Scenario {
    let story = Swarm.story(seed: seed)
    var run = Simulation(story, seed: seed)
    run.isWatched = false
    try? run.run()
    // What was meant for attempts that never came stays out: read from a file, it would wait.
    let idle = Set(run.unconsumedSteps)
    var scenario = Scenario(story, name: "seed-\(seed)", seed: seed)
    scenario.steps = scenario.steps.enumerated()
      .filter { !idle.contains($0.offset + 1) }.map(\.element)
    return scenario
  }

  /// What a scenario came to grief of; nil if it went well, or is none that may be expected to.
  public static func failure(of scenario: Scenario) -> CheckFailure? {
    guard let story = try? Story(scenario), story.isFair else { return nil }
    var run = Simulation(story, seed: scenario.seed)
    run.isWatched = false
    do {
      try run.run()
      return nil
    } catch {
      return CheckFailure(seed: scenario.seed, error, in: run)
    }
  }

  /// The smallest scenario that fails as a failure did.
  public static func minimal(of failure: CheckFailure) -> Scenario {
    var scenario = Self.scenario(seed: failure.seed)
    // The story must last until then, though nothing may happen any more.
    scenario.steps.removeAll { $0.t > failure.seconds }
    scenario.steps.append(Scenario.Step(t: failure.seconds, ev: "net.noop"))
    var shrinker = Shrinker(scenario) { Self.failure(of: $0)?.promise == failure.promise }
    shrinker.shrink()
    return shrinker.scenario
  }

  /// What came of the seeds, with what they have met: made when it is asked for.
  public var report: CheckSummary {
    var report = summary
    if let cells { report.cells = cells.met }
    return report
  }
}

/// A story that broke a promise, or in which something did not come about in time.
public struct CheckFailure: Codable, Equatable, Sendable {
  /// The seed that replays it.
  public let seed: UInt64
  /// The promise's id; for an expectation that was not met its words, as `expect.state open`.
  public let promise: String
  /// What was seen.
  public let finding: String
  /// When, in seconds of virtual time.
  public let seconds: Double

  init(seed: UInt64, _ error: any Error, in run: Simulation) {
    self.seed = seed
    seconds = Double((run.now - .origin).nanoseconds) / 1e9
    switch error {
    case let violation as Violation:
      promise = violation.invariant
      finding = violation.finding
    case let error as ScenarioError:
      let words = error.step.map { run.story.words(of: $0 - 1) }
      promise = words.map { "\($0.ev) \($0.arg ?? "")" } ?? "scenario"
      finding = error.problem
    case let error:
      promise = "none"
      finding = "\(error)"
    }
  }
}
