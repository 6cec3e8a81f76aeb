import ConnectionFSM
import Foundation
import NetSim
import Testing

private func scenario(_ steps: String, policy: String = "{}") throws -> Scenario {
  let json = """
    { "version": 1, "name": "test", "seed": 1, "policy": \(policy), "steps": [\(steps)] }
    """
  return try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
}

private let steadyPolicy = """
  { "heartbeat": null, "minimumDialSpacing": 1, "connectDeadline": 10, "closeDeadline": 5,
    "backoff": { "first": 2, "base": 2, "cap": 8, "jitter": "none", "stability": 5 },
    "path": { "probeInterval": 60, "returnJitter": 0 } }
  """

/// Runs the steps and gives the trace as text.
private func trace(_ steps: String, policy: String = steadyPolicy, seed: UInt64 = 1) throws
  -> String
{
  var simulation = try Simulation(scenario(steps, policy: policy), seed: seed)
  let text = TraceText(colour: false)
  var lines: [String] = []
  try simulation.run { event in
    switch event {
    case .step(let record): lines.append(text.line(record))
    case .note(let instant, let note): lines.append(text.note(note, at: instant))
    }
  }
  return lines.joined(separator: "\n")
}

/// The problem that the steps are refused with.
private func problem(_ steps: String, policy: String = steadyPolicy) -> String {
  do {
    _ = try trace(steps, policy: policy)
    return "none"
  } catch let error as ScenarioError {
    return error.description
  } catch DecodingError.dataCorrupted(let context) {
    return context.debugDescription
  } catch {
    return "\(error)"
  }
}

