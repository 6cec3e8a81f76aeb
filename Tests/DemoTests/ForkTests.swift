import Testing

@Suite("fsm-demo fork")
struct ForkCommandTests {
  @Test("both ways are told from where they part, and summed up")
  func parted() throws {
    let run = try Demo.run("fork", "--scenario", "dead-peer", "--at", "5", "--do", "net.rst")
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "Forked after step 5, at 40.000 s, with net.rst.")
    #expect(lines[2...4].map { $0.prefix(4) } == ["   3", "   4", "   5"])
    #expect(lines[5] == "As it was, from the first difference on:")
    let otherwise = try #require(lines.firstIndex(of: "Otherwise:"))
    #expect(lines[otherwise + 1].hasSuffix("40.000  · net.rst"))
    #expect(lines[otherwise + 2].hasPrefix("   6    40.000  #1 failed"))
    #expect(lines.contains { $0.hasPrefix("steps ") && $0.hasSuffix("9, 5 of them the same") })
    #expect(lines.contains { $0.hasPrefix("dials ") && $0.hasSuffix("as it was: 2") })
  }

  @Test("messages that ended in two ways are named")
  func messages() throws {
    let run = try Demo.run(
      "fork", "--scenario", "tour", "--at", "12", "--seed", "7", "--do", "dev.background",
      "--do=net.http 503")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Forked after step 12, at 20.0"))
    #expect(run.output.contains(" s, with seed 7, dev.background, net.http 503.\n"))
    #expect(run.output.contains("as it was: order-2 acknowledged"))
    #expect(run.output.contains("otherwise: order-2 inDoubt"))
    #expect(run.output.contains("befell nothing         net.http 503"))
  }

  @Test("two ways that are the same are told to be")
  func same() throws {
    let run = try Demo.run("fork", "--scenario", "dead-peer", "--at", "2", "--do", "net.noop")
    #expect(run.status == 0)
    #expect(run.output.contains("All 9 steps are the same in both."))
  }

  @Test(
    "what makes no sense ends with 64",
    arguments: [
      (["--at", "5"], "say what is to be otherwise: --seed N, --do STEP, or both"),
      (["--do", "net.rst"], "name the step with --at STEP"),
      (["--at", "0", "--seed", "1"], "--at “0” is no whole number"),
      (["--at", "99", "--seed", "1"], "there is no step 99; there are 9"),
      (["--at", "5", "--do", "net.xx"], "--do: net.xx: unknown event"),
      (["--at", "5", "--do"], "--do needs a value"),
      (["--at", "5", "--seed", "1", "a"], "give a file or --scenario, not both"),
    ])
  func usage(arguments: [String], problem: String) throws {
    let run = try Demo(["fork", "--scenario", "dead-peer"] + arguments).finish()
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(problem), "\(run.errors)")
  }

  @Test("a condition has no copy, and the tool says so")
  func condition() throws {
    let run = try Demo.run("fork", "--scenario", "commuter", "--at", "5", "--seed", "1")
    #expect(run.status == 64)
    #expect(run.errors.contains("commuter is a condition"))
  }

  @Test("a story that does not go as it says is told with the way that it goes otherwise")
  func failing() throws {
    let text = """
      {"version": 1, "name": "n", "seed": 1, "policy": {}, "steps": [
        {"t": 0, "ev": "api.connect"}, {"t": 1, "ev": "net.open"},
        {"t": 2, "ev": "expect.state", "arg": "offline"}, {"t": 3, "ev": "api.close"}]}
      """
    try Demo.withFile(text) { path in
      let run = try Demo.run("fork", path, "--at", "1", "--do", "net.refuse")
      #expect(run.status == 1)
      #expect(run.output.contains("step 3: expect.state at 2.000 s: expected offline"))
      #expect(run.output.contains("#1 failed"))
      #expect(run.errors.contains("\(path): step 3: expect.state"))
    }
  }
}
