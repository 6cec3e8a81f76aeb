import ConnectionFSM
import Foundation

/// Names of cells as few lines: those of one row, and rows that lack the same, stand in one.
package enum CellNames {
  /// The lines; a long one goes on, indented, in the next.
  package static func lines(of names: [String], width: Int) -> [String] {
    var rows: [(row: Row, phases: [String])] = []
    for name in names {
      guard let (row, phase) = Row.split(name) else { continue }
      if rows.last?.row == row {
        rows[rows.count - 1].phases.append(phase)
      } else {
        rows.append((row, [phase]))
      }
    }
    var groups: [(rows: [Row], phases: [String])] = []
    for (row, phases) in rows {
      if let place = groups.firstIndex(where: { $0.rows[0].joins(row) && $0.phases == phases }) {
        groups[place].rows.append(row)
      } else {
        groups.append(([row], phases))
      }
    }
    return groups.flatMap { rows, phases in
      let isAll = phases.count == Phase.allCases.count
      let line =
        rows[0].before + rows.map(\.name).joined(separator: ", ") + rows[0].link
        + (isAll ? "any" : phases.joined(separator: ", "))
      let lines = line.wrapped(to: width - 4)
      return lines.prefix(1) + lines.dropFirst().map { "    " + $0 }
    }
  }

  /// What a name has before its phase: `late deadline` and ` in `, or, behind `open → `, `offline`
  /// and ` → `.
  private struct Row: Equatable {
    let before: String
    let name: String
    let link: String

    func joins(_ other: Row) -> Bool { before == other.before && link == other.link }

    static func split(_ cell: String) -> (Row, phase: String)? {
      let phases = cell.components(separatedBy: " → ")
      if phases.count == 3 {
        return (Row(before: phases[0] + " → ", name: phases[1], link: " → "), phases[2])
      }
      let words = cell.components(separatedBy: " in ")
      guard words.count == 2 else { return nil }
      return (Row(before: "", name: words[0], link: " in "), words[1])
    }
  }
}
