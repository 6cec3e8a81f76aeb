import ConnectionFSM

extension CheckProfile {
  /// The machine alone, with a strict referee as its owner, against a scripted network: fast.
  ///
  /// A story is drawn from its seed: a policy, what the application does and what befalls it. Then
  /// everything is well, and a link must be open, a message delivered and the close complete within
  /// spans that follow from the policy.
  public static let machine = CheckProfile(
    name: "machine",
    range: .machine,
    run: { seed, cells in
      var run = Simulation(Swarm.story(seed: seed), seed: seed)
      run.isWatched = false
      // Handed over, so that there is one copy.
      run.cells = cells
      cells = Cells.none
      var tale = Tale()
      do {
        try run.run()
      } catch {
        tale.failure = CheckFailure(seed: seed, error, in: run)
      }
      if let met = run.cells { cells = met }
      tale.add(run)
      return tale
    },
    draw: { seed in
      let story = Swarm.story(seed: seed)
      var run = Simulation(story, seed: seed)
      run.isWatched = false
      // Whatever becomes of it: wanted are the steps that it has no use for.
      try? run.run()
      // What comes before its attempt finds nothing: read from a file, it would wait for it, so it
      // is told of one that never comes. Left out, it could not say that the story has sessions.
      let unborn = Set(run.network.unborn)
      let steps = story.steps.enumerated().map { place, step in
        unborn.contains(place + 1) ? step.forNobody : step
      }
      var scenario = Scenario(
        Story(policy: story.policy, steps: steps), name: "seed-\(seed)", seed: seed)
      scenario.unconsumed = (run.unconsumedSteps + unborn).sorted()
      return scenario
    },
    judge: { scenario in
      guard let story = try? Story(scenario), story.isFair else { return nil }
      var run = Simulation(story, seed: scenario.seed)
      run.isWatched = false
      do {
        try run.run()
        return nil
      } catch {
        return CheckFailure(seed: scenario.seed, error, in: run)
      }
    },
    tries: 20_000)
}

extension Story.Step {
  /// The step, for an attempt that no story makes.
  fileprivate var forNobody: Story.Step {
    guard case .network(let action, _, let repeats, let every) = action else { return self }
    let aim = Aim.generation(1_000_000)
    return Story.Step(at: at, action: .network(action, aim, repeats: repeats, every: every))
  }
}

extension CellRange {
  static let machine = CellRange(
    inputs: InputWord.allCases, words: StepWords.machine, phases: Phase.allCases)
}

extension CheckProfile.Tale {
  fileprivate mutating func add(_ run: Simulation) {
    steps = run.sequence
    dials = UInt64(run.dials.count)
    for (name, count) in run.endCounts { messages[name] = UInt64(count) }
    digest.add(run.sequence)
    digest.add(run.now.nanoseconds)
    for wait in run.waits { digest.add(wait.nanoseconds) }
  }
}

extension CheckFailure {
  fileprivate init(seed: UInt64, _ error: any Error, in run: Simulation) {
    let words = (error as? ScenarioError)?.step.map { run.story.words(of: $0 - 1) }
    self.init(seed: seed, error, step: words, at: run.now)
  }

  /// - Parameter step: What the error is about, if it is about a step.
  init(seed: UInt64, _ error: any Error, step: Scenario.Step?, at instant: Instant) {
    self.seed = seed
    seconds = Double((instant - .origin).nanoseconds) / 1e9
    switch error {
    case let violation as Violation:
      promise = violation.invariant
      finding = violation.finding
    case let error as ScenarioError:
      promise = step.map { "\($0.ev) \($0.arg ?? "")" } ?? "scenario"
      finding = error.problem
    case let error:
      promise = "\(type(of: error))"
      finding = "\(error)"
    }
  }
}
