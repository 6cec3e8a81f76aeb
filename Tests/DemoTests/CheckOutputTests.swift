import ConnectionFSM
import Foundation
import NetSim
import Testing
import fsm_demo

@Suite("What check shows and leaves behind")
struct CheckOutputTests {
  // PastedTests.swift is compiled and run with the other tests: what stands there is a test as
  // `check` writes it. To renew it, take what this test found instead.
  @Test("is the file that is compiled beside this one, and decodes to the scenario it was made of")
  func golden() throws {
    let scenario = try Scenario.refusedOnce
    let made = RegressionTest(
      scenario, title: "I6: seed 123, in 5 steps",
      remark: "It ended with: dialled #2 only 0.041407916 s after the last dial, and the remark "
        + "is so long that it takes two lines.")
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("PastedTests.swift")
    let pasted = try String(contentsOf: file, encoding: .utf8)
    #expect(made.file == pasted, "\(made.file)")
    let lines = pasted.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.allSatisfy { $0.count <= 100 })
    let start = try #require(pasted.firstRange(of: "#\"\"\"")).upperBound
    let end = try #require(pasted.firstRange(of: "\"\"\"#")).lowerBound
    let json = Data(pasted[start..<end].utf8)
    let read = try JSONDecoder().decode(Scenario.self, from: json)
    #expect(read.policy == scenario.policy)
    #expect(read.steps.map(\.words) == scenario.steps.map(\.words))
  }
}

extension CheckOutputTests {
  @Test(
    "the bar tells how far it is, how fast, how long yet and what failed, within 79 columns",
    arguments: [
      (0, 0, 0.0, "   0 %  0 stories a second"),
      (1, 0, 0.5, "   0 %  2 stories a second"),
      (5000, 0, 2.0, "  50 %  2,500 stories a second  2 s left"),
      (9999, 12, 40.0, "  99 %  249 stories a second  1 s left  12 failed"),
      (100, 0, 100.0, "   1 %  1 stories a second  2 h 45 min left"),
      (3000, 1000, 90.0, "  30 %  33 stories a second  3 min 30 s left  1,000 failed"),
      (10_000, 0, 4.0, " 100 %  2,500 stories a second  0 s left"),
    ])
  func bar(done: Int, failed: Int, seconds: Double, words: String) {
    let line = CheckProgress(done: done, of: 10_000, failed: failed).line(after: seconds)
    #expect(line.dropFirst(20) == words)
    #expect(line.count <= 79)
    let full = line.prefix(20).count { $0 == "█" }
    #expect(full == done * 20 / 10_000)
    #expect(line.prefix(20).allSatisfy { $0 == "█" || $0 == "░" })
  }

  @Test("cells that were not met stand together where they lack the same")
  func cellNames() {
    let any = Phase.allCases.map { "\($0)" }
    let names =
      ["pong in idle", "pong in closed", "close in idle", "written in idle", "written in closed"]
      + any.map { "idle → open → \($0)" } + ["idle → closed → open"]
      + any.map { "idle → idle → \($0)" } + ["open → open → open"]
    #expect(
      CellNames.lines(of: names, width: 96) == [
        "pong, written in idle, closed", "close in idle", "idle → open, idle → any",
        "idle → closed → open", "open → open → open",
      ])
    #expect(
      CellNames.lines(of: names, width: 24).prefix(3) == [
        "pong, written in", "    idle, closed", "close in idle",
      ])
  }
}

extension Scenario {
  fileprivate static var refusedOnce: Scenario {
    get throws {
      var scenario = try JSONDecoder().decode(
        Scenario.self,
        from: Data(
          #"{"version": 1, "name": "I6-seed-123", "seed": 7, "policy": {}, "steps": []}"#.utf8))
      scenario.about = "left out of the test"
      scenario.policy = try Policy(
        connectDeadline: .milliseconds(2500),
        backoff: Backoff(first: .seconds(2), jitter: .none), heartbeat: nil,
        lanes: [Lane(.atMostOnce, timeToLive: .seconds(3), overflow: .dropOldest)])
      scenario.steps = try JSONDecoder().decode(
        [Step].self,
        from: Data(
          #"""
          [{"t": 0, "ev": "api.connect"}, {"t": 0.1, "ev": "net.refuse"},
           {"t": 0.25, "ev": "api.send", "arg": "m1,m2", "lane": 0, "bytes": 20, "note": "two"},
           {"t": 2.2, "ev": "net.open"}, {"t": 3, "ev": "expect.state", "arg": "open"}]
          """#.utf8))
      return scenario
    }
  }
}

extension Scenario.Step {
  fileprivate var words: [String?] {
    ["\(t)", ev, arg, lane.map { "\($0)" }, bytes.map { "\($0)" }, note]
  }
}
