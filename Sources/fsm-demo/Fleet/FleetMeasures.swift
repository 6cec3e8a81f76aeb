import ConnectionFSM
import Foundation
import NetSim

/// One figure of a report, as files and the table name it.
struct FleetMeasure: Sendable {
  /// Its name in files.
  let name: String
  /// The head of its column.
  let head: String
  let decimals: Int
  /// Nil where there is none: so many clients never came back.
  let value: @Sendable (FleetReport) -> Double?

  /// All that there are: those of the table, then the others.
  static let all = table + more

  static let table = [
    FleetMeasure("attempts", "dials", 2) { $0.attempts },
    FleetMeasure("refused", "refused", 0) { Double($0.refused) },
    FleetMeasure("dropped", "dropped", 0) { Double($0.dropped) },
    FleetMeasure("shed", "shed", 0) { Double($0.shed) },
    FleetMeasure("wasted", "wasted", 0) { Double($0.wasted) },
    FleetMeasure("peak", "peak", 0) { Double($0.peak) },
    FleetMeasure("t50", "50 %", 1) { seconds($0, 50) },
    FleetMeasure("t95", "95 %", 1) { seconds($0, 95) },
    FleetMeasure("t99", "99 %", 1) { seconds($0, 99) },
    FleetMeasure("last", "all", 1) { seconds($0, 100) },
    FleetMeasure("goodput", "goodput", 2) { $0.goodput },
    FleetMeasure("radio_wake_ups_per_hour", "radio/h", 0) { $0.radioWakeUpsPerHour },
  ]

  /// What stands in files alone.
  private static let more = [
    FleetMeasure("clients", "", 0) { Double($0.clients) },
    FleetMeasure("connected", "", 0) { Double($0.connected) },
    FleetMeasure("dials", "", 0) { Double($0.dials) },
    FleetMeasure("served", "", 0) { Double($0.served) },
    FleetMeasure("waiting_s", "", 1) { $0.waiting },
    FleetMeasure("dialling_s", "", 1) { $0.dialling },
    FleetMeasure("open_s", "", 1) { $0.open },
    FleetMeasure("duration_s", "", 3) { Double($0.duration.nanoseconds) / 1e9 },
  ]

  init(
    _ name: String, _ head: String, _ decimals: Int,
    _ value: @escaping @Sendable (FleetReport) -> Double?
  ) {
    self.name = name
    self.head = head
    self.decimals = decimals
    self.value = value
  }

  private static func seconds(_ report: FleetReport, _ percent: Int) -> Double? {
    report.time(percent: percent).map { Double($0.nanoseconds) / 1e9 }
  }

  /// The mean over the seeds; `never` where some seed has none.
  func mean(_ runs: [FleetRun]) -> String {
    let values = runs.compactMap { $0.measures[name] }
    guard values.count == runs.count else { return "never" }
    return shown(values.reduce(0, +) / Double(values.count))
  }

  /// The standard deviation over the seeds; empty where there is none.
  func deviation(_ runs: [FleetRun]) -> String {
    let values = runs.compactMap { $0.measures[name] }
    guard values.count == runs.count, values.count > 1 else { return "" }
    let mean = values.reduce(0, +) / Double(values.count)
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return "±" + shown((squares / Double(values.count - 1)).squareRoot())
  }

  private func shown(_ value: Double) -> String {
    decimals == 0 ? Int(value.rounded()).grouped : String(format: "%.\(decimals)f", value)
  }
}

/// The table of a comparison: a row a policy.
struct FleetTable {
  let columns: [String]
  /// The means.
  let cells: [[String]]
  /// The standard deviations, row by row; none with one seed.
  let deviations: [[String]]

  init(_ rows: [FleetRow], shedding: Bool) {
    let measures = FleetMeasure.table.filter { shedding || $0.name != "shed" }
    columns = ["policy"] + measures.map(\.head)
    cells = rows.map { row in [row.name] + measures.map { $0.mean(row.runs) } }
    let isOne = rows.allSatisfy { $0.runs.count == 1 }
    deviations =
      isOne ? [] : rows.map { row in [""] + measures.map { $0.deviation(row.runs) } }
  }

  func text(_ paint: Paint) -> String {
    let all = [columns] + cells + deviations
    let widths = columns.indices.map { place in all.map { $0[place].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).enumerated().map { place, cell in
        place == 0 ? cell.0.padded(to: cell.1) : cell.0.padded(left: cell.1)
      }.joined(separator: "  ")
    }
    var lines = [paint.title(line(columns))]
    for place in cells.indices {
      lines.append(line(cells[place]))
      if !deviations.isEmpty { lines.append(paint.faint(line(deviations[place]))) }
    }
    return lines.joined(separator: "\n")
  }
}
