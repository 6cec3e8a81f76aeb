import Foundation
import Testing

@Suite struct ChatExampleTests {
  private static func text(_ path: String) throws -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    return try String(contentsOf: tests.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("The example of Docs/AsyncSimulation.md is shown as it compiles")
  func shown() throws {
    let source = try Self.text("ChatExample.swift")
    let start = try #require(source.range(of: "import ConnectionFSM"))
    let end = try #require(source.range(of: "// end"))
    let example = source[start.lowerBound..<end.lowerBound]
    #expect(try Self.text("../../Docs/AsyncSimulation.md").contains("```swift\n\(example)```"))
  }
}
