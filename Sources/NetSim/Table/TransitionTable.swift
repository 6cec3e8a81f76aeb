package import ConnectionFSM

/// What the machine does in each phase with each kind of input.
///
/// Found out and never written down: machines with several policies are driven by every kind of
/// input, from rest into every phase that can be reached, each step judged by a ``Referee``. Of
/// machines that are alike in what the table speaks of, one is driven on: so every row was seen,
/// and each says what was.
package struct TransitionTable: Sendable {
  /// One outcome of an input in a phase.
  package struct Row: Equatable, Sendable {
    /// Where the machine was.
    package let phase: Phase
    /// What happened.
    package let input: InputKind
    /// Where the machine went; the same phase if it stayed.
    package let next: Phase
    /// What was made of the input: accepted, taken, rejected (why), ignored (why).
    package let disposition: String
    /// The effects that came every time, in order.
    package let effects: [String]
    /// The effects that came only sometimes: with messages, with a stage of the policy.
    package let sometimes: [String]

    /// Whether the input changed nothing.
    package var isIgnored: Bool { disposition.hasPrefix("ignored") }
  }

  /// All rows, by phase, then by kind of input.
  package let rows: [Row]

  /// Drives the machine.
  /// - Throws: The first broken promise, if the machine has a bug.
  package init() throws {
    var findings = Findings()
    for policy in try Self.policies() { try Self.drive(policy, into: &findings) }
    rows = findings.rows
  }
}

extension TransitionTable {
  /// The edges of the state diagram: where one phase leads to another, and by which inputs.
  package var edges: [(from: Phase, to: Phase, inputs: [InputKind])] {
    var edges: [(from: Phase, to: Phase, inputs: [InputKind])] = []
    for from in Phase.allCases {
      for to in Phase.allCases where to != from {
        let inputs = InputKind.allCases.filter { kind in
          rows.contains { $0.phase == from && $0.next == to && $0.input == kind }
        }
        if !inputs.isEmpty { edges.append((from, to, inputs)) }
      }
    }
    return edges
  }

  /// Policies that differ in what moves edges: the stages, the attempt limit, what a lost path
  /// does.
  private static func policies() throws(PolicyError) -> [Policy] {
    // One message a lane, so that full, evicted and in flight are a step away.
    let lanes = [
      Lane(.atMostOnce, timeToLive: .seconds(20), countLimit: 1, overflow: .dropOldest, window: 1),
      Lane(.atLeastOnce, timeToLive: .seconds(20), countLimit: 1, overflow: .reject, window: 1),
    ]
    let limited = Backoff(attemptLimit: 1)
    let closing = PathPolicy(onLoss: .close)
    let stage = TimeSpan.seconds(5)
    return [
      try Policy(lanes: lanes),
      try Policy(backoff: limited, path: closing, lanes: lanes),
      try Policy(sessionDeadline: stage, credentialsDeadline: stage, lanes: lanes),
      try Policy(
        backoff: limited, path: closing, sessionDeadline: stage, credentialsDeadline: stage,
        lanes: lanes),
    ]
  }

  /// Drives one policy's machines until nothing new is found.
  private static func drive(_ policy: Policy, into findings: inout Findings) throws(Violation) {
    var queue = [TableSubject(policy: policy)]
    var known: Set = [queue[0].likeness]
    var next = 0
    while next < queue.count {
      for kind in InputKind.allCases {
        var subject = queue[next]
        findings.add(try subject.feed(kind))
        if known.insert(subject.likeness).inserted { queue.append(subject) }
      }
      var rested = queue[next]
      rested.rest()
      if known.insert(rested.likeness).inserted { queue.append(rested) }
      next += 1
    }
  }
}
