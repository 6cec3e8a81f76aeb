import ConnectionFSM
import NetSim

/// Runs a scenario file, or a built-in one.
struct SimulateCommand: Command {
  static let name = "simulate"
  static let summary = "Run a scenario file, or a built-in scenario, in virtual time"
  static let help = Help.simulate

  private let source: ScenarioSource
  private let options: RunOptions
  /// Seconds between pings, for a condition.
  private let ping: UInt64?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    options = try RunOptions(&arguments)
    ping = try arguments.number(of: "--ping", in: 1...86_400)
    source = try ScenarioSource(&arguments)
  }

  func run() throws(Failure) {
    guard case .builtIn(let name) = source, let condition = ConditionRun.condition(named: name)
    else {
      return try run(source.scenario(), from: source.name)
    }
    let run = ConditionRun(
      condition: condition, seed: options.seed ?? 1, options: options,
      ping: ping.map { .seconds(Int64($0)) })
    report(try run.run(), "\(name) is over")
  }

  private func run(_ scenario: Scenario, from source: String) throws(Failure) {
    guard ping == nil else {
      throw Failure(.usage, "--ping is for conditions; a story has its own policy")
    }
    let run = ScenarioRun(scenario, from: source, options: options)
    report(try run.run(), "\(scenario.name) went as it says")
  }

  private func report(_ statistics: Statistics, _ verdict: String) {
    guard options.tells else { return }
    Console.print("\n\(verdict): \(statistics.figures) of virtual time.")
    if let messages = statistics.messagesInWords { Console.print("Messages: \(messages).") }
  }
}
