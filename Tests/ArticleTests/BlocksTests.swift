import Foundation
import Testing

/// The code of the documents, and the compiled code that it must be found in.
private enum Blocks {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func files(in folder: String, ending: String) throws -> [URL] {
    let walk = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil)
    return (walk?.allObjects as? [URL] ?? []).filter { $0.pathExtension == ending }
      .sorted { $0.path < $1.path }
  }

  static func lines(of file: URL) throws -> [Substring] {
    try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Every page with code that its readers are to copy.
  static func pages() throws -> [URL] {
    [root.appending(path: "README.md")] + (try files(in: "Docs", ending: "md"))
      + (try files(in: "Sources", ending: "md"))
  }

  /// The Swift blocks of a page, by the line at which they begin.
  static func blocks(of page: URL) throws -> [(line: Int, code: [Substring])] {
    var blocks: [(line: Int, code: [Substring])] = []
    var isOpen = false
    for (index, line) in try lines(of: page).enumerated() {
      if !isOpen, line == "```swift" {
        isOpen = true
        blocks.append((index + 1, []))
      } else if isOpen, line == "```" {
        isOpen = false
      } else if isOpen {
        blocks[blocks.count - 1].code.append(line)
      }
    }
    return blocks
  }

  /// Whether the code stands in the lines, all of it as far in as its first line.
  static func contain(_ lines: [Substring], _ code: [Substring], at start: Int) -> Bool {
    guard let first = code.first, start + code.count <= lines.count else { return false }
    let margin = lines[start].prefix { $0 == " " }.count - first.prefix { $0 == " " }.count
    guard margin >= 0 else { return false }
    return code.indices.allSatisfy { index in
      let line = lines[start + index]
      return code[index].isEmpty
        ? line.isEmpty : line == String(repeating: " ", count: margin) + code[index]
    }
  }
}

@Suite("The code of the documents")
struct BlocksTests {
  @Test("is, word for word, code that is compiled with the tests")
  func compiled() throws {
    var places: [Substring: [(file: Int, line: Int)]] = [:]
    let sources = try Blocks.files(in: "Tests", ending: "swift").map(Blocks.lines)
    for (file, lines) in sources.enumerated() {
      for (line, text) in lines.enumerated() where !text.isEmpty {
        places[text.drop { $0 == " " }, default: []].append((file, line))
      }
    }
    var count = 0
    for page in try Blocks.pages() {
      for (line, code) in try Blocks.blocks(of: page) {
        count += 1
        let first = try #require(code.first, "\(page.lastPathComponent):\(line) is empty")
        let candidates = places[first.drop { $0 == " " }, default: []]
        let isCompiled = candidates.contains {
          Blocks.contain(sources[$0.file], code, at: $0.line)
        }
        #expect(isCompiled, "\(page.lastPathComponent):\(line) is not in the tests")
      }
    }
    #expect(count > 30)
  }

  @Test("a block is found where it is further in, and not where a word differs")
  func search() {
    let lines: [Substring] = ["func a() {", "  one()", "", "    two()", "  three()", "}"]
    #expect(Blocks.contain(lines, ["one()", "", "  two()"], at: 1))
    #expect(!Blocks.contain(lines, ["one()", "", "two()"], at: 1))
    #expect(!Blocks.contain(lines, ["three()", "}"], at: 4))
    #expect(!Blocks.contain(lines, ["}", ""], at: 5))
  }
}
