/// Makes a scenario that fails as small as it can, while it goes on failing: fewer steps, rounder
/// and earlier times, shorter arguments, a plainer policy, a smaller seed.
///
/// It knows nothing of what runs the scenario, so that one serves machine and bytes alike.
public struct Shrinker {
  /// The smallest scenario found so far.
  public private(set) var scenario: Scenario
  /// How many scenarios were tried.
  public private(set) var tries = 0
  private let fails: (Scenario) -> Bool
  private let limit: Int

  /// Makes a shrinker.
  /// - Parameters:
  ///   - scenario: One that fails.
  ///   - limit: How many scenarios it tries at most.
  ///   - fails: Whether a scenario fails in the same way, and is a fair one.
  public init(_ scenario: Scenario, limit: Int = 20_000, fails: @escaping (Scenario) -> Bool) {
    self.scenario = scenario
    self.limit = limit
    self.fails = fails
  }

  /// Shrinks until nothing helps any more.
  public mutating func shrink() {
    var size = -1
    // What one pass makes simpler lets another one go further.
    while size != score, tries < limit {
      size = score
      dropSteps()
      simplifyPolicy()
      shortenSteps()
      bringForward()
      joinSends()
      quietEnd()
      dropPairs()
      dropUnderOtherSeeds()
      simplifySeed()
    }
  }

  /// What is made smaller: grows with everything that a reader has to take in.
  private var score: Int {
    scenario.steps.reduce(0) { sum, step in
      sum + 100 + (step.arg?.utf8.count ?? 0) + (step.lane == nil ? 0 : 5)
        + (step.bytes == nil ? 0 : 5) + Int(max(0, min(step.t, 1e6)))
    }
  }

  private mutating func attempt(_ change: (inout Scenario) -> Void) -> Bool {
    guard tries < limit else { return false }
    var candidate = scenario
    change(&candidate)
    tries += 1
    guard fails(candidate) else { return false }
    scenario = candidate
    return true
  }
}

// MARK: Steps

extension Shrinker {
  /// Leaves out pieces: halves first, single steps last, from the back.
  private mutating func dropSteps() {
    var size = max(1, scenario.steps.count / 2)
    while true {
      var end = scenario.steps.count
      while end > 0 {
        let start = max(0, end - size)
        // What stood behind a dropped piece has been tried.
        _ = attempt { $0.steps.removeSubrange(start..<end) }
        end = start
      }
      if size == 1 { return }
      size /= 2
    }
  }

  /// Leaves out two steps that only make sense together; of a few steps, for it tries all pairs.
  private mutating func dropPairs() {
    var second = scenario.steps.count - 1
    guard second < 16 else { return }
    while second > 0 {
      var first = second - 1
      while first >= 0, second < scenario.steps.count {
        let (one, two) = (first, second)
        _ = attempt {
          $0.steps.remove(at: two)
          $0.steps.remove(at: one)
        }
        first -= 1
      }
      second -= 1
    }
  }

  /// Messages that are sent by several steps are sent by the first, or by the last of them.
  private mutating func joinSends() {
    var second = scenario.steps.count - 1
    while second > 0 {
      for first in 0..<second where canJoin(first, second) {
        let labels = [first, second].compactMap { scenario.steps[$0].arg }.joined(separator: ",")
        let joined = attempt {
          $0.steps[first].arg = labels
          $0.steps.remove(at: second)
        }
        if joined { break }
        let joinedLate = attempt {
          $0.steps[second].arg = labels
          $0.steps.remove(at: first)
        }
        if joinedLate { break }
      }
      second = min(second, scenario.steps.count) - 1
    }
  }

  private func canJoin(_ first: Int, _ second: Int) -> Bool {
    let (one, other) = (scenario.steps[first], scenario.steps[second])
    return one.ev == "api.send" && other.ev == "api.send" && one.lane == other.lane
      && one.bytes == other.bytes
  }

