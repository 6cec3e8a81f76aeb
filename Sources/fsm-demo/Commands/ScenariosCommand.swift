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
    if let condition = ConditionRun.condition(named: shown) { return describe(condition) }
    _ = try ScenarioFile.builtIn(shown)
    if let scenario = BuiltInScenario.named(shown) { Console.print(scenario.json) }
  }

  private func list() throws(Failure) {
    Console.print("Stories: files to start from, with what is expected")
    let width = BuiltInScenario.all.map(\.name.count).max() ?? 0
    for builtIn in BuiltInScenario.all {
      let about = try ScenarioFile.builtIn(builtIn.name).about ?? ""
      Console.print("  " + builtIn.name.padded(to: width) + "  " + about)
    }
    Console.print("\nConditions: a connection over simulated bytes, and where the figures are from")
    for condition in Condition.all { list(condition) }
    Console.print("\nLinks: the same, and nothing befalls")
    for link in LinkProfile.all { list(Condition(link: link)) }
  }

  private func list(_ condition: Condition) {
    Console.print("  " + condition.name)
    for text in [condition.about + ".", "[" + condition.source + "]"] {
      for line in text.wrapped(to: Self.columns - 6) { Console.print("      " + line) }
    }
  }

  private static let columns = 100

  private func describe(_ condition: Condition) {
    Console.print("\(condition.name): \(condition.about).")
    Console.print("Source: \(condition.source).")
    Console.print(
      "Lasts \(condition.duration) s. It is no file; run it with "
        + "fsm-demo simulate --scenario \(condition.name)")
  }
}
