import ConnectionFSM
import Foundation
import NetSim

/// A comparison of fleets for programs.
enum FleetFiles {
  /// A line a policy and seed, times in seconds; empty where clients never came back.
  static func csv(_ rows: [FleetRow], seeds: ClosedRange<UInt64>) -> String {
    var lines = ["policy,seed," + FleetMeasure.all.map(\.name).joined(separator: ",")]
    for row in rows {
      for (seed, run) in zip(seeds, row.runs) {
        let values = FleetMeasure.all.map { run.measures[$0.name].map { "\($0)" } ?? "" }
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
          runs: zip(seeds, row.runs).map { seed, run in
            Run(
              seed: seed, measures: run.measures, dials: run.series.map(\.dials),
              connected: run.series.map(\.connected), queue: run.series.map(\.queue))
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