  /// A last step that only makes the story last says so.
  private mutating func quietEnd() {
    guard let last = scenario.steps.last, last.ev != "net.noop" else { return }
    _ = attempt {
      $0.steps[$0.steps.count - 1] = Scenario.Step(t: last.t, ev: "net.noop")
    }
  }

  /// Leaves out a step that only moved what was drawn after it: with other dice it is not needed.
  private mutating func dropUnderOtherSeeds() {
    var place = scenario.steps.count - 1
    while place >= 0, scenario.steps.count > 1 {
      for seed in 1...16 as ClosedRange<UInt64> {
        let dropped = attempt {
          $0.steps.remove(at: place)
          $0.seed = seed
        }
        if dropped { break }
      }
      place -= 1
    }
  }

  /// Moves each step and all behind it forward, to no gap if that goes, else to whole seconds.
  private mutating func bringForward() {
    for place in scenario.steps.indices {
      let before = place == 0 ? 0 : scenario.steps[place - 1].t
      let gap = scenario.steps[place].t - before
      if gap == 0 { continue }
      let rounded = [0, 0.1, 1, gap.rounded(.down), gap.rounded(.up)]
      if rounded.contains(where: { move(place, gap: gap, to: $0) }) { continue }
      // Half the gap, and again, as long as that is a good deal.
      var left = gap
      while left > 2, move(place, gap: left, to: (left / 2).rounded(.up)) {
        left = (left / 2).rounded(.up)
      }
    }
  }

  private mutating func move(_ place: Int, gap: Double, to new: Double) -> Bool {
    guard new < gap || new != gap && new == gap.rounded(.up) else { return false }
    let shift = gap - new
    return attempt { scenario in
      for later in place..<scenario.steps.count {
        let t = scenario.steps[later].t - shift
        // Milliseconds, as they were drawn.
        scenario.steps[later].t = (t * 1000).rounded() / 1000
      }
    }
  }
}

// MARK: Words

extension Shrinker {
  private mutating func shortenSteps() {
    for place in scenario.steps.indices {
      if scenario.steps[place].lane != nil { _ = attempt { $0.steps[place].lane = nil } }
      if let bytes = scenario.steps[place].bytes {
        if !attempt({ $0.steps[place].bytes = nil }), bytes > 1 {
          _ = attempt { $0.steps[place].bytes = 1 }
        }
      }
      if scenario.steps[place].note != nil { _ = attempt { $0.steps[place].note = nil } }
      shortenArgument(at: place)
    }
  }

  private mutating func shortenArgument(at place: Int) {
    guard let argument = scenario.steps[place].arg else { return }
    // An expectation says what must be, not what befalls.
    if scenario.steps[place].ev.hasPrefix("expect.") { return }
    if attempt({ $0.steps[place].arg = nil }) { return }
    shorten(argument, separator: ",", at: place)
    shorten(scenario.steps[place].arg ?? "", separator: " ", at: place)
  }

  /// Leaves out parts of a list, from the back; halves first.
  private mutating func shorten(_ argument: String, separator: Character, at place: Int) {
    var parts = argument.split(separator: separator)
    var size = parts.count / 2
    while size > 0 {
      var end = parts.count
      while end > 0, parts.count > 1 {
        let start = max(0, end - size)
        var fewer = parts
        fewer.removeSubrange(start..<end)
        let text = fewer.joined(separator: String(separator))
        if !fewer.isEmpty, attempt({ $0.steps[place].arg = text }) { parts = fewer }
        end = start
      }
      size /= 2
    }
  }
}

// MARK: Policy and seed

extension Shrinker {
  private mutating func simplifyPolicy() {
    for simplify in PolicyDraft.simplifications {
      var draft = PolicyDraft(scenario.policy)
      simplify(&draft)
      guard let policy = draft.policy, policy != scenario.policy else { continue }
      _ = attempt { $0.policy = policy }
    }
  }

  private mutating func simplifySeed() {
    for seed in [1, 2, 3, 4, 5] as [UInt64] where scenario.seed > seed {
      if attempt({ $0.seed = seed }) { return }
    }
  }
}
