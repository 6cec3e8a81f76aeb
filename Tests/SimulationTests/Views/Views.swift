import ConnectionFSM
import Foundation
import NetSim
import Testing

/// Views of whole runs, as `fsm-demo simulate` makes them.
enum Views {
  static let names = BuiltInScenario.all.map(\.name)

  /// Runs a built-in scenario before a view.
  static func show<View: TraceView>(_ name: String, in view: View) throws -> View {
    let builtIn = try #require(BuiltInScenario.named(name))
    return try show(json: builtIn.json, in: view)
  }

  /// Runs a scenario before a view, which gets no notes if it is a recorded trace's.
  static func show<View: TraceView>(
    json: String, in view: View, withNotes: Bool = true
  ) throws -> View {
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
    var view = view
    var simulation = try Simulation(scenario, seed: scenario.seed)
    try simulation.run { event in
      switch event {
      case .step(let record): view.add(record)
      case .note(let instant, let note): if withNotes { view.note(note, at: instant) }
      }
    }
    return view
  }

  /// A story whose notes would break out of anything that does not escape them.
  static let hostile = #"""
    {
      "version": 1, "name": "hostile", "seed": 1, "policy": {},
      "steps": [
        { "t": 0, "ev": "net.server_up",
          "note": "</script><script>alert(1)</script> & \"quoted\" \\ \u0001\u2028é\n<!-- x" },
        { "t": 0, "ev": "api.connect" }
      ]
    }
    """#
}
