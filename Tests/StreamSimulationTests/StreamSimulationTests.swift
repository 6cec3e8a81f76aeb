import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports

/// Lines that are echoed, with a bug.
private struct BentFraming: ProtocolEngine {
  enum Bug: CaseIterable {
    case losesLastByteRead, losesLastByteWritten, deliversTwice, deliversNothing
    case acknowledgesAtOnce, acknowledgesNothing, staysShut, neverEnds
  }

  private var base: DelimiterFraming
  private let bug: Bug

  init(_ bug: Bug) throws {
    base = try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("PING".utf8))
    self.bug = bug
  }

  var canPing: Bool { true }
  var nextDeadline: Instant? { nil }
  func admits(_ message: Message) -> Bool { base.admits(message) }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    if bug != .staysShut { base.start(at: now, into: &output) }
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    let count = bytes.byteCount
    let before = output.events.count
    let isCut = bug == .losesLastByteRead && count > 20
    base.receive(bytes.extracting(first: isCut ? count - 1 : count), at: now, into: &output)
    var events = Array(output.events[before...])
    output.events.removeSubrange(before...)
    for (place, event) in events.enumerated().reversed() {
      switch (bug, event) {
      case (.deliversTwice, .message): events.insert(event, at: place)
      case (.deliversNothing, .message), (.acknowledgesNothing, .acknowledged):
        events.remove(at: place)
      case _: break
      }
    }
    output.events += events
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    if bug != .neverEnds { base.receiveEnd(at: now, into: &output) }
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    base.send(message, id: id, into: &output)
    if bug == .losesLastByteWritten, message.bytes.count > 20 {
      output.bytes.remove(at: output.bytes.count - 2)
    }
    if bug == .acknowledgesAtOnce, let id { output.events.append(.acknowledged(through: id)) }
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    base.ping(number, into: &output)
  }

  mutating func close(at now: Instant, into output: inout EngineOutput) {
    base.close(at: now, into: &output)
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}

