import ConnectionFSM
import Foundation
import NetSim
import Testing

/// The books are given a right machine and the policy of another one: what one of them does in its
/// time is too early or too late for the other.
@Suite("The books of time")
struct TimeBooksTests {
  private struct Knobs {
    var first = TimeSpan.seconds(2)
    var jitter = Backoff.Jitter.none
    var connectDeadline = TimeSpan.seconds(5)
    var timeout = TimeSpan.seconds(3)
    var stability = TimeSpan.seconds(10)
  }

  private static func policy(_ turn: (inout Knobs) -> Void = { _ in }) throws -> Policy {
    var knobs = Knobs()
    turn(&knobs)
    return try Policy(
      connectDeadline: knobs.connectDeadline,
      backoff: Backoff(
        strategy: .doubling, first: knobs.first, base: .seconds(4), cap: .seconds(16),
        jitter: knobs.jitter, stability: knobs.stability),
      minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(10), timeout: knobs.timeout),
      path: PathPolicy(suspectTimeout: knobs.timeout), lanes: [Lane(.atMostOnce)])
  }

  /// What the books of a policy object to in the life of a machine with the plain one.
  private static func objection(
    _ books: Policy, _ life: [(Double, Input)]
  ) throws -> Violation? {
    var machine = Machine(policy: try policy(), seed: 1)
    var effects = Effects()
    var books = TimeBooks(policy: books)
    for (seconds, input) in life {
      let now = Instant.origin + .milliseconds(Int64(seconds * 1000))
      let before = machine
      let disposition = machine.handle(input, at: now, into: &effects)
      do throws(Violation) {
        try books.judge(
          input, at: now, before: before, after: machine, disposition, effects)
      } catch {
        return error
      }
    }
    return nil
  }

  private static let refused: [(Double, Input)] = [
    (0, .connect(EndpointID(0))),
    (1, .transport(Epoch(1), .failed(.system(.connectionRefused)))),
  ]
  private static let unanswered: [(Double, Input)] = [
    (0, .connect(EndpointID(0))), (1, .transport(Epoch(1), .opened)), (11, .deadlineReached),
    (14, .deadlineReached),
  ]

  @Test("have no objection to a machine of their own policy")
  func right() throws {
    let own = try Self.policy()
    #expect(try Self.objection(own, Self.refused) == nil)
    #expect(try Self.objection(own, Self.unanswered) == nil)
    #expect(try Self.objection(own, [(0, .connect(EndpointID(0))), (5, .deadlineReached)]) == nil)
  }

  @Test("I6: a wait that is shorter than the backoff's is named")
  func shortWait() throws {
    let found = try Self.objection(try Self.policy { $0.first = .seconds(3) }, Self.refused)
    #expect(
      found?.invariant == "I6" && found?.finding == "waits 2.000 s after failure 1, not 3.000 s")
  }

  @Test("I6: a backoff that starts over though no link was stable is named")
  func startedOver() throws {
    // For the machine the first link was stable; for the books it was not.
    let life: [(Double, Input)] =
      Self.refused + [
        (3, .deadlineReached), (4, .transport(Epoch(2), .opened)),
        (14, .transport(Epoch(2), .received(byteCount: 1))),
        (15, .transport(Epoch(2), .failed(.system(.brokenPipe)))),
      ]
    #expect(try Self.objection(try Self.policy(), life) == nil)
    let found = try Self.objection(try Self.policy { $0.stability = .seconds(60) }, life)
    #expect(found?.invariant == "I6")
  }

  @Test("I6: a wait of just the longest is one that no jitter has touched")
  func noJitter() throws {
    let found = try Self.objection(try Self.policy { $0.jitter = .full }, Self.refused)
    #expect(found?.finding == "waits 2.000 s, which no jitter has touched")
  }

  @Test("I4: a deadline a nanosecond late, and an attempt given up early, are named")
  func deadlines() throws {
    let dial: [(Double, Input)] = [(0, .connect(EndpointID(0))), (5, .deadlineReached)]
    let late = try Self.objection(
      try Self.policy { $0.connectDeadline = .nanoseconds(4_999_999_999) }, dial)
    #expect(late?.invariant == "I4")
    let early = try Self.objection(try Self.policy { $0.connectDeadline = .seconds(6) }, dial)
    #expect(early?.finding == "gave #1 up 5.000 s after the dial")
  }

  @Test("I19: a peer that was given up before its time to answer was over is named")
  func shortSilence() throws {
    let found = try Self.objection(try Self.policy { $0.timeout = .seconds(4) }, Self.unanswered)
    #expect(found?.finding == "gave #1 up 3.000 s after it was asked")
  }

  @Test("I19: a peer given up on a timer that came late, and never asked again, is named")
  func lateTimer() throws {
    let found = try Self.objection(
      try Self.policy { $0.timeout = .milliseconds(1_000) }, Self.unanswered)
    #expect(found?.finding == "gave #1 up on a timer that came late, and asked no more")
  }
}

@Suite("Stories at the limits")
struct ExtremeStoryTests {
  private static func run(_ policy: String, _ steps: String) throws -> Int {
    let json =
      #"{ "version": 1, "name": "s", "seed": 1, "policy": \#(policy), "steps": [\#(steps)] }"#
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
    var run = try Simulation(scenario, seed: 1)
    try run.run()
    return run.dials.count
  }

  @Test("I6: a base of a year that the cap cuts is judged for any number of failures")
  func longBase() throws {
    let policy = #"""
      { "minimumDialSpacing": 0,
        "backoff": {
          "strategy": "linear", "first": 0, "base": 31536000, "cap": 1, "jitter": "none" } }
      """#
    let steps = #"""
      { "t": 0, "ev": "api.connect" }, { "t": 0, "ev": "net.refuse", "arg": "repeat=400" },
      { "t": 2000, "ev": "net.noop" }
      """#
    // The one after the last refusal stays without an answer, and is tried again and again.
    #expect(try Self.run(policy, steps) > 400)
  }

  @Test("a device that sleeps for years keeps one ping of its server unread")
  func longSleep() throws {
    let policy = #"{ "heartbeat": { "interval": 3600, "timeout": 10, "isServerDriven": true } }"#
    let steps = #"""
      { "t": 0, "ev": "net.server_up" }, { "t": 0, "ev": "api.connect" },
      { "t": 1, "ev": "dev.sleep" }, { "t": 900000000, "ev": "dev.wake" }
      """#
    #expect(try Self.run(policy, steps) == 1)
  }
}
