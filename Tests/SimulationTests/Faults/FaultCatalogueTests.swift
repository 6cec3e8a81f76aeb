import Foundation
import NetSim
import Testing

@Suite struct FaultCatalogueTests {
  private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  @Test("the catalogue has 45 kinds, each with a number, a name of its own and words")
  func catalogue() {
    #expect(FaultKind.allCases.map(\.number) == Array(1...45))
    #expect(Set(FaultKind.allCases.map(\.name)).count == 45)
    for kind in FaultKind.allCases {
      #expect(kind.name.allSatisfy { $0 == "-" || $0.isLowercase || $0.isNumber })
      #expect(!kind.about.isEmpty && !kind.means.isEmpty && !kind.source.isEmpty)
    }
    #expect(FaultKind.allCases.filter { $0.isLeftOut != nil } == [.wallClockStep])
  }

  @Test("each kind has a test by its number and name, and no test names another one")
  func everyKindIsTested() throws {
    var found: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(
      at: Self.here, includingPropertiesForKeys: nil) where file.pathExtension == "swift"
    {
      let text = try String(contentsOf: file, encoding: .utf8)
      for piece in text.components(separatedBy: "\u{22}fault ").dropFirst() {
        found.insert(String(piece.prefix { $0 != ":" }))
      }
    }
    #expect(found == Set(FaultKind.allCases.map { "\($0.number) \($0.name)" }))
  }

  @Test("the manual's table is the catalogue")
  func manual() throws {
    let manual = Self.here.appendingPathComponent("../../../Docs/Faults.md").standardized
    let rows = try String(contentsOf: manual, encoding: .utf8)
      .split(separator: "\n").filter { $0.first == "|" }.dropFirst(2).map(String.init)
    let expected = FaultKind.allCases.map { kind in
      let means = kind.isLeftOut.map { "Left out: \($0)" } ?? kind.means
      return "| \(kind.number) | \(kind.name) | \(kind.about) | \(means) | \(kind.source) |"
    }
    #expect(rows == expected)
  }
}
