import ConnectionFSM

/// One table of the coverage: what stories have met of all that there is to meet.
public struct CoverageTable: Sendable {
  /// One thing that there is to meet.
  public struct Cell: Sendable {
    /// What: `late deadline in open`, or three phases, `open → offline → connecting`.
    public let name: String
    /// How often it was met.
    public let count: UInt64
  }

  /// What it is a table of.
  public let name: String
  /// All its cells, in the order of the table.
  public let cells: [Cell]

  /// How many of them were met.
  public var met: Int { cells.count { $0.count > 0 } }
}

extension CheckSummary {
  /// The coverage: each input in each phase, each step of a story in each phase, each change of
  /// phase after another.
  public var coverage: [CoverageTable] {
    let names = Cells().all.map(\.name)
    let inputs = InputWord.allCases.count * Phase.allCases.count
    let steps = StepWord.all.count * Phase.allCases.count
    func table(_ name: String, _ places: Range<Int>) -> CoverageTable {
      CoverageTable(
        name: name, cells: names[places].map { .init(name: $0, count: cells[$0] ?? 0) })
    }
    return [
      table("an input in a phase", 0..<inputs),
      table("a step of a story in a phase", inputs..<inputs + steps),
      table("a change of phase after another", inputs + steps..<names.count),
    ]
  }
}
