import Testing

@Suite("F56: fsm-demo why")
struct WhyTests {
  /// Runs `why` on a file with this text.
  private func why(_ text: String, _ step: String) throws -> (Demo.Outcome, path: String) {
    try Demo.withFile(text) { (try Demo.run("why", $0, step), $0) }
  }

  private func trace() throws -> String {
    try Demo.run("simulate", "--scenario", "dead-peer", "--seed", "3", "--format", "jsonl").output
  }

  @Test("prints the chain from the wish to the step, one aligned line each")
  func chain() throws {
    let (run, _) = try why(trace(), "9")
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(
      run.output == """
        step      time  input                   state           effects, and until when it waits
           1     0.000  connect @0            → connecting      \
        dial #1 @0; waits for transport until 10.000
           5    40.000  #1 received 1B          open            waits for silence until 65.000
           6    65.000  deadline                open            \
        ping #1 2; waits for pong until 75.000
           7    75.000  deadline              → backingOff      \
        abort #1, ended #1 timedOut(pong); waits for retry until 75.567
           8    75.567  deadline              → connecting      \
        dial #2 @0; waits for transport until 85.567
           9    75.610  #2 opened             → open            waits for silence until 100.610

        """)
  }

  @Test("a part of a recording is told from its first step on")
  func part() throws {
    var lines = try trace().split(separator: "\n")
    lines.removeSubrange(1...4)
    let (run, _) = try why(lines.joined(separator: "\n"), "7")
    #expect(run.status == 0)
    let steps = run.output.split(separator: "\n").dropFirst().map { $0.prefix(4) }
    #expect(steps == ["   5", "   6", "   7"])
  }

  @Test("a step that is not there ends with 64 and says which there are")
  func noSuchStep() throws {
    let text = try trace()
    let count = text.split(separator: "\n").count - 1
    let (run, path) = try why(text, "99")
    #expect(run.status == 64)
    #expect(run.errors.contains("\(path): there is no step 99; there are 1 to \(count)"))
  }

  @Test("a file that is not there ends with 66 and says how to make one")
  func missingFile() throws {
    let run = try Demo.run("why", "/no/such/file.jsonl", "1")
    #expect(run.status == 66)
    #expect(run.errors.contains("/no/such/file.jsonl: No such file or directory; fsm-demo sim"))
  }

  @Test(
    "a file that is no trace ends with 65 and names the line",
    arguments: [
      ("", "is empty, and no trace"),
      ("# A page", "is no trace: line 1 must be the header"),
      (#"{"format": 9}"#, "line 1: format: this release reads format 1 only"),
      (#"{"format": 1}"#, "has a header and no step"),
      ("{\"format\": 1}\n{\"sequence\": 1}", "line 2: the key “"),
      (step(1) + step(3), "line 3: is step 3 where step 2 must be"),
      (step(1) + "{\n", "line 3: is no JSON"),
      (step(1) + "{", "line 3: is cut off: the recording ended while it was written"),
      (step(1) + step(2, parent: 2), "line 3: parent: 2 is no step before 2"),
      (step(0) + step(1), "line 2: sequence: 0 is no number of a step"),
      (step(.max) + step(1), "is no number of a step"),
    ])
  func badFile(text: String, problem: String) throws {
    let header = text.contains("format") || text.isEmpty || text.hasPrefix("#") ? "" : header
    let (run, path) = try why(header + text, "2")
    #expect(run.status == 65)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("\(path): "))
    #expect(run.errors.contains(problem), "\(run.errors)")
  }
}

private let header = "{\"format\": 1}\n"

/// A line of a trace, which need not make sense.
private func step(_ sequence: UInt64, parent: UInt64? = nil) -> String {
  let parent = parent.map { #""parent": \#($0), "# } ?? ""
  return #"{"sequence": \#(sequence), \#(parent)"instant": 0, "attempt": 1, "input": "close", "#
    + #""disposition": "accepted", "from": "idle", "to": "closed", "effects": [], "#
    + #""waitsFor": "nothing"}"# + "\n"
}
