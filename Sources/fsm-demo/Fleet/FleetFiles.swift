import ConnectionFSM
import Foundation
import NetSim

/// A comparison of fleets for programs.
enum FleetFiles {
  private static let measures = FleetMeasure.all + FleetMeasure.more

  /// A line a policy and seed, times in seconds; empty where clients never came back.
  static func csv(_ rows: [FleetRow], seeds: ClosedRange<UInt64>) -> String {
    var lines = ["policy,seed," + measures.map(\.name).joined(separator: ",")]
    for row in rows {
      for (seed, report) in zip(seeds, row.reports) {
        let values = measures.map { $0.value(report).map { "\($0)" } ?? "" }
        lines.append("\(quoted(row.name)),\(seed)," + values.joined(separator: ","))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// RFC 4180 section 2: a field with a comma, a quote or a line break stands in quotes.
  private static func quoted(_ name: String) -> String {
    guard name.contains(where: { ",\"\n\r".contains($0) }) else { return name }
    return "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  private struct Comparison: Encodable {
    let title: String
    let facts: [String]
    let policies: [Row]
  }

  private struct Row: Encodable {
    let policy: String
    let runs: [Run]
  }

  private struct Run: Encodable {
    let seed: UInt64
    let measures: [String: Double]
    /// Of each 100 ms.
    let dials: [UInt32]
    let connected: [UInt32]
    let queue: [UInt32]
  }

  /// All that was measured, and the series of every run.
  static func json(_ plan: FleetPlan, _ rows: [FleetRow], seeds: ClosedRange<UInt64>) -> String {
    let comparison = Comparison(
      title: plan.title, facts: plan.facts,
      policies: rows.map { row in
        Row(
          policy: row.name,
          runs: zip(seeds, row.reports).map { seed, report in
            let values = measures.compactMap { measure in
              measure.value(report).map { (measure.name, $0) }
            }
            return Run(
              seed: seed, measures: Dictionary(uniqueKeysWithValues: values),
              dials: report.series.map(\.dials), connected: report.series.map(\.connected),
              queue: report.series.map(\.queue))
          })
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // Text and finite numbers: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(comparison) else {
      preconditionFailure("unencodable comparison")
    }
    return String(decoding: bytes, as: UTF8.self) + "\n"
  }
}
