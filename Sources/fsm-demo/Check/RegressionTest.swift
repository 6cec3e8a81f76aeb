package import NetSim

/// A scenario as a Swift test that wants it to go well: what a finding leaves behind.
package struct RegressionTest {
  private let scenario: Scenario
  /// What the test is called in reports, and what its function is called.
  private let title: String
  private let function: String
  private let remark: String

  /// Makes a test.
  /// - Parameters:
  ///   - title: Its name; one line.
  ///   - remark: What was seen when it was made.
  package init(_ scenario: Scenario, title: String, remark: String) {
    self.scenario = scenario
    self.title = title
    self.remark = remark
    var words = scenario.name.split { !$0.isASCII || !$0.isLetter && !$0.isNumber }.map(String.init)
    if words.isEmpty || words[0].first?.isNumber == true { words.insert("scenario", at: 0) }
    function =
      words[0].lowercased()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The test, to be pasted into a file of tests.
  package var text: String {
    var bare = scenario
    // The remark says it in lines that are short enough.
    bare.about = nil
    let json = ScenarioText.text(of: bare).split(separator: "\n").map { "    " + $0 }
    return """
      @Test("\(title)")
      func \(function)() throws {
      \(remark.wrapped(to: 94).map { "  // " + $0 }.joined(separator: "\n"))
        let json = #\"""
      \(json.joined(separator: "\n"))
          \"""#
        let scenario = try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
      \(run.map { "  " + $0 }.joined(separator: "\n"))
      }
      """
  }

  /// What its file imports, as a list.
  var imports: String {
    let names = ["Foundation", "NetSim", "Testing"] + (ownImport.map { [$0] } ?? [])
    return names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1])"
  }

  /// What it needs of the protocol that it is played in.
  private var ownImport: String? {
    switch scenario.over ?? .machine {
    case .machine: nil
    case .bytes: "Transports"
    case .webSocket: "fsm_demo"
    }
  }

  private var run: [String] {
    switch scenario.over ?? .machine {
    case .machine:
      ["var simulation = try Simulation(scenario, seed: scenario.seed)", "try simulation.run()"]
    case .bytes:
      [
        "let lines = try DelimiterFraming(",
        "  delimiter: .lf, acknowledgement: .echo, pingLine: Array(\"PING\".utf8))",
        "let simulation = try StreamSimulation(scenario, seed: scenario.seed) { lines }",
        "_ = try simulation.run()",
      ]
    case .webSocket:
      [
        "let talk = try WebSocketTalk(seed: scenario.seed)",
        "_ = try talk.simulation(of: scenario, seed: scenario.seed).run()",
      ]
    }
  }

  /// The test as a file of its own.
  package var file: String {
    """
    import ConnectionFSM
    import Foundation
    import NetSim
    import Testing
    \(ownImport.map { "import \($0)\n" } ?? "")
    \(text)

    """
  }
}
