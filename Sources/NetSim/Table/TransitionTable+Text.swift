import ConnectionFSM

// The table for people: inputs that lead to the same stand together, and what changes nothing is
// only named.

extension TransitionTable {
  /// The table as aligned text within 100 columns.
  package var text: String {
    let head = "  input".padded(to: 24) + "  next".padded(to: 24) + "effects [those that may come]"
    let sections = Phase.allCases.map { section(of: $0).joined(separator: "\n") }
    return ([head] + sections).joined(separator: "\n\n")
  }

  private func section(of phase: Phase) -> [String] {
    var lines = ["\(phase)"]
    var quiet: [InputKind] = []
    var ignored: [String: [InputKind]] = [:]
    var groups: [(inputs: [InputKind], outcomes: [Row])] = []
    for kind in InputKind.allCases {
      let rows = rows.filter { $0.phase == phase && $0.input == kind }
      let outcomes = rows.filter { !$0.isIgnored }
      if outcomes.isEmpty, let row = rows.first {
        ignored[row.disposition, default: []].append(kind)
      } else if outcomes.allSatisfy(\.isQuiet) {
        quiet.append(kind)
      } else if let place = groups.firstIndex(where: { $0.outcomes.matches(outcomes) }) {
        groups[place].inputs.append(kind)
      } else {
        groups.append(([kind], outcomes))
      }
    }
    for group in groups { lines += Self.lines(of: group.inputs, group.outcomes) }
    lines += Self.list("noted", quiet)
    for reason in IgnoreReason.allCases {
      lines += Self.list("ignored: \(reason)", ignored["ignored \(reason)", default: []])
    }
    return lines
  }

  /// The inputs on the left, what they may lead to on the right.
  private static func lines(of inputs: [InputKind], _ outcomes: [Row]) -> [String] {
    let left = inputs.map(\.rawValue)
    var lines: [String] = []
    for place in 0..<max(left.count, outcomes.count) {
      let input = place < left.count ? left[place] + (place + 1 < left.count ? "," : "") : ""
      let right = place < outcomes.count ? outcomes[place].words : ""
      lines.append(("  " + input).padded(to: 24) + right)
    }
    return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
  }

  private static func list(_ title: String, _ inputs: [InputKind]) -> [String] {
    guard !inputs.isEmpty else { return [] }
    var lines = [("  (" + title + ")").padded(to: 25)]
    for (place, input) in inputs.enumerated() {
      let word = input.rawValue + (place + 1 < inputs.count ? ", " : "")
      if lines[lines.count - 1].count + word.count > 98 { lines.append("".padded(to: 25)) }
      lines[lines.count - 1] += word
    }
    return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
  }
}

extension TransitionTable.Row {
  /// Whether the machine only remembers it.
  fileprivate var isQuiet: Bool {
    next == phase && effects.isEmpty && sometimes.isEmpty && disposition == "accepted"
  }

  /// `→ backingOff  abort, ended [settle inDoubt]`
  fileprivate var words: String {
    var words = (next == phase ? "  stays" : "→ \(next)").padded(to: 24)
    if disposition != "accepted" { words += disposition + (effects.isEmpty ? " " : ", ") }
    words += Self.list(effects)
    if !sometimes.isEmpty {
      words += (words.last == " " ? "" : " ") + "[\(Self.list(sometimes))]"
    }
    return words
  }

  /// `ended, settle expired/inDoubt`
  private static func list(_ effects: [String]) -> String {
    var words: [String] = []
    for effect in effects {
      let isNext = effect.hasPrefix("settle ") && words.last?.hasPrefix("settle ") == true
      if isNext {
        words[words.count - 1] += "/" + effect.dropFirst(7)
      } else {
        words.append(effect)
      }
    }
    return words.joined(separator: ", ")
  }
}

extension [TransitionTable.Row] {
  fileprivate func matches(_ other: [TransitionTable.Row]) -> Bool {
    map(\.words) == other.map(\.words)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }
}
