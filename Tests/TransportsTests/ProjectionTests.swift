import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports

/// What a run comes to, without its times: the phases in order, the dials, the causes of the ends,
/// and each message's outcome.
private struct Projection: Equatable {
  var phases: [Phase] = [.idle]
  var dials = 0
  var causes: [Cause] = []
  var outcomes: [String] = []
}

private enum Story {
  static func scenario(_ name: String) throws -> Scenario {
    let path = Bundle.module.bundlePath + "/Fixtures/projection/\(name).json"
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return try JSONDecoder().decode(Scenario.self, from: data)
  }

  /// The labels of a step that sends.
  static func labels(_ text: String) -> [String] {
    guard let dots = text.range(of: "..") else {
      return text.split(separator: ",").map(String.init)
    }
    let first = text[..<dots.lowerBound]
    let prefix = String(first.prefix { !$0.isNumber })
    let numbers = (
      Int(first.dropFirst(prefix.count)) ?? 0,
      Int(text[dots.upperBound...].dropFirst(prefix.count)) ?? 0
    )
    return (numbers.0...numbers.1).map { "\(prefix)\($0)" }
  }
}

/// Runs the story in virtual time, and counts how many phases there had been when each step came.
private func simulate(_ scenario: Scenario) throws -> (Projection, phasesBefore: [Int]) {
  var projection = Projection()
  var entered: [Instant] = []
  var simulation = try Simulation(scenario, seed: scenario.seed)
  try simulation.run { event in
    guard case .step(let record) = event else { return }
    if record.to != record.from {
      projection.phases.append(record.to)
      entered.append(record.instant)
    }
    for effect in record.effects {
      if case .openTransport = effect { projection.dials += 1 }
      if case .ended(_, let cause) = effect { projection.causes.append(cause) }
    }
  }
  projection.outcomes = simulation.outcomes.sorted()
  let before = scenario.steps.map { step in
    1 + entered.count { $0 < .origin + TimeSpan(Duration.seconds(step.t)) }
  }
  return (projection, before)
}

/// Plays the same story over loopback; each step waits for events, never for time.
private func play(_ scenario: Scenario, _ phasesBefore: [Int]) async throws -> Projection {
  let rig = try StoryRig(policy: scenario.policy, seed: scenario.seed)
  // A port of our own, known before anybody listens on it.
  let endpoint = try await rig.startServer()
  await rig.killServer()
  let journal = rig.journal
  var sent: [String] = []
  for (step, count) in zip(scenario.steps, phasesBefore) {
    await rig.clientLoop.until { journal.phases.count >= count }
    switch step.ev {
    case "dev.foreground": break
    case "api.connect": rig.connection.connect(to: endpoint)
    case "api.send":
      for label in Story.labels(step.arg ?? "") {
        rig.send(label, in: step.lane ?? 0)
        sent.append(label)
      }
      // The next step finds them settled, if the link is open; in simulation they take no second.
      if journal.phases.last == .open { await rig.settled(sent) }
    case "api.close": await rig.connection.close()
    case "net.server_up": _ = try await rig.startServer(port: endpoint.port)
    case "net.server_down": await rig.killServer()
    case "net.fin": _ = try await rig.startServer(port: endpoint.port, fault: .acceptAndDrop)
    case "net.path_down": rig.connection.pathChanged(to: .down)
    case "net.path_up": rig.connection.pathChanged(to: .up)
    case "net.noop": await rig.settled(sent)
    default: Issue.record("the player does not know \(step.ev)")
    }
  }
  await rig.settled(sent)
  await rig.stop()
  return Projection(
    phases: journal.phases, dials: journal.dials, causes: journal.causes,
    outcomes: journal.outcomes.sorted())
}

extension RealSockets {
  @Suite("The same story in simulation and over loopback")
  struct SameStory {
    @Test(
      "F59: phases, dials, causes and outcomes agree",
      arguments: [
        "restart-under-a-held-path", "refused-until-given-up", "accepted-and-dropped",
        "close-while-open", "close-before-open",
      ])
    func projectionsAgree(name: String) async throws {
      let scenario = try Story.scenario(name)
      let (simulated, phasesBefore) = try simulate(scenario)
      for _ in 0..<10 {
        let real = try await play(scenario, phasesBefore)
        #expect(real == simulated)
      }
      #expect(simulated.phases.count > 2)
    }
  }
}
