import Foundation
import Testing

@Suite("fsm-demo replay")
struct ReplayCommandTests {
  /// Runs `replay` on a file with this text.
  private func replay(_ text: String) throws -> Demo.Outcome {
    try Demo.withFile(text) { try Demo.run("replay", $0) }
  }

  private func trace() throws -> [Substring] {
    try Demo.run("simulate", "--scenario", "dead-peer", "--seed", "3", "--format", "jsonl").output
      .split(separator: "\n")
  }

  /// All that `simulate --scenario` takes: what it answers to a name that is none.
  private static let scenarios: [String] = {
    let answer = (try? Demo.run("simulate", "--scenario", "?").errors) ?? ""
    let names = answer.firstRange(of: "there are ").map { answer[$0.upperBound...] } ?? ""
    return names.split { ", \n".contains($0) }.map(String.init)
  }()

  @Test("the list of scenarios is whole")
  func list() {
    #expect(Self.scenarios.count > 45)
    #expect(Self.scenarios.contains("tour") && Self.scenarios.contains("commuter"))
  }

  @Test(
    "every built-in story and condition replays without a difference, with any seed",
    arguments: scenarios)
  func builtIn(name: String) throws {
    let run = try Demo.run("simulate", "--scenario", name, "--seed", "11", "--format", "jsonl")
    let steps = run.output.split(separator: "\n").count - 1
    let replay = try replay(run.output)
    #expect(replay.status == 0, "\(replay.errors)")
    #expect(
      replay.output.hasPrefix("Replayed without a difference: \(steps) step"), "\(replay.output)")
  }

  @Test("what was recorded over a real socket, a loss and a new link in it, replays")
  func socket() throws {
    let server = try Demo(["serve", "tcp://127.0.0.1:0", "--reset-after", "2"])
    defer { server.end() }
    let endpoint = String(try #require(server.firstLine().split(separator: " ").first))
    let arguments = ["connect", endpoint, "--format", "jsonl"]
    let recorded = try Demo(arguments, input: "one\ntwo\nthree\n").finish()
    #expect(recorded.status == 0)
    let replay = try replay(recorded.output)
    #expect(replay.status == 0, "\(replay.errors)")
    #expect(replay.output.hasSuffix("Messages: 3 acknowledged.\n"), "\(replay.output)")

    // The same recording, as an end at any byte of its last line would leave it.
    let cut = try self.replay(String(recorded.output.dropLast(20)))
    #expect(cut.status == 65)
    let steps = recorded.output.split(separator: "\n").count - 2
    #expect(cut.output.hasPrefix("Replayed without a difference: \(steps) steps"))
    #expect(cut.errors.contains("line \(steps + 2): is cut off: the recording ended while it was"))
  }

  @Test("the first difference is named by its line, its time and its fields, after what led there")
  func difference() throws {
    var lines = try trace()
    lines[0].replace("\"seed\":3", with: "\"seed\":4")
    lines[0].replace("\"package\":\"", with: "\"package\":\"0.0.9, not ")
    let run = try Demo.withFile(lines.joined(separator: "\n")) { path in
      let run = try Demo.run("replay", path)
      #expect(run.errors.hasPrefix("fsm-demo: \(path): line 8: step 7, at 75.000 s, differs from"))
      return run
    }
    #expect(run.status == 1)
    #expect(run.errors.contains("it was recorded by version 0.0.9, not "))
    let output = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(output[0].hasPrefix("step      time  input"))
    #expect(output[1...6].map { $0.prefix(4) } == (2...7).map { "   \($0)" })
    #expect(output[7].isEmpty)
    #expect(output[8].hasPrefix("nextDeadline  recorded  75.56"))
    #expect(output[9].hasPrefix("              replayed  "))
    #expect(output[10].hasPrefix("until         recorded  75.56"))
  }

  @Test("a damaged trace ends with 65, names the line, and tells what could be replayed")
  func damaged() throws {
    let lines = try trace()
    let damages: [(line: Int, to: String?, problem: String)] = [
      (5, nil, "line 5: is step 5 where step 4 must be: lines are missing or changed"),
      (5, "", "line 5: is no JSON"), (5, "{\"sequence\": 4}", "line 5: the key “"),
      (
        5, String(lines[4]).replacingOccurrences(of: "#1 ", with: "#1 x"),
        "line 5: input: “#1 xpong 1”: no event of a transport begins with “xpong”"
      ),
      (
        5, String(lines[4]).replacingOccurrences(of: "#1 ", with: "\\u001B[2J"),
        #"line 5: input: “\u{1B}[2Jpong 1”: no input begins with “”"#
      ),
      (5, String(repeating: "x", count: 17 << 20), "line 5: is above 16 MiB, and no step"),
    ]
    for damage in damages {
      var damaged = lines.map(String.init)
      damaged.replaceSubrange(damage.line - 1..<damage.line, with: damage.to.map { [$0] } ?? [])
      let run = try replay(damaged.joined(separator: "\n") + "\n")
      #expect(run.status == 65)
      #expect(run.errors.contains(damage.problem), "\(run.errors)")
      #expect(run.output.hasPrefix("Replayed without a difference: 3 steps"))
    }
  }

  @Test(
    "a file that is no trace ends with 65 and says why",
    arguments: [
      ("", "is empty, and no trace"), ("\n", "is no trace: line 1 must be the header"),
      (#"{"format": 9}"#, "line 1: format: this release reads format 1 only"),
      (#"{"format": 1}"#, "line 1: the key “"),
      (
        #"{"format": 1, "package": "1", "policy": {"closeDedline": 1}, "seed": 1}"#,
        "line 1: policy: unknown key “closeDedline”"
      ),
      (
        #"{"format": 1, "package": "1", "policy": {}, "seed": 1}"#, "has a header and no step"
      ),
    ])
  func noTrace(text: String, problem: String) throws {
    let run = try replay(text)
    #expect(run.status == 65)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(problem), "\(run.errors)")
  }

  @Test("a later part of a recording is refused, with the reason and the mend")
  func part() throws {
    var lines = try trace()
    lines.removeSubrange(1...4)
    let run = try replay(lines.joined(separator: "\n"))
    #expect(run.status == 65)
    #expect(run.errors.contains("line 2: begins with step 5, and its header does not say"))
    #expect(run.errors.contains("join the parts of the recording before this one with it"))
  }

  @Test("a file that never ends is refused by its first line")
  func endless() throws {
    let run = try Demo.run("replay", "/dev/zero")
    #expect(run.status == 65)
    #expect(run.errors.contains("/dev/zero: is no trace"))
  }
}
