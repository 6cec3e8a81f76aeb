import Foundation
import Testing

@Suite("fsm-demo, run as a user runs it")
struct DemoTests {
  @Test("without a word it tells a whole life and what to try next")
  func tour() throws {
    let run = try Demo.run()
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(run.output.contains("backingOff"))
    #expect(run.output.contains("fsm-demo --seed 5"))
    #expect(!run.output.contains("\u{1B}"), "colour is for terminals only")
  }

  @Test("the same seed gives the same bytes, another seed others")
  func seeds() throws {
    let first = try Demo.run("--seed", "7", "--format", "jsonl")
    #expect(try Demo.run("--format=jsonl", "--seed=7").output == first.output)
    #expect(try Demo.run("--seed", "8", "--format", "jsonl").output != first.output)
  }

  @Test("JSON Lines are a header and one object a step, and nothing else")
  func jsonLines() throws {
    let lines = try Demo.run("--format", "jsonl").output.split(separator: "\n")
    let objects = try lines.map { line in
      try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
    #expect(objects.first?["format"] as? Int == 1)
    #expect(objects.dropFirst().map { $0["sequence"] as? Int } == Array(1..<objects.count))
  }

  @Test(
    "a command line that makes no sense ends with 64 and points to the page that helps",
    arguments: [
      (["simulate"], "name a scenario file, or --scenario NAME"),
      (["simulate", "a", "b"], "“b” is one word too many"),
      (["simulate", "a", "--scenario", "tour"], "not both"),
      (["--seed"], "--seed needs a value"),
      (["--seed", "-1"], "--seed “-1” is no whole number"),
      (["--seed", "1", "--seed", "2"], "--seed is given twice"),
      (["--format", "xml"], "there are text, jsonl, sequence, chrome, html, pcapng"),
      (["--colour"], "there is no option “--colour”"),
      (["connect"], "name an endpoint"),
      (["connect", "tcp://h"], "names no port"),
      (["connect", "ftp://h:1"], "there is no “ftp” here"),
      (["connect", "tcp://h:1", "--lane", "x"], "there are at-most-once, at-least-once"),
      (["serve", "tcp://127.0.0.1:0", "--mute", "--refuse"], "one way to misbehave"),
      (["serve", "tcp://127.0.0.1:0", "--slow", "0"], "--slow “0” is no whole number"),
      (["bench", "--clients", "0"], "--clients “0” is no whole number"),
      (["why", "a"], "name a trace and the number of a step"),
      (["why", "a", "0"], "“0” is no number of a step"),
      (["why", "a", "1", "2"], "“2” is one word too many"),
      (["replay"], "name a trace"),
      (["table", "--format", "x"], "there are text, mermaid, dot, markdown"),
    ])
  func usage(arguments: [String], problem: String) throws {
    let run = try Demo(arguments).finish()
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(problem))
    #expect(run.errors.contains("try “fsm-demo help"))
  }

  @Test("an unknown command or scenario is answered with those there are")
  func unknownNames() throws {
    let command = try Demo.run("simulte")
    #expect(command.status == 64)
    #expect(command.errors.contains("simulate"))
    let scenario = try Demo.run("simulate", "--scenario", "x")
    #expect(scenario.status == 64)
    #expect(scenario.errors.contains("dead-peer"))
  }

  @Test("there is help for the tool and for every command, and a version")
  func help() throws {
    let page = try Demo.run("help").output
    for name in [
      "tour", "scenarios", "simulate", "serve", "connect", "table", "why", "replay", "fork",
      "bench",
    ] {
      #expect(page.contains("  \(name) "))
      let own = try Demo.run("help", name)
      #expect(own.status == 0)
      #expect(own.output.hasPrefix("Usage: fsm-demo "))
      #expect(try Demo.run(name, "--help").output == own.output)
    }
    #expect(try Demo.run("--help").output == page)
    #expect(try Demo.run("--version").output.hasPrefix("fsm-demo "))
  }

