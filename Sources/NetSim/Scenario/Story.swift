import ConnectionFSM

/// What a run is made from: a scenario whose words are understood, or one that was drawn and has
/// no words yet.
struct Story: Sendable {
  /// One thing that happens or is expected.
  struct Step: Sendable {
    let at: Instant
    let action: Action
    /// The lane of a sent message.
    var lane = LaneID(0)
    /// The payload bytes of a sent message; as many as its label has if nil.
    var byteCount: UInt32?
  }

  let policy: Policy
  let steps: [Step]
  /// The steps as their author wrote them; empty in a story that was drawn.
  private let written: [Scenario.Step]
  /// Places of steps, from 1, that need not be consumed.
  let unconsumed: [Int]
  /// Whether it was drawn: nobody meant any of its steps to be consumed.
  let isDrawn: Bool

  /// Makes a story that was drawn. Its steps come in order of time; none of them need be consumed.
  init(policy: Policy, steps: [Step]) {
    self.policy = policy
    self.steps = steps
    written = []
    unconsumed = []
    isDrawn = true
  }

  /// Understands the words of a scenario.
  init(_ scenario: Scenario) throws(ScenarioError) {
    guard scenario.over != .bytes else {
      throw ScenarioError(step: nil, "is told over bytes: run it as a StreamSimulation")
    }
    policy = scenario.policy
    written = scenario.steps
    unconsumed = scenario.unconsumed ?? []
    isDrawn = false
    let cast = try Cast(scenario)
    var steps: [Step] = []
    var last = 0.0
    for (index, step) in scenario.steps.enumerated() {
      let action = try ActionReader(step: step, place: index + 1, cast: cast).read()
      guard step.t >= last else {
        throw ScenarioError(step: index + 1, "t is earlier than that of the step before")
      }
      last = step.t
      steps.append(
        Step(
          at: .origin + TimeSpan(seconds: step.t), action: action, lane: LaneID(step.lane ?? 0),
          byteCount: step.bytes))
    }
    self.steps = steps
  }

  /// A step in words.
  func words(of index: Int) -> Scenario.Step {
    written.isEmpty ? Scenario.Step(steps[index]) : written[index]
  }
}

extension Scenario {
  /// Puts a story into words.
  init(_ story: Story, name: String, seed: UInt64) {
    version = 1
    self.name = name
    self.seed = seed
    policy = story.policy
    steps = story.steps.indices.map(story.words)
    unconsumed = story.unconsumed.isEmpty ? nil : story.unconsumed
  }
}