@Suite struct StreamSimulationTests {
  private static func framing() throws -> DelimiterFraming {
    try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("PING".utf8))
  }

  private static func policy() throws -> Policy {
    try Policy(
      connectDeadline: .seconds(5), closeDeadline: .seconds(2), drainDeadline: .seconds(2),
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
      minimumDialSpacing: .milliseconds(500),
      heartbeat: Heartbeat(interval: .seconds(5), timeout: .seconds(2)),
      lanes: [Lane(.atMostOnce), Lane(.atLeastOnce, timeToLive: nil)])
  }

  private static func scenario(_ steps: [Scenario.Step]) throws -> Scenario {
    Scenario(name: "by hand", seed: 1, policy: try policy(), steps: steps, over: .bytes)
  }

  @discardableResult
  private static func run(
    _ steps: [Scenario.Step], _ observe: ((Simulation.Event) -> Void)? = nil
  ) throws -> StreamSimulation.Report {
    let framing = try framing()
    return try StreamSimulation(scenario(steps), seed: 1) { framing }.run(observe)
  }

  @Test("I11: an echo is read though its link is let go of for what it acknowledged")
  func lostEcho() throws {
    let url = try #require(
      Bundle.module.url(forResource: "Fixtures/lost-echo", withExtension: "json"))
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: url))
    let framing = try Self.framing()
    let report = try StreamSimulation(scenario, seed: scenario.seed) { framing }.run()
    #expect(report.outcomes.contains("m41 acknowledged"))
  }

  /// What an engine is made with, to see whether a run is still there.
  private final class Token: Sendable {}

  @Test("I18: a run that is watched leaves nothing of itself behind")
  func nothingLeft() throws {
    weak var left: Token?
    let framing = try Self.framing()
    let steps = [
      Self.step(0, "api.connect"), Self.step(1, "api.send", "a", lane: 1),
      Self.step(2, "net.rst"), Self.step(9, "api.close"),
    ]
    var seen = 0
    do {
      let token = Token()
      left = token
      let run = try StreamSimulation(Self.scenario(steps), seed: 1) {
        withExtendedLifetime(token) { framing }
      }
      _ = try run.run { _ in seen += 1 }
    }
    #expect(seen > 5 && left == nil)
  }

  private static func step(
    _ t: Double, _ ev: String, _ arg: String? = nil, lane: UInt8? = nil, bytes: UInt32? = nil
  ) -> Scenario.Step {
    Scenario.Step(t: t, ev: ev, arg: arg, lane: lane, bytes: bytes)
  }

  // MARK: Bugs

  /// Within so many seeds every bug of an engine is found.
  private static let enough: UInt64 = 10

  @Test("An engine with a bug is found out", arguments: BentFraming.Bug.allCases)
  private func bug(_ bug: BentFraming.Bug) throws {
    let engine = try BentFraming(bug)
    var found: Violation?
    for seed in 0..<Self.enough where found == nil {
      let simulation = try StreamSimulation(StreamSwarm.scenario(seed: seed), seed: seed) {
        engine
      }
      do { _ = try simulation.run() } catch let violation as Violation { found = violation }
    }
    let expected: [BentFraming.Bug: Set<String>] = [
      .losesLastByteRead: ["I11", "I12", "I13"], .losesLastByteWritten: ["I12"],
      .deliversTwice: ["I2", "I11", "I13", "I19", "I22"], .deliversNothing: ["I11", "I19"],
      .acknowledgesAtOnce: ["I11"], .acknowledgesNothing: ["I11", "I19"], .staysShut: ["I19"],
    ]
    guard bug != .neverEnds else {
      // A link whose end is not heard is found dead by its heartbeat: no promise is broken.
      #expect(found == nil)
      return
    }
    #expect(found.map { expected[bug]?.contains($0.invariant) == true } == true, "\(found as Any)")
  }

  // MARK: Stories

  @Test("A story over bytes tells what befalls, and how its messages end")
  func story() throws {
    var notes: [String] = []
    let report = try Self.run([
      Self.step(0, "net.chunks", "7"), Self.step(0, "net.buffers", "200"),
      Self.step(0, "api.send", "early", lane: 1), Self.step(0.5, "api.connect"),
      Self.step(1, "expect.state", "open"), Self.step(1, "expect.live", "1"),
      Self.step(1, "expect.outcome", "early acknowledged"),
      Self.step(1, "api.send", "m1..m4", lane: 1, bytes: 300),
      Self.step(1.001, "net.rst"), Self.step(1.01, "expect.outcome", "m1..m4 pending"),
      Self.step(4, "expect.outcome", "m1..m4 acknowledged"),
      Self.step(4, "api.send", "empty", bytes: 0), Self.step(5, "api.close"),
      Self.step(6, "expect.state", "closed"), Self.step(6, "expect.live", "0"),
      Self.step(6, "api.send", "late"), Self.step(7, "expect.outcome", "late rejected(closed)"),
    ]) { event in
      if case .note(_, let note) = event { notes.append(note) }
    }
    #expect(report.connections == 2)
    #expect(
      report.outcomes == [
        "early acknowledged", "m1 acknowledged", "m2 acknowledged", "m3 acknowledged",
        "m4 acknowledged", "empty written", "late rejected(closed)",
      ])
    #expect(notes.contains("server resets all"))
    #expect(notes.contains("the application reads m1"))
  }

  @Test("I17: what an application calls inside a callback happens after it")
  func callbacks() throws {
    let report = try Self.run([
      Self.step(0, "cb.open", "→api.send m3"), Self.step(0, "cb.end", "→api.close"),
      Self.step(0, "cb.closed", "→api.connect"), Self.step(0, "api.connect"),
      Self.step(5, "expect.outcome", "m3 written"), Self.step(5, "expect.state", "open"),
    ])
    #expect(report.connections == 2)
  }

  @Test("I18: a connection that is let go of while open leaves nothing")
  func release() throws {
    try Self.run([
      Self.step(0, "api.connect"), Self.step(1, "expect.live", "1"), Self.step(1, "api.release"),
      Self.step(2, "expect.live", "0"), Self.step(2, "expect.state", "closed"),
    ])
  }

  @Test("A dial to an address that nobody has is left alone by a cut")
  func cutOfADial() throws {
    try Self.run([
      Self.step(0, "net.dns_moved"), Self.step(0, "api.connect"), Self.step(1, "net.cut"),
      Self.step(2, "expect.state", "connecting"),
    ])
  }

  @Test("An application that sleeps calls when it wakes, and one at the story's end is woken")
  func sleep() throws {
    let report = try Self.run([
      Self.step(0, "dev.sleep"), Self.step(1, "api.connect"),
      Self.step(2, "expect.state", "idle"), Self.step(3, "dev.wake"),
      Self.step(4, "expect.state", "open"), Self.step(4, "dev.freeze"),
      Self.step(5, "api.send", "m1"), Self.step(6, "expect.state", "open"),
    ])
    #expect(report.outcomes == ["m1 written"] || report.outcomes == ["m1 rejected(closed)"])
  }

  @Test("An expectation that is not met is told with its step")
  func expectations() throws {
    let wrong: [(Scenario.Step, String)] = [
      (Self.step(1, "expect.state", "idle"), "step 2: the state is open, not idle"),
      (Self.step(1, "expect.live", "0"), "step 2: the client holds 1 sockets, not 0"),
      (Self.step(1, "expect.outcome", "a written"), "step 2: a is not offered, not written"),
    ]
    for (step, problem) in wrong {
      let error = #expect(throws: ScenarioError.self) {
        try Self.run([Self.step(0, "api.connect"), step])
      }
      #expect(error?.description == problem)
    }
  }

  // MARK: Words

  @Test("A word that is not understood is told with its step and the mend")
  func words() throws {
    let wrong: [(Scenario.Step, String)] = [
      (Self.step(0, "net.rist"), "unknown event"),
      (Self.step(0, "net.open"), "unknown event"),
      (Self.step(0, "api.connect", "@2"), "write @0 or @1"),
      (Self.step(0, "api.send"), "needs an arg"),
      (Self.step(0, "api.send", "a b"), "is no label"),
      (Self.step(0, "api.send", "a", lane: 3), "there are 2 lanes"),
      (Self.step(0, "cb.never", "→api.close"), "known are cb.connecting"),
      (Self.step(0, "cb.open", "→net.rst"), "nothing that an application calls"),
      (Self.step(0, "dev.wake", "soon"), "the one argument is fail"),
      (Self.step(0, "net.path_change", "moon"), "write wifi, cell"),
      (Self.step(0, "net.block", "sideways"), "write up or down"),
      (Self.step(0, "net.loss", "95%"), "write 0% to 90%"),
      (Self.step(0, "net.latency", "9ms..1ms"), "is no range"),
      (Self.step(0, "net.chunks", "0"), "at least one byte"),
      (Self.step(1, "net.buffers", "1000"), "let t be 0"),
      (Self.step(0, "net.buffers", "1"), "write 64"),
      (Self.step(0, "expect.tier", "fast"), "over bytes there are expect.state"),
      (Self.step(-1, "api.close"), "t must be a number"),
    ]
    for (step, problem) in wrong {
      let error = #expect(throws: ScenarioError.self) { try Self.run([step]) }
      #expect(error?.step == 1)
      #expect(error?.problem.contains(problem) == true, "\(error as Any)")
    }
    let twice = #expect(throws: ScenarioError.self) {
      try Self.run([Self.step(0, "api.send", "a"), Self.step(1, "api.send", "a")])
    }
    #expect(twice?.description.contains("step 2: api.send: “a” was sent before") == true)
    let early = #expect(throws: ScenarioError.self) {
      try Self.run([Self.step(1, "api.connect"), Self.step(0, "api.close")])
    }
    #expect(early?.step == 2)
  }

  @Test("A story of one level is not run on the other")
  func levels() throws {
    let framing = try Self.framing()
    var scenario = try Self.scenario([Self.step(0, "api.connect")])
    #expect(throws: ScenarioError.self) { try Simulation(scenario, seed: 1) }
    scenario.over = nil
    #expect(throws: ScenarioError.self) { try StreamSimulation(scenario, seed: 1) { framing } }
    scenario.over = .machine
    #expect(throws: ScenarioError.self) { try StreamSimulation(scenario, seed: 1) { framing } }
    _ = try Simulation(scenario, seed: 1)
  }
}
