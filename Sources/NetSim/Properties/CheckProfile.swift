/// What stories are drawn from seeds, what runs them, and what judges them.
public struct CheckProfile: Sendable {
  /// Its name in summaries.
  public let name: String
  let range: CellRange
  /// Runs the story of a seed; what it meets is counted.
  let run: @Sendable (_ seed: UInt64, _ cells: inout Cells) -> Tale
  let draw: @Sendable (_ seed: UInt64) -> Scenario
  let judge: @Sendable (_ scenario: Scenario) -> CheckFailure?
  /// How many scenarios are tried to make one small: in some seconds, whatever one takes.
  let tries: Int

  /// What came of one story.
  struct Tale {
    var steps: UInt64 = 0
    var dials: UInt64 = 0
    /// How many messages ended so.
    var messages: [String: UInt64] = [:]
    /// One number for all that happened.
    var digest = Digest()
    var failure: CheckFailure?
  }

  /// The story of a seed as a scenario, which fails as the story does.
  public func scenario(seed: UInt64) -> Scenario { draw(seed) }

  /// What a scenario came to grief of; nil if it went well, or is none of which something may be
  /// expected: it is not read, or gives what it expects no time.
  public func failure(of scenario: Scenario) -> CheckFailure? { judge(scenario) }

  /// The smallest scenario that was found to fail as a story did.
  public func minimal(of failure: CheckFailure) -> Scenario {
    var scenario = draw(failure.seed)
    // The story must last until then, though nothing may happen any more.
    scenario.steps.removeAll { $0.t > failure.seconds }
    scenario.steps.append(Scenario.Step(t: failure.seconds, ev: "net.noop"))
    // Which steps find nothing to befall changes with every step that is left out.
    if scenario.unconsumed != nil { scenario.unconsumed = Array(1...scenario.steps.count) }
    // What shows only after the last step, as what is left behind, needs the whole.
    if judge(scenario)?.promise != failure.promise {
      scenario = draw(failure.seed)
      if scenario.unconsumed != nil { scenario.unconsumed = Array(1...scenario.steps.count) }
    }
    var shrinker = Shrinker(scenario, limit: tries) { judge($0)?.promise == failure.promise }
    shrinker.shrink()
    var minimal = shrinker.scenario
    minimal.unconsumed = nil
    if judge(minimal)?.promise == failure.promise { return minimal }
    minimal.unconsumed = Array(1...max(1, minimal.steps.count))
    return minimal
  }
}
