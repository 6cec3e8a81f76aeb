import ConnectionFSM
import NetSim
import Transports

/// A scenario whose words are understood, to be played to whoever listens: by the machine alone, or
/// by a connection over lines or a WebSocket over simulated bytes.
struct ScenarioPlay {
  private let play: (@escaping (Simulation.Event) -> Void, ((Segment) -> Void)?) throws -> Void

  init(_ scenario: Scenario, seed: UInt64) throws {
    switch scenario.over ?? .machine {
    case .machine:
      let simulation = try Simulation(scenario, seed: seed)
      play = { observe, _ in
        var run = simulation
        try run.run(observe)
      }
    case .bytes:
      let engine = try DelimiterFraming.ofScenarios()
      let simulation = try StreamSimulation(scenario, seed: seed) { engine }
      play = { _ = try simulation.run($0, capture: $1) }
    case .webSocket:
      // The scenario's own seed says how both ends talk, whatever the dice are.
      let simulation = try WebSocketTalk(seed: scenario.seed).simulation(of: scenario, seed: seed)
      play = { _ = try simulation.run($0, capture: $1) }
    }
  }

  /// - Parameter capture: Hears of the packets, where there are any.
  func run(
    _ observe: @escaping (Simulation.Event) -> Void, capture: ((Segment) -> Void)? = nil
  ) throws {
    try play(observe, capture)
  }
}
