import ConnectionFSM
import NetSim
import Testing

/// A protocol in portions, with a bug.
private struct BentPortions: ProtocolEngine {
  enum Bug: CaseIterable {
    /// One call ends two messages.
    case endsTwo
    /// Messages leave in another order than they came in.
    case overtakes
  }

  private var base: PortionedProtocol
  private let bug: Bug
  private var kept: [(Message, MessageID?)] = []

  init(_ bug: Bug) {
    base = PortionedProtocol(portion: 100)
    self.bug = bug
  }

  var canPing: Bool { true }
  var nextDeadline: Instant? { nil }
  var backlog: Int { base.backlog + kept.count }
  var hasMore: Bool { base.hasMore || !kept.isEmpty }
  func admits(_ message: Message) -> Bool { true }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    base.start(at: now, into: &output)
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    base.receive(bytes, at: now, into: &output)
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    base.receiveEnd(at: now, into: &output)
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard bug == .overtakes else { return base.send(message, id: id, into: &output) }
    kept.append((message, id))
  }

  mutating func writeOn(into output: inout EngineOutput) {
    if base.backlog == 0, let (message, id) = kept.popLast() {
      base.send(message, id: id, into: &output)
    }
    base.writeOn(into: &output)
    if bug == .endsTwo, base.backlog > 0 { base.writeOn(into: &output) }
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    base.ping(number, into: &output)
  }

  mutating func close(at now: Instant, into output: inout EngineOutput) {
    base.close(at: now, into: &output)
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}

@Suite("Backlogs over simulated bytes")
struct BacklogSimulationTests {
  @Test(
    "I11, I12: messages in portions are conserved in every weather",
    arguments: [10, 1000, 60_000])
  func swarm(_ portion: Int) throws {
    for seed in UInt64(0)..<15 {
      let scenario = StreamSwarm.scenario(seed: seed)
      do {
        _ = try StreamSimulation(scenario, seed: seed) { PortionedProtocol(portion: portion) }.run()
      } catch { Issue.record("portions of \(portion), seed \(seed): \(error)") }
    }
  }

  @Test("A link that is redirected keeps every promise, in every weather", arguments: 0..<3)
  func redirected(_ block: Int) throws {
    for seed in UInt64(block * 10)..<UInt64(block * 10 + 10) {
      let scenario = StreamSwarm.scenario(seed: seed)
      let elsewhere = Endpoint(host: "other", port: 4000)
      do {
        _ = try StreamSimulation(scenario, seed: seed) {
          PortionedProtocol(portion: 100, redirection: elsewhere)
        } serverEngine: {
          PortionedProtocol(portion: 100)
        }.run()
      } catch { Issue.record("seed \(seed): \(error)") }
    }
  }

  @Test("An engine whose backlog lies is found out", arguments: BentPortions.Bug.allCases)
  private func bug(_ bug: BentPortions.Bug) throws {
    var found: Violation?
    for seed in UInt64(0)..<20 where found == nil {
      let simulation = try StreamSimulation(StreamSwarm.scenario(seed: seed), seed: seed) {
        BentPortions(bug)
      } serverEngine: {
        PortionedProtocol(portion: 100)
      }
      do { _ = try simulation.run() } catch let violation as Violation { found = violation }
    }
    #expect(found.map { ["I11", "I12"].contains($0.invariant) } == true, "\(found as Any)")
  }
}
