import ConnectionFSM

/// A simulation is a value: a copy goes on from where the original is, and neither hears of the
/// other. This is what makes a copy go elsewhere.
extension Simulation {
  /// Lets the run go on otherwise than its story says.
  ///
  /// What the author expected is expected no more, and no step need be consumed: both were meant of
  /// the run as it was. Waits and delays that were drawn before stand.
  ///
  /// ```swift
  /// var otherwise = simulation
  /// try otherwise.diverge(seed: 7, doing: ["net.rst"])
  /// try otherwise.run()
  /// ```
  /// - Parameters:
  ///   - seed: What all randomness is drawn from here on; nil goes on as before.
  ///   - steps: What befalls now in addition, in order, each an event of a scenario and its
  ///     argument: `net.http 503`. They do not prolong the story.
  /// - Throws: ``ScenarioError`` if a step makes no sense; the run is what it was.
  public mutating func diverge(seed: UInt64? = nil, doing steps: [String]) throws(ScenarioError) {
    var story = story
    let additions = try steps.map { words throws(ScenarioError) in try story.add(words, at: now) }
    story.expectNothing()
    self.story = story
    for index in additions {
      coming.schedule(.step(index), at: now, by: Actor.story.rawValue)
      if case .callback = story.steps[index].action { callbacks.append(index) }
    }
    guard let seed else { return }
    machine.reseed(seed)
    network.reseed(seed)
  }

  /// Which of the steps that were added have found nothing to befall so far, in words.
  public var unconsumedAdditions: [String] {
    unconsumedSteps.filter { $0 > story.steps.count - story.addedCount }
      .map { story.words(of: $0 - 1).line }
  }
}
