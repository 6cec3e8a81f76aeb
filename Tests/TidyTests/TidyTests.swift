import Testing

@Suite("The repository keeps its own limits")
struct TidyTests {
  private static let files = Result { try Repository.files() }

  @Test("every file keeps the rule", arguments: Rule.all)
  func filesKeepRule(_ rule: Rule) throws {
    for file in try Self.files.get() where rule.appliesTo(file) {
      for line in rule.breaches(file) {
        Issue.record("\(file.path):\(line): \(rule)")
      }
    }
  }

  @Test("the core has fewer than 3,000 lines of code, blank lines and comments not counted")
  func coreIsSmall() throws {
    var count = 0
    for file in try Self.files.get() where file.isUnder("Sources/ConnectionFSM/Core") {
      count += file.lines.count { line in
        let text = line.drop { $0 == " " }
        return !text.isEmpty && !text.hasPrefix("//")
      }
    }
    #expect(count > 1000 && count < 3000, "\(count) lines")
  }

  @Test("the search finds this file, the core and the scripts")
  func searchFindsFiles() throws {
    let paths = try Self.files.get().map(\.path)
    #expect(paths.contains("Tests/TidyTests/TidyTests.swift"))
    #expect(paths.contains("Sources/ConnectionFSM/Core/Machine/Machine.swift"))
    #expect(paths.contains("Scripts/lint.sh"))
    #expect(paths.contains(".ci/run"))
    #expect(paths.contains("Package.swift"))
  }
}

/// A rule, and a sample that breaks it in just these lines.
private struct Bite: Sendable, CustomStringConvertible {
  let rule: Rule
  let path: String
  let text: String
  let lines: [Int]

  var description: String { rule.description }

  init(_ rule: Rule, in path: String, _ text: String, breaks lines: [Int]) {
    self.rule = rule
    self.path = path
    self.text = text
    self.lines = lines
  }
}

private func blanks(_ count: Int) -> String { String(repeating: "\n", count: count) }

private let core = "Sources/ConnectionFSM/Core/Machine/Sample.swift"

private let bites = [
  Bite(
    .lineLength, in: core,
    String(repeating: "─", count: 100) + "\n" + String(repeating: "─", count: 101) + "\n",
    breaks: [2]),
  Bite(
    .functionLength, in: core,
    "func short() {\(blanks(69))}\n" + "struct S {\n" + "  func long(\n"
      + "    done: () -> Void = {}\n"
      + "  ) {\(blanks(68))  }\n" + "}\n",
    breaks: [72]),
  Bite(
    .functionLength, in: core,
    "extension S {\n" + "  var total: Int {\(blanks(70))}\n" + "  init() {\(blanks(70))}\n" + "}\n",
    breaks: [2, 73]),
  Bite(.sourceLength, in: core, blanks(400), breaks: []),
  Bite(.sourceLength, in: core, blanks(401), breaks: [401]),
  Bite(.testLength, in: "Tests/A/B.swift", blanks(600), breaks: []),
  Bite(.testLength, in: "Tests/A/B.swift", blanks(601), breaks: [601]),
  Bite(
    .coreImports, in: core,
    "// import A\n" + "internal import A\n" + "@_exported import B\n" + "let important = 1\n",
    breaks: [2, 3]),
  Bite(
    .coreDefaults, in: core,
    "switch state {\n" + "case .open: break  // default: none\n" + "@unknown default: break\n"
      + "default: break\n" + "}\n",
    breaks: [3, 4]),
  Bite(
    .systemTimeAndDice, in: "Sources/NetSim/Sample.swift",
    "let a = Int.random(in: 0..<2)\n" + "let b = Date()\n" + "let c = ContinuousClock()\n"
      + "try await Task.sleep(for: .zero)\n" + "import Foundation\n" + "/// Not a Date().\n"
      + "let update = pick.randomly(upToDate(x))\n",
    breaks: [1, 2, 3, 4, 5]),
  Bite(
    .unprovedUnwraps, in: "Sources/Transports/Sample.swift",
    "let a = b!\n" + "let c = try! d()\n" + "let e = f()!  // f was asked before\n"
      + "if a != b, !c { print(\"d!\") }\n" + "print(\"\\(g[0]!)\")\n" + "let h = i as! J\n",
    breaks: [1, 2, 5, 6]),
  Bite(
    .unfinishedWork, in: core,
    "let word = \"TODO\"\n" + "let a = 1  // TODO\n" + "/* /* one */ FIXME */ let b = 2\n",
    breaks: [2, 3]),
  Bite(
    .simulatorArrow, in: "Sources/NetSim/Sample.swift",
    "import ConnectionFSM\n" + "import Transports\n" + "// import Transports\n", breaks: [2]),
  Bite(
    .transportsArrow, in: "Sources/Transports/Sample.swift",
    "import ConnectionFSM\n" + "internal import NetSim\n", breaks: [2]),
  Bite(
    .libraryArrow, in: "Sources/ConnectionFSM/Runtime/Sample.swift",
    "import Synchronization\n" + "import struct NetSim.Link\n" + "import Transports\n",
    breaks: [2, 3]),
  Bite(.lastNewline, in: "README.md", "one\ntwo", breaks: [2]),
]

