package import ConnectionFSM

/// Which moves were made in which phase.
package struct Coverage: Sendable {
  private var made = Array(repeating: false, count: Phase.allCases.count * Move.allCases.count)

  package init() {}

  /// The place of a move among all.
  static func ordinal(_ move: Move) -> Int {
    guard let place = Move.allCases.firstIndex(of: move) else {
      preconditionFailure("\(move) is none of all moves")
    }
    return place
  }

  @inline(__always)
  mutating func note(_ phase: Phase, _ ordinal: Int) {
    made[Int(phase.rawValue) * Move.allCases.count + ordinal] = true
  }

  /// Adds what another exploration has made.
  package mutating func formUnion(_ other: Coverage) {
    for place in made.indices where other.made[place] { made[place] = true }
  }

  /// The phases in which anything was done.
  package var phases: [Phase] {
    Phase.allCases.filter { phase in Move.allCases.contains { wasMade($0, in: phase) } }
  }

  /// Whether a move was made in a phase.
  package func wasMade(_ move: Move, in phase: Phase) -> Bool {
    made[Int(phase.rawValue) * Move.allCases.count + Self.ordinal(move)]
  }
}