@Suite("Scenario files: errors name the step and the mend")
struct ScenarioErrorTests {
  @Test("an unknown event is named with the known ones")
  func unknownEvent() {
    let found = problem(#"{ "t": 0, "ev": "api.connect" }, { "t": 1, "ev": "net.opne" }"#)
    #expect(found.hasPrefix("step 2: net.opne: unknown event “net.opne”; known are api.connect,"))
  }

  @Test("an unknown key of a step is refused, not ignored")
  func unknownKey() {
    let found = problem(#"{ "t": 0, "ev": "api.connect", "args": 1 }"#)
    #expect(found == "unknown key “args”; known are t, ev, arg, lane, bytes, note")
  }

  @Test("an unknown key of the policy is refused, not ignored")
  func unknownKnob() {
    let found = problem(#"{ "t": 0, "ev": "api.connect" }"#, policy: #"{ "conectDeadline": 1 }"#)
    #expect(found.hasPrefix("unknown key “conectDeadline”; known are connectDeadline,"))
  }

  @Test("a step that nothing consumes fails the run and says what to do")
  func unconsumed() {
    let found = problem(
      #"{ "t": 0, "ev": "net.open" }, { "t": 2, "ev": "net.open" }"#
    )
    #expect(found.hasPrefix("step 2: net.open was never consumed"))
  }

  @Test(
    "a bad argument is named",
    arguments: [
      (#"{ "t": 0, "ev": "api.connect", "arg": "home" }"#, "“home” names no endpoint"),
      (#"{ "t": 0, "ev": "api.send" }"#, "needs an arg: the labels of messages"),
      (#"{ "t": 0, "ev": "api.send", "arg": "m5..m1" }"#, "“m5..m1” is no range of labels"),
      (#"{ "t": 0, "ev": "net.latency", "arg": "soon" }"#, "“soon” is no span"),
      (#"{ "t": 0, "ev": "net.rst", "arg": "repeat=0" }"#, "“repeat=0” repeats nothing"),
      (##"{ "t": 0, "ev": "net.rst", "arg": "#x" }"##, "“#x” is no transport generation"),
      (#"{ "t": 0, "ev": "expect.state", "arg": "opened" }"#, "unknown state “opened”"),
      (#"{ "t": 0, "ev": "expect.attempts", "arg": "3..1" }"#, "“3..1” is no range"),
      (#"{ "t": -1, "ev": "api.connect" }"#, "t must be a number of seconds"),
      (
        #"{ "t": 2, "ev": "api.connect" }, { "t": 1, "ev": "api.close" }"#,
        "step 2: t is earlier than that of the step before"
      ),
      (#"{ "t": 0, "ev": "api.cancel", "arg": "m1" }"#, "no message “m1” was sent before"),
      (#"{ "t": 0, "ev": "net.http", "arg": "999" }"#, "“999” is no status of HTTP"),
      (#"{ "t": 0, "ev": "net.http", "arg": "503 retry-after=x" }"#, "“x” is no number of seconds"),
      (#"{ "t": 0, "ev": "net.rst", "arg": "repaet=5" }"#, "“repaet=” is not understood"),
      (#"{ "t": 0, "ev": "net.server_close", "arg": "soon" }"#, "“soon” is no close code"),
      (#"{ "t": 0, "ev": "net.path_change", "arg": "wifi" }"#, "write wifi->cell"),
      (#"{ "t": 0, "ev": "net.hosts", "arg": "a(gone)" }"#, "“a(gone)” is no host"),
      (#"{ "t": 0, "ev": "net.loss", "arg": "lots" }"#, "“lots” is no share; write 90%"),
      (#"{ "t": 0, "ev": "net.session", "arg": "maybe" }"#, "“maybe” is no answer"),
      (#"{ "t": 0, "ev": "net.viability", "arg": "no" }"#, "needs an arg: true or false"),
      (#"{ "t": 0, "ev": "net.msg", "arg": "every=x repeat=2" }"#, "“x” is no span"),
      (#"{ "t": 0, "ev": "net.msg", "arg": "every=0 repeat=2" }"#, "is no interval"),
      (#"{ "t": 0, "ev": "cb.late", "arg": "→api.close" }"#, "known are cb.connecting"),
      (#"{ "t": 0, "ev": "cb.open", "arg": "→net.open" }"#, "is nothing that an application calls"),
      (#"{ "t": 0, "ev": "fleet(0).open" }"#, "a fleet has at least one client"),
      (#"{ "t": 0, "ev": "expect.deadline", "arg": "soon" }"#, "write 30..37.5, or none"),
      (#"{ "t": 0, "ev": "expect.attempts", "arg": "2 after 3" }"#, "write 2..4 since 60"),
      (#"{ "t": 0, "ev": "api.connect", "arg": "client=A" }"#, "name one of them under “client”"),
    ])
  func badArgument(steps: String, expected: String) {
    #expect(problem(steps).contains(expected))
  }

  @Test(
    "each kind of expectation can fail",
    arguments: [
      (#""ev": "expect.state", "arg": "closed""#, "expected closed, but it was open"),
      (#""ev": "expect.cause", "arg": "pathLost""#, "expected pathLost, but it was none"),
      (#""ev": "expect.attempts", "arg": 2"#, "expected 2, but it was 1"),
      (#""ev": "expect.attempts", "arg": "2..4""#, "expected 2...4, but it was 1"),
      (#""ev": "expect.live", "arg": 0"#, "expected 0, but it was 1"),
      (#""ev": "expect.pings", "arg": 1"#, "expected 1, but it was 0"),
      (#""ev": "expect.waits", "arg": "2s""#, "but it was []"),
      (#""ev": "expect.wire", "arg": "m1""#, "expected m1, but it was m1,m2"),
      (#""ev": "expect.tier", "arg": "slow""#, "expected slow, but it was none"),
      (#""ev": "expect.reason", "arg": "terminal""#, "expected terminal, but it was none"),
      (#""ev": "expect.waitsFor", "arg": "retry""#, "expected retry, but it was traffic"),
      (#""ev": "expect.deadline", "arg": "3..4""#, "expected 3.0...4.0, but it was none"),
      (#""ev": "expect.epoch", "arg": 2"#, "expected #2, but it was #1"),
      (#""ev": "expect.attempt", "arg": 2"#, "expected 2, but it was 1"),
      (#""ev": "expect.attempts", "arg": "1 since 1""#, "expected 1, but it was 0"),
      (#""ev": "expect.waitCount", "arg": 1"#, "expected 1, but it was 0"),
      (##""ev": "expect.ends", "arg": "#1 replaced""##, "expected #1 replaced, but it was "),
      (#""ev": "expect.phases", "arg": "open""#, "expected open, but it was connecting,open"),
      (#""ev": "expect.hosts", "arg": "a""#, "expected a, but it was @0"),
      (#""ev": "expect.requests", "arg": 1"#, "expected 1, but it was 0"),
      (#""ev": "expect.sessions", "arg": "fresh""#, "expected fresh, but it was "),
      (#""ev": "expect.ignored", "arg": "early 1""#, "expected 1, but it was 0"),
      (
        #""ev": "expect.outcome", "arg": "m1 expired""#,
        "expected m1 expired, but it was m1 written"
      ),
    ])
  func failingExpectation(step: String, expected: String) {
    let found = problem(
      #"""
      { "t": 0, "ev": "net.open" }, { "t": 1, "ev": "api.send", "arg": "m1,m2" },
      { "t": 2, \#(step) }
      """#
    )
    #expect(found.hasPrefix("step 3: expect."))
    #expect(found.contains(expected))
  }
}

@Suite("The words of a story")
struct VocabularyTests {
  @Test("every word that a scenario can hold is explained in Docs/Scenarios.md")
  func explained() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("Docs/Scenarios.md"), encoding: .utf8)
    let refusal = problem(#"{ "t": 0, "ev": "?" }"#)
    let known = try #require(refusal.components(separatedBy: "are ").last)
    let words = known.components(separatedBy: ", ")
    #expect(words.count > 80)
    for word in words {
      #expect(page.contains("`\(word)`") || word == "fleet(n).open", "\(word)")
    }
  }

  @Test("what the story says of an attempt outranks what the server would do")
  func storyFirst() {
    let steps = ##"""
      { "t": 0, "ev": "net.server_up" }, { "t": 0, "ev": "net.refuse" },
      { "t": 0.5, "ev": "expect.ends", "arg": "#1 system(connectionRefused)" },
      { "t": 3, "ev": "expect.state", "arg": "open" }
      """##
    #expect(problem(steps) == "none")
  }

  @Test("an end without a link is the second end of the last attempt")
  func secondEnd() {
    let steps = #"""
      { "t": 0, "ev": "net.open" }, { "t": 1, "ev": "net.rst" }, { "t": 1.1, "ev": "net.closed" },
      { "t": 1.2, "ev": "expect.ignored", "arg": "staleEpoch 1" },
      { "t": 1.2, "ev": "expect.waitCount", "arg": 1 }
      """#
    #expect(problem(steps) == "none")
  }

  @Test("a callback that never came is a step that nothing consumed")
  func missedCallback() {
    let steps = #"""
      { "t": 0, "ev": "net.open" }, { "t": 1, "ev": "cb.closed", "arg": "→api.close" },
      { "t": 2, "ev": "net.noop" }
      """#
    #expect(problem(steps).hasPrefix("step 2: cb.closed was never consumed"))
  }
}

@Suite("Simulation")
struct SimulationTests {
  @Test("F59: the same seed gives the same bytes, another seed others")
  func determinism() throws {
    let steps =
      #"""
      { "t": 0, "ev": "api.connect" }, { "t": 0, "ev": "net.server_down" },
      { "t": 60, "ev": "net.noop" }
      """#
    let policy =
      #"{ "heartbeat": null, "backoff": { "first": 5, "base": 2, "cap": 60, "jitter": "full" } }"#
    let one = try trace(steps, policy: policy, seed: 5)
    #expect(try trace(steps, policy: policy, seed: 5) == one)
    #expect(try trace(steps, policy: policy, seed: 6) != one)
  }

  @Test("F02: close in an open link waits for the peer, then the machine is closed")
  func closeHandshake() throws {
    let steps = #"""
      { "t": 0, "ev": "net.server_up" }, { "t": 0, "ev": "api.connect" },
      { "t": 1, "ev": "api.close" }, { "t": 1.01, "ev": "expect.state", "arg": "closing" },
      { "t": 1.1, "ev": "expect.state", "arg": "closed" }
      """#
    #expect(problem(steps) == "none")
  }

  @Test("I19: a peer that never answers a close is cut at the deadline")
  func closeDeadline() throws {
    let steps = #"""
      { "t": 0, "ev": "net.open" }, { "t": 1, "ev": "api.close" },
      { "t": 5.9, "ev": "expect.state", "arg": "closing" },
      { "t": 6.1, "ev": "expect.state", "arg": "closed" },
      { "t": 6.1, "ev": "expect.live", "arg": 0 }
      """#
    #expect(problem(steps) == "none")
  }

  @Test("F46, F47: acknowledged messages survive a server's death, the others are in doubt")
  func outcomesOverARestart() throws {
    let policy = """
      { "heartbeat": null, "backoff": { "first": 1, "base": 1, "cap": 60, "jitter": "none" },
        "lanes": [ { "delivery": "atMostOnce" }, { "delivery": "atLeastOnce" } ] }
      """
    let steps = #"""
      { "t": 0, "ev": "net.open" }, { "t": 1, "ev": "net.blocked" },
      { "t": 1, "ev": "api.send", "arg": "a", "lane": 1 },
      { "t": 2, "ev": "net.unblocked" }, { "t": 2.5, "ev": "api.send", "arg": "b,c", "lane": 1 },
      { "t": 2.6, "ev": "api.send", "arg": "x", "lane": 0 },
      { "t": 3, "ev": "net.rst" }, { "t": 3.1, "ev": "expect.outcome", "arg": "a,b,c pending" },
      { "t": 3.1, "ev": "expect.outcome", "arg": "x written" },
      { "t": 5, "ev": "net.open" }, { "t": 6, "ev": "net.ack" },
      { "t": 7, "ev": "expect.outcome", "arg": "a,b,c acknowledged" },
      { "t": 7, "ev": "expect.wire", "arg": "a,b,c,x,a,b,c" }
      """#
    #expect(problem(steps, policy: policy) == "none")
  }
}
