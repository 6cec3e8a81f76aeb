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
  private(set) var steps: [Step]
  /// When it is over: at the time of its last step.
  let end: Instant
  /// The steps as their author wrote them; empty in a story that was drawn.
  private var written: [Scenario.Step]
  /// Places of steps, from 1, that need not be consumed.
  private(set) var unconsumed: [Int]
  /// Whether it was drawn: nobody meant any of its steps to be consumed.
  let isDrawn: Bool
  /// How many steps at the end were added by a fork.
  private(set) var addedCount = 0
  /// Who appears in it, by name.
  private let cast: Cast

  /// Makes a story that was drawn. Its steps come in order of time; none of them need be consumed.
  init(policy: Policy, steps: [Step]) {
    self.policy = policy
    self.steps = steps
    end = steps.last?.at ?? .origin
    cast = Cast()
    written = []
    unconsumed = []
    isDrawn = true
  }

  /// Understands the words of a scenario.
  init(_ scenario: Scenario) throws(ScenarioError) {
    guard scenario.over?.isOfBytes != true else {
      throw ScenarioError(step: nil, "is told over bytes: run it as a StreamSimulation")
    }
    policy = scenario.policy
    written = scenario.steps
    unconsumed = scenario.unconsumed ?? []
    isDrawn = false
    cast = try Cast(scenario)
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
    end = steps.last?.at ?? .origin
  }

  /// A step in words.
  func words(of index: Int) -> Scenario.Step {
    written.isEmpty ? Scenario.Step(steps[index]) : written[index]
  }
}

// MARK: Forks

extension Story {
  /// Adds a step that befalls now, whatever the others' times are.
  /// - Parameter words: The event and its argument: `net.http 503`.
  /// - Returns: Its index.
  mutating func add(_ words: String, at now: Instant) throws(ScenarioError) -> Int {
    let parts = words.split(separator: " ", maxSplits: 1)
    let step = Scenario.Step(
      t: Double((now - .origin).nanoseconds) / 1e9, ev: parts.first.map(String.init) ?? "",
      arg: parts.count > 1 ? String(parts[1]) : nil)
    let reader = ActionReader(step: step, place: steps.count + 1, cast: cast)
    let action: Action
    // It has no place in the story.
    do throws(ScenarioError) { action = try reader.read() } catch {
      throw ScenarioError(step: nil, error.problem)
    }
    switch action {
    case .expectation, .mark: throw ScenarioError(step: nil, "\(step.ev): is nothing that happens")
    case .app, .device, .network, .environment, .provider, .callback, .fleet: break
    }
    steps.append(Step(at: now, action: action))
    if !isDrawn { written.append(step) }
    addedCount += 1
    return steps.count - 1
  }

  /// Expects nothing more, and wants no step to be consumed: its author meant another run.
  mutating func expectNothing() {
    for index in steps.indices {
      if case .expectation = steps[index].action {
        steps[index] = Step(at: steps[index].at, action: .mark)
      }
    }
    unconsumed = Array(steps.indices.map { $0 + 1 })
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
