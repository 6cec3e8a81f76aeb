import Foundation
import Testing

/// Figures that independent programs computed, by row and by the name of the column.
struct ReferenceTable {
  private let names: [String]
  private let rows: [[String]]

  init(_ name: String) throws {
    let file = try #require(
      Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "csv"))
    var lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    names = lines.removeFirst()
    rows = lines
  }

  /// The row that begins with these fields; an empty field has no figure.
  func row(_ key: String...) throws -> [String: Double] {
    let row = try #require(rows.first { $0.starts(with: key) }, "no row \(key)")
    return Dictionary(
      uniqueKeysWithValues: zip(names, row).compactMap { name, field in
        Double(field).map { (name, $0) }
      })
  }
}

/// Mean and spread of some figures.
struct Sample {
  let mean: Double
  let standardError: Double

  init(_ values: [Double]) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    self.mean = mean
    standardError = (squares / (count - 1) / count).squareRoot()
  }
}

/// How thoroughly the references are compared: a part in debug, every cell in release, and with
/// `HERD=full` in the environment as many runs of each as the reference had. Then a line for each
/// table tells the worst deviation.
enum Thoroughness {
  static let isFull = ProcessInfo.processInfo.environment["HERD"] == "full"

  static func report(_ table: String, worst: Double, unit: String, of cells: Int) {
    guard isFull else { return }
    let name = table.padding(toLength: 44, withPad: " ", startingAt: 0)
    print("herd: \(name) \(cells) figures, worst \(String(format: "%.2f", worst)) \(unit)")
  }
}
