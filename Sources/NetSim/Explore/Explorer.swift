package import ConnectionFSM

/// A broken promise and the shortest way to it that an exploration or a walk took.
package struct Counterexample: Error, CustomStringConvertible, Sendable {
  /// What broke.
  package let violation: Violation
  /// What happened, from the start.
  package let steps: [Candidates.Candidate]

  package var description: String {
    "\(violation) after:\n" + steps.map { "  \($0)" }.joined(separator: "\n")
  }
}

/// Tries every sequence of inputs up to a length, with every promise checked after each.
///
/// Breadth first, so that a counterexample is as short as can be. Two ways that lead to equal
/// machines under equal books are followed once; equality is that of a 64-bit hash over every fact,
/// whose chance to hide one of a million states is below one in ten million.
package struct Explorer {
  /// What an exploration has seen.
  package struct Result: Equatable, Sendable {
    /// How many states were different.
    package var states = 1
    /// How many steps were tried.
    package var transitions = 0
    /// The phases that were reached.
    package var phases: [Phase] = [.idle]
  }

  private struct Node {
    var machine: Machine
    var referee: Referee
    var instant: Instant
    /// The step that led here, in `ways`.
    var way: Int?
  }

  private var frontier: [Node]
  private var seen: Set<Int> = []
  private var ways: [(previous: Int?, step: Candidates.Candidate)] = []
  private var effects = Effects()
  private var result = Result()

  /// Starts from a machine at rest.
  package init(policy: Policy, seed: UInt64) {
    frontier = [
      Node(
        machine: Machine(policy: policy, seed: seed), referee: Referee(policy: policy),
        instant: .origin, way: nil)
    ]
  }

  /// Explores all sequences of so many inputs.
  /// - Throws: The first ``Counterexample``.
  package mutating func explore(depth: Int) throws(Counterexample) -> Result {
    for _ in 0..<depth {
      var next: [Node] = []
      for node in frontier {
        for candidate in Candidates.all(for: node.machine, at: node.instant) {
          if let child = try follow(candidate, from: node) { next.append(child) }
        }
      }
      frontier = next
    }
    return result
  }

  private mutating func follow(
    _ candidate: Candidates.Candidate, from node: Node
  ) throws(Counterexample) -> Node? {
    var child = node
    result.transitions += 1
    let disposition = child.machine.handle(
      candidate.input, at: candidate.instant, into: &effects)
    do throws(Violation) {
      try child.referee.judge(
        candidate.input, at: candidate.instant, before: node.machine, after: child.machine,
        disposition: disposition, effects: effects)
    } catch {
      throw Counterexample(violation: error, steps: way(to: node) + [candidate])
    }
    child.instant = candidate.instant
    var hasher = Hasher()
    hasher.combine(child.machine)
    hasher.combine(child.referee)
    guard seen.insert(hasher.finalize()).inserted else { return nil }
    result.states += 1
    if !result.phases.contains(child.machine.phase) { result.phases.append(child.machine.phase) }
    ways.append((node.way, candidate))
    child.way = ways.count - 1
    return child
  }

  private func way(to node: Node) -> [Candidates.Candidate] {
    var steps: [Candidates.Candidate] = []
    var next = node.way
    while let place = next {
      steps.append(ways[place].step)
      next = ways[place].previous
    }
    return steps.reversed()
  }
}