@Suite("The rules bite")
struct RuleTests {
  @Test("a rule finds the breaches of a sample, and nothing else", arguments: bites)
  private func ruleBites(_ bite: Bite) {
    let file = SourceFile(path: bite.path, text: bite.text)
    #expect(bite.rule.appliesTo(file))
    #expect(bite.rule.breaches(file) == bite.lines)
  }

  @Test("every rule has a sample that breaks it")
  func everyRuleIsShownToBite() {
    let shown = Set(bites.filter { !$0.lines.isEmpty }.map(\.rule.description))
    #expect(Rule.all.filter { !shown.contains($0.description) }.map(\.description) == [])
  }

  @Test("a rule leaves alone the files it is not about")
  func rulesKnowTheirPlace() {
    let queue = SourceFile(path: "Sources/ConnectionFSM/Core/Queue/Sample.swift", text: "")
    #expect(!Rule.coreDefaults.appliesTo(queue))
    let runtime = SourceFile(path: "Sources/ConnectionFSM/Runtime/Sample.swift", text: "")
    #expect(!Rule.coreImports.appliesTo(runtime))
    #expect(!Rule.systemTimeAndDice.appliesTo(runtime))
    let test = SourceFile(path: "Tests/A/Sample.swift", text: "")
    #expect(!Rule.unprovedUnwraps.appliesTo(test))
    #expect(!Rule.sourceLength.appliesTo(test))
  }
}

@Suite("The scanner tells code from comments and strings")
struct ScannerTests {
  @Test(
    "the insides of strings and comments are no code",
    arguments: [
      ("a // b", "a"),
      ("a /* b /* c */ d */ e", "a e"),
      (#"a "b // c" d"#, #"a " " d"#),
      (#"a "b \" c" d"#, #"a " " d"#),
      (#"a "\(b ? "c" : (d))" e"#, #"a " b ? " " : (d) " e"#),
      ("a #\"b \" c\"# d", "a #\" \"# d"),
      ("a #\"b \\(c) \\#(d)\"# e", "a #\" d \"# e"),
      ("a \"\"\"\nb \"c\" // d\n\"\"\" e", "a \"\"\" \"\"\" e"),
      ("/b\"c/\nd", "/b\" d"),
    ])
  func codeOnly(_ text: String, _ code: String) {
    let lines = SourceFile(path: "a.swift", text: text).code
    // Blanked places are spaces; how many is of no interest here.
    let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(words == code.split(separator: " ").joined(separator: " "))
  }

  @Test("comments keep their lines, line and block alike")
  func commentsOnly() {
    let file = SourceFile(path: "a.swift", text: "a // b\nc\n/* d\ne */ f\n")
    let comments = file.comments.map { $0.split(separator: " ").joined(separator: " ") }
    #expect(comments == ["// b", "", "/* d", "e */"])
  }
}
