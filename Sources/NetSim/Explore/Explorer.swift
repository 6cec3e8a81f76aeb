import ConnectionFSM

/// A broken promise and the shortest way to it that an exploration or a walk took.
package struct Counterexample: Error, CustomStringConvertible, Sendable {
  /// What broke.
  package let violation: Violation
  /// What happened, from the start.
  package let steps: [Step]

  package var description: String {
    "\(violation) after:\n" + steps.map { "  \($0)" }.joined(separator: "\n")
  }
}

/// Tries every sequence of the moves of a ``Slice``, with every promise checked after each.
///
/// Breadth first, so that a counterexample is as short as can be. Of two ways to situations of
/// equal ``CanonicalForm`` one is followed: so a slice has an end, and there everything that can
/// happen in it, in sequences of any length, has been tried.
package struct Explorer: ~Copyable {
  /// What an exploration has seen.
  package struct Result: Sendable {
    /// How many situations were different.
    package var states = 1
    /// How many steps were tried.
    package var transitions = 0
    /// The longest of the shortest ways to a situation.
    package var depth = 0
    /// Whether there is nothing new to be found.
    package var isComplete = false
    /// Which moves were made in which phase.
    package var coverage = Coverage()
  }

  /// A situation that is to be gone on from, and how it was reached.
  private struct Node {
    var machine: Machine
    var referee: Referee
    var place: UInt32
  }

  /// The last step to a situation: where from, which move, with which dice.
  private struct Way {
    let from: UInt32
    let move: UInt16
    let dice: UInt16
  }

  private let slice: Slice
  private let ordinals: [Int]
  private let dice = Dice.all
  private let limits: CanonicalForm.Limits
  private let initial: Node
  private var next: [Node] = []
  private var seen = FingerprintSet()
  private var ways: [Way] = [Way(from: 0, move: 0, dice: 0)]
  private var effects = Effects()
  package private(set) var result = Result()

  /// Starts from a machine at rest.
  package init(_ slice: Slice) {
    self.slice = slice
    ordinals = slice.moves.map(Coverage.ordinal)
    limits = CanonicalForm.Limits(policy: slice.policy)
    initial = Node(
      machine: Machine(policy: slice.policy, seed: 0),
      referee: Referee(policy: slice.policy), place: 0)
    var node = initial
    _ = seen.insert(form(of: &node))
  }

  private func form(of node: inout Node) -> CanonicalForm.Fingerprint {
    var form = CanonicalForm(limits: limits)
    node.machine.add(to: &form)
    node.referee.add(to: &form)
    return form.fingerprint()
  }
}

// MARK: Breadth first

// Nodes are passed as inout even where they are only read: a machine is large, and a copy that the
// compiler makes to be safe costs as much as the transition.
extension Explorer {
  /// Explores until nothing new is found, or all sequences of so many moves.
  /// - Parameters:
  ///   - depth: How many moves at most; nil for any number.
  ///   - report: Told now and then how far it is.
  /// - Throws: The first ``Counterexample``.
  package mutating func explore(
    depth: Int?, report: (Result) -> Void = { _ in }
  ) throws(Counterexample) -> Result {
    var frontier = [initial]
    var scratch = initial
    while !frontier.isEmpty, result.depth < depth ?? .max {
      for place in frontier.indices {
        try expand(frontier[place], with: &scratch)
        if place & 0x1FFF == 0x1FFF { report(result) }
      }
      swap(&frontier, &next)
      next.removeAll(keepingCapacity: true)
      if !frontier.isEmpty { result.depth += 1 }
      report(result)
    }
    result.isComplete = frontier.isEmpty
    return result
  }

  private mutating func expand(
    _ node: Node, with scratch: inout Node
  ) throws(Counterexample) {
    let bearings = node.machine.bearings
    scratch = node
    for index in slice.moves.indices {
      guard let step = slice.moves[index].step(from: bearings, scale: slice.scale) else {
        continue
      }
      result.coverage.note(bearings.phase, ordinals[index])
      let way = Way(from: node.place, move: UInt16(index), dice: 0)
      let draws = try follow(step, way, from: node, at: bearings.clock, with: &scratch)
      // As many more ways as there are other outcomes of the draws.
      for dice in 1..<max(1, 1 << draws) {
        let way = Way(from: node.place, move: UInt16(index), dice: UInt16(dice))
        _ = try follow(step, way, from: node, at: bearings.clock, with: &scratch)
      }
    }
  }

  /// Takes a step and keeps where it leads, if that is new; says how often the dice were thrown.
  /// Wants in `scratch` a copy of the node, and leaves one there.
  private mutating func follow(
    _ step: Step, _ way: Way, from node: Node, at clock: Instant,
    with scratch: inout Node
  ) throws(Counterexample) -> Int {
    result.transitions += 1
    let (disposition, draws) = scratch.machine.handle(
      step.input, at: step.instant, into: &effects, throwing: dice[Int(way.dice)])
    do throws(Violation) {
      try scratch.referee.judge(
        step.input, at: step.instant, before: node.machine, after: scratch.machine,
        disposition: disposition, effects: effects)
      // The judge has seen that nothing changed, not even the time.
      if case .ignored = disposition, step.instant == clock { return 0 }
      guard draws <= Dice.drawLimit else {
        throw Violation("dice", "more than \(Dice.drawLimit) draws in one step")
      }
      if seen.insert(form(of: &scratch)) {
        result.states += 1
        scratch.place = UInt32(ways.count)
        ways.append(way)
        next.append(scratch)
      }
      scratch = node
      return draws
    } catch {
      throw Counterexample(violation: error, steps: steps(to: node.place) + [step])
    }
  }

  /// The steps that led to a situation, found by going there again.
  private func steps(to place: UInt32) -> [Step] {
    var path: [Way] = []
    var place = place
    while place != 0 {
      path.append(ways[Int(place)])
      place = ways[Int(place)].from
    }
    var machine = Machine(policy: slice.policy, seed: 0)
    var effects = Effects()
    var steps: [Step] = []
    for way in path.reversed() {
      guard let step = slice.moves[Int(way.move)].step(from: machine.bearings, scale: slice.scale)
      else {
        break
      }
      _ = machine.handle(
        step.input, at: step.instant, into: &effects, throwing: dice[Int(way.dice)])
      steps.append(step)
    }
    return steps
  }
}