  @Test("the printed file of a built-in scenario runs as a file")
  func scenarioFile() throws {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appendingPathComponent("fsm-demo-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let text = try Demo.run("scenarios", "dead-peer").output
    try text.write(to: file, atomically: true, encoding: .utf8)
    let run = try Demo.run("simulate", file.path)
    #expect(run.status == 0)
    #expect(try Demo.run("simulate", "--scenario", "dead-peer").output == run.output)

    // One expectation turned round: the failure names file and step, and the trace stays readable.
    try text.replacingOccurrences(of: "\"arg\": \"backingOff\"", with: "\"arg\": \"offline\"")
      .write(to: file, atomically: true, encoding: .utf8)
    let failed = try Demo.run("simulate", file.path)
    #expect(failed.status == 1)
    #expect(failed.output.contains("timedOut(pong)"))
    #expect(failed.errors.contains("\(file.path): step 6: expect.state"))
    #expect(failed.errors.contains("expected offline, but it was backingOff"))
  }

  @Test(
    "a bad scenario file ends with 65 and names the place",
    arguments: [
      ("{\n\"version\": 1\n\"name\"", "is no JSON: line 3, column 1"),
      ("[]", "must be an object"),
      (#"{"version": 2}"#, "version: this release reads version 1 only"),
      (scenario(#"{"t": "0", "ev": "api.connect"}"#), "step 1 (steps[0].t): must be a number"),
      (scenario(#"{"t": 0}"#), "step 1 (steps[0]): the key “ev” is missing"),
      (scenario(#"{"t": 0, "ev": "api.connct"}"#), "step 1: api.connct: unknown event"),
      (scenario(#"{"t": 0, "ev": "api.connect", "arg": {}}"#), "(steps[0].arg): must be text"),
      (scenario(#"{"t": 0, "ev": "api.send", "lane": 300}"#), "has a number out of range"),
    ])
  func badFile(text: String, problem: String) throws {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appendingPathComponent("fsm-demo-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try text.write(to: file, atomically: true, encoding: .utf8)
    let run = try Demo.run("simulate", file.path)
    #expect(run.status == 65)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("\(file.path): "))
    #expect(run.errors.contains(problem))
  }

  @Test("a file that is not there ends with 66")
  func missingFile() throws {
    let run = try Demo.run("simulate", "/no/such/file.json")
    #expect(run.status == 66)
    #expect(run.errors.contains("/no/such/file.json: No such file or directory"))
  }
}

private func scenario(_ steps: String) -> String {
  #"{"version": 1, "name": "n", "seed": 1, "policy": {}, "steps": ["# + steps + "]}"
}

@Suite("fsm-demo over loopback")
struct LoopbackDemoTests {
  /// Serves on a free port, connects with the input, and gives both ends' words.
  private func converse(
    _ fault: [String], _ options: [String], input: String
  ) throws -> Demo.Outcome {
    let server = try Demo(["serve", "tcp://127.0.0.1:0"] + fault)
    defer { server.end() }
    let endpoint = String(try #require(server.firstLine().split(separator: " ").first))
    return try Demo(["connect", endpoint] + options, input: input).finish()
  }

  @Test("lines of the input are acknowledged in order, and the end of the input closes")
  func echo() throws {
    let run = try converse([], [], input: "one\ntwo\nlast without an end")
    #expect(run.status == 0)
    let ends = run.output.split(separator: "\n").filter { $0.contains("→ acknowledged") }
    #expect(ends.count == 3)
    #expect(ends.first?.hasSuffix("· one → acknowledged") == true)
    #expect(ends.last?.hasSuffix("· last without an end → acknowledged") == true)
    #expect(run.output.hasSuffix("Messages: 3 acknowledged.\n"))
  }

  @Test("F47: lines in flight when the peer resets are sent again, and each ends once")
  func reset() throws {
    let run = try converse(["--reset-after", "2"], ["--seed", "3"], input: "one\ntwo\nthree\n")
    #expect(run.status == 0)
    #expect(run.output.contains("backingOff"))
    #expect(run.output.hasSuffix("Messages: 3 acknowledged.\n"))
  }

  @Test("a line that was sent once to a peer that answers nothing is written")
  func atMostOnce() throws {
    let run = try converse(["--mute"], ["--lane", "at-most-once"], input: "one\n")
    #expect(run.status == 0)
    #expect(run.output.contains("· one → written"))
  }

  @Test("a line above the limit is not sent, and the tool says so with its status")
  func tooLong() throws {
    let long = String(repeating: "x", count: 65_537)
    let run = try converse([], [], input: "\(long)\nshort\n")
    #expect(run.status == 1)
    #expect(run.errors.contains("a line of more than 65536 bytes was not sent"))
    #expect(run.output.contains("· short → acknowledged"))
  }

  @Test("JSON Lines keep standard output for the trace, and standard error has the rest")
  func jsonLines() throws {
    let run = try converse([], ["--format", "jsonl"], input: "one\n")
    #expect(run.status == 0)
    #expect(run.output.split(separator: "\n").allSatisfy { $0.hasPrefix("{") })
    #expect(run.errors.contains("one → acknowledged"))
  }

  @Test("an address that cannot be served ends with 69")
  func unavailable() throws {
    let run = try Demo.run("serve", "tcp://localhost:0")
    #expect(run.status == 69)
    #expect(run.errors.contains("write 127.0.0.1 or ::1"))
  }
}
