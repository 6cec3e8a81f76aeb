import NetSim

/// Lists the built-in scenarios, or prints the file of one.
struct ScenariosCommand: Command {
  static let name = "scenarios"
  static let summary = "List the built-in scenarios, or print one as a file to start from"
  static let help = Help.scenarios

  private let shown: String?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    shown = arguments.operand()
  }

  func run() throws(Failure) {
    guard let shown else { return try list() }
    _ = try ScenarioFile.builtIn(shown)
    if let scenario = BuiltInScenario.named(shown) { Console.print(scenario.json) }
  }

  private func list() throws(Failure) {
    let width = BuiltInScenario.all.map(\.name.count).max() ?? 0
    for builtIn in BuiltInScenario.all {
      let about = try ScenarioFile.builtIn(builtIn.name).about ?? ""
      Console.print(builtIn.name.padded(to: width) + "  " + about)
    }
  }
}
