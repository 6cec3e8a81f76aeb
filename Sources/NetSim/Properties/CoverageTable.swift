import ConnectionFSM

/// One table of the coverage: what stories have met of all that there is to meet.
public struct CoverageTable: Sendable {
  /// One thing that there is to meet.
  public struct Cell: Sendable {
    /// What: `late deadline in open`, or three phases, `open → offline → connecting`.
    public let name: String
    /// How often it was met.
    public let count: UInt64
    /// Why no story can meet it; nil if one can.
    public let reason: String?
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
  /// phase after another. None for a profile that this release does not know.
  public var coverage: [CoverageTable] {
    guard let range = CellRange.named(profile) else { return [] }
    let all = Cells(range).all.map(\.cell)
    func table(_ name: String, _ isIn: (Cells.Cell) -> Bool) -> CoverageTable {
      CoverageTable(
        name: name,
        cells: all.filter(isIn).map {
          .init(
            name: $0.name, count: cells[$0.name] ?? 0,
            reason: $0.reason(overBytes: profile != CheckProfile.machine.name))
        })
    }
    return [
      table("an input in a phase") { if case .input = $0 { true } else { false } },
      table("a step of a story in a phase") { if case .step = $0 { true } else { false } },
      table("a change of phase after another") { if case .change = $0 { true } else { false } },
    ]
  }
}
