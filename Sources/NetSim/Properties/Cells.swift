import ConnectionFSM

/// What stories have met, counted: each input in each phase, each step of a story in each phase,
/// each change of phase after another.
struct Cells: Equatable, Sendable {
  private static let phases = Phase.allCases.count

  private(set) var inputs = [UInt64](repeating: 0, count: phases * InputWord.allCases.count)
  private(set) var steps = [UInt64](repeating: 0, count: phases * StepWord.all.count)
  private(set) var changes = [UInt64](repeating: 0, count: phases * phases * phases)

  // The change before, within the run that goes on.
  private var last: (from: Phase, to: Phase)?
  private var destination = EndpointID(0)

  static func == (left: Cells, right: Cells) -> Bool {
    left.inputs == right.inputs && left.steps == right.steps && left.changes == right.changes
  }

  /// A new run begins.
  mutating func begin() {
    last = nil
    destination = EndpointID(0)
  }

  mutating func note(
    _ input: Input, _ disposition: Disposition, at now: Instant, before: Machine, after: Machine
  ) {
    var isElsewhere = false
    if case .connect(let endpoint, _) = input {
      isElsewhere = endpoint != destination
      destination = endpoint
    }
    let word = InputWord(
      input, disposition, at: now, before: before, isElsewhere: isElsewhere)
    let from = before.phase
    let to = after.phase
    inputs[Int(from.rawValue) + Self.phases * word.rawValue] += 1
    guard from != to else { return }
    if let last {
      changes[
        (Int(last.from.rawValue) * Self.phases + Int(from.rawValue)) * Self.phases
          + Int(to.rawValue)] += 1
    }
    last = (from, to)
  }

  mutating func note(_ action: Action, in phase: Phase) {
    guard let word = StepWord.ordinals[action.ev] else { return }
    steps[Int(phase.rawValue) + Self.phases * word] += 1
  }

  /// Adds what other runs have met.
  mutating func add(_ other: Cells) {
    for place in inputs.indices { inputs[place] += other.inputs[place] }
    for place in steps.indices { steps[place] += other.steps[place] }
    for place in changes.indices { changes[place] += other.changes[place] }
  }
}

/// The steps that stories are drawn from, by the word that a scenario has for them.
enum StepWord {
  static let all = [
    "api.connect", "api.reconnectNow", "api.close", "api.drain", "api.send", "api.replace",
    "api.cancel", "api.demand", "cb.connecting", "cb.open", "cb.closed", "dev.sleep", "dev.wake",
    "dev.foreground", "dev.background", "dev.suspend", "dev.timer", "auth.token", "net.open",
    "net.connect_hang", "net.dns_fail", "net.dns_timeout", "net.http", "net.refuse",
    "net.session", "net.error", "net.rst", "net.fin", "net.server_close", "net.silent_drop",
    "net.msg", "net.pong", "net.ack", "net.blocked", "net.unblocked", "net.viability",
    "net.drain", "net.better_path", "net.path_unknown", "net.path_up", "net.path_down",
    "net.path_change", "net.server_up", "net.server_down", "net.down", "net.hosts",
    "net.latency", "net.loss", "net.heal",
  ]

  static let ordinals = Dictionary(
    uniqueKeysWithValues: all.enumerated().map { ($0.element, $0.offset) })
}

// MARK: Names

extension Cells {
  /// A cell by its name.
  struct Cell: Equatable, Sendable {
    let name: String
    let count: UInt64
  }

  /// All cells, in order.
  var all: [Cell] {
    var cells: [Cell] = []
    for word in InputWord.allCases {
      for phase in Phase.allCases {
        let count = inputs[Int(phase.rawValue) + Self.phases * word.rawValue]
        cells.append(Cell(name: "\(word.name) in \(phase)", count: count))
      }
    }
    for (place, word) in StepWord.all.enumerated() {
      for phase in Phase.allCases {
        let count = steps[Int(phase.rawValue) + Self.phases * place]
        cells.append(Cell(name: "\(word) in \(phase)", count: count))
      }
    }
    for (place, count) in changes.enumerated() {
      let phases = [place / 100, place / 10 % 10, place % 10].map { Phase.allCases[$0] }
      cells.append(Cell(name: phases.map { "\($0)" }.joined(separator: " → "), count: count))
    }
    return cells
  }

  /// The cells that were met, by name.
  var met: [String: UInt64] {
    Dictionary(uniqueKeysWithValues: all.filter { $0.count > 0 }.map { ($0.name, $0.count) })
  }
}
