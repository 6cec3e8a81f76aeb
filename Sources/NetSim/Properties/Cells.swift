import ConnectionFSM

/// What the runs of a profile can meet at all.
struct CellRange: Sendable {
  let inputs: [InputWord]
  /// Steps by the words that scenarios have for them.
  let words: [String]
  let phases: [Phase]

  /// The range of the profile of that name.
  static func named(_ profile: String) -> CellRange? {
    switch profile {
    case "machine": .machine
    case "connection": .connection
    case _: nil
    }
  }
}

/// What stories have met, counted: each input in each phase, each step of a story in each phase,
/// each change of phase after another.
struct Cells: Equatable, Sendable {
  private static let phases = Phase.allCases.count

  /// What a profile can meet.
  let range: CellRange
  // For look-ups alone.
  private let ordinals: [String: Int]
  private var inputs = [UInt64](repeating: 0, count: phases * InputWord.allCases.count)
  private var steps: [UInt64]
  private var changes = [UInt64](repeating: 0, count: phases * phases * phases)

  // The change before, within the run that goes on.
  private var last: (from: Phase, to: Phase)?
  private var destination = EndpointID(0)

  init(_ range: CellRange) {
    self.range = range
    ordinals = Dictionary(uniqueKeysWithValues: range.words.enumerated().map { ($1, $0) })
    steps = Array(repeating: 0, count: Self.phases * range.words.count)
  }

  static func == (left: Cells, right: Cells) -> Bool {
    left.inputs == right.inputs && left.steps == right.steps && left.changes == right.changes
  }

  /// Cells of which there are none: what stands in for those that are handed over.
  static let none = Cells(CellRange(inputs: [], words: [], phases: []))

  /// A new run begins.
  mutating func begin() {
    last = nil
    destination = EndpointID(0)
  }

  mutating func note(
    _ input: Input, _ disposition: Disposition, at now: Instant, due: Instant?, from: Phase,
    to: Phase
  ) {
    var isElsewhere = false
    if case .connect(let endpoint, _) = input {
      isElsewhere = endpoint != destination
      destination = endpoint
    }
    let word = InputWord(input, disposition, at: now, due: due, isElsewhere: isElsewhere)
    inputs[Int(from.rawValue) + Self.phases * word.rawValue] += 1
    guard from != to else { return }
    if let last {
      changes[
        (Int(last.from.rawValue) * Self.phases + Int(from.rawValue)) * Self.phases
          + Int(to.rawValue)] += 1
    }
    last = (from, to)
  }

  /// A step of the story comes.
  mutating func note(_ word: String, in phase: Phase) {
    guard let ordinal = ordinals[word] else { return }
    steps[Int(phase.rawValue) + Self.phases * ordinal] += 1
  }
}

// MARK: Names

extension Cells {
  /// One thing that can be met.
  enum Cell: Equatable, Sendable {
    case input(InputWord, Phase)
    case step(String, Phase)
    case change(Phase, Phase, Phase)

    var name: String {
      switch self {
      case .input(let word, let phase): "\(word.name) in \(phase)"
      case .step(let word, let phase): "\(word) in \(phase)"
      case .change(let one, let two, let three): "\(one) → \(two) → \(three)"
      }
    }
  }

  /// All cells and how often each was met, in order.
  var all: [(cell: Cell, count: UInt64)] {
    var cells: [(cell: Cell, count: UInt64)] = []
    for word in range.inputs {
      for phase in range.phases {
        let count = inputs[Int(phase.rawValue) + Self.phases * word.rawValue]
        cells.append((.input(word, phase), count))
      }
    }
    for (place, word) in range.words.enumerated() {
      for phase in range.phases {
        cells.append((.step(word, phase), steps[Int(phase.rawValue) + Self.phases * place]))
      }
    }
    for (place, count) in changes.enumerated() {
      let places = [place / Self.phases / Self.phases, place / Self.phases, place]
      let phases = places.map { Phase.allCases[$0 % Self.phases] }
      guard phases.allSatisfy(range.phases.contains) else { continue }
      cells.append((.change(phases[0], phases[1], phases[2]), count))
    }
    return cells
  }

  /// The cells that were met, by name.
  var met: [String: UInt64] {
    Dictionary(uniqueKeysWithValues: all.filter { $0.count > 0 }.map { ($0.cell.name, $0.count) })
  }
}
