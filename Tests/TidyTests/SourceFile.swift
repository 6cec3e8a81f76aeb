import Foundation

/// A text file of the repository, by lines; of Swift also what is code and what is comment.
struct SourceFile {
  /// From the root of the repository.
  let path: String
  let lines: [String]
  /// The lines with comments and the insides of strings blanked out.
  let code: [String]
  /// The lines with everything but comments blanked out.
  let comments: [String]
  let endsInNewline: Bool

  init(path: String, text: String) {
    self.path = path
    endsInNewline = text.isEmpty || text.hasSuffix("\n")
    lines = Self.split(text)
    if path.hasSuffix(".swift") {
      var scanner = Scanner(text)
      scanner.scan()
      code = Self.split(String(decoding: scanner.code, as: UTF8.self))
      comments = Self.split(String(decoding: scanner.comments, as: UTF8.self))
    } else {
      code = lines
      comments = lines
    }
  }

  private static func split(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  func isUnder(_ folders: String...) -> Bool { folders.contains { path.hasPrefix($0 + "/") } }
}

/// The files that the rules are about.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let folders = [
    ".ci", ".github", "Benchmarks", "Conformance", "Examples", "Fuzzing", "Scripts", "Sources",
    "Tests",
  ]
  private static let endings: Set<String> = [
    "c", "h", "json", "jsonl", "md", "modulemap", "sh", "swift", "txt", "yml",
  ]

  static func files() throws -> [SourceFile] {
    var urls = try FileManager.default.contentsOfDirectory(
      at: root, includingPropertiesForKeys: nil)
    for folder in folders {
      let found = FileManager.default.enumerator(
        at: root.appending(path: folder), includingPropertiesForKeys: nil)
      while let url = found?.nextObject() as? URL { urls.append(url) }
    }
    return try urls.filter(isText).sorted { $0.path < $1.path }.map { url in
      let path = String(url.standardizedFileURL.path.dropFirst(root.path.count + 1))
      return SourceFile(path: path, text: try String(contentsOf: url, encoding: .utf8))
    }
  }

  private static func isText(_ url: URL) -> Bool {
    endings.contains(url.pathExtension)
      || url.deletingLastPathComponent().lastPathComponent == ".ci"
  }
}
