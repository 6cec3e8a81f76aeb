import Foundation
import Testing

@Suite("Ids")
struct IdsTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// `I2`, `F12`, `B0.4`, `RC031`, as they stand in names and comments.
  private static func ids(in text: String) -> Set<String> {
    let pattern = /\b(I[0-9]{1,2}|F[0-9]{2}|B[0-9]\.[0-9]+|RC[0-9]{3})\b/
    return Set(text.matches(of: pattern).map { String($0.1) })
  }

  private static func sources() -> [URL] {
    ["Sources", "Tests", "Scripts"].flatMap { folder -> [URL] in
      let files = FileManager.default.enumerator(
        at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
      return (files?.allObjects as? [URL] ?? []).filter {
        ["swift", "sh"].contains($0.pathExtension) && $0.lastPathComponent != "IdsTests.swift"
      }
    }
  }

  @Test("every id that a name or a comment mentions is explained in Docs/Ids.md")
  func explained() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("Docs/Ids.md"), encoding: .utf8)
    let sources = Self.sources()
    #expect(sources.count > 100)
    for source in sources {
      for id in Self.ids(in: try String(contentsOf: source, encoding: .utf8)) {
        #expect(page.contains("| \(id) |"), "\(id), in \(source.lastPathComponent)")
      }
    }
  }

  @Test("an id is told from other words")
  func patterns() {
    let found = Self.ids(in: "I2: F12, B0.4 and RC031, but not UTF8, F1 or RC31")
    #expect(found == ["I2", "F12", "B0.4", "RC031"])
  }
}
