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
      // What comes before its attempt finds nothing: read from a file, it would wait for it. That
      // the story has sessions must still be said, if only behind its end.
      let unborn = Set(run.network.unborn)
      var steps = story.steps
      var unconsumed = run.unconsumedSteps
      for place in unborn.sorted() {
        let step = steps[place - 1]
        steps[place - 1] = Story.Step(at: step.at, action: .environment(.nothing))
        guard case .network(.session(let answer), _, _, _) = step.action, let end = steps.last?.at
        else {
          continue
        }
        let waiting = Action.network(.session(answer), .next, repeats: 1, every: nil)
        steps.append(Story.Step(at: end, action: waiting))
        unconsumed.append(steps.count)
      }
      var scenario = Scenario(
        Story(policy: story.policy, steps: steps), name: "seed-\(seed)", seed: seed)
      scenario.unconsumed = unconsumed.sorted()
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
