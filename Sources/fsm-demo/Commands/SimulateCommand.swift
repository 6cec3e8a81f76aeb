import ConnectionFSM
import NetSim

/// Runs a scenario file, or a built-in one.
struct SimulateCommand: Command {
  static let name = "simulate"
  static let summary = "Run a scenario file, or a built-in scenario, in virtual time"
  static let help = Help.simulate

  private enum Source {
    case file(String)
    case builtIn(String)
  }

  private let source: Source
  private let options: RunOptions
  /// Seconds between pings, for a condition.
  private let ping: UInt64?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    options = try RunOptions(&arguments)
    ping = try arguments.number(of: "--ping", in: 1...86_400)
    let name = try arguments.value(of: "--scenario")
    switch (name, arguments.operand()) {
    case (let name?, nil): source = .builtIn(name)
    case (nil, let path?): source = .file(path)
    case (nil, nil): throw arguments.usage("name a scenario file, or --scenario NAME")
    case (_?, _?): throw arguments.usage("give a file or --scenario, not both")
    }
  }

  func run() throws(Failure) {
    switch source {
    case .file(let path): try run(ScenarioFile.read(path), from: path)
    case .builtIn(let name):
      guard let condition = ConditionRun.condition(named: name) else {
        return try run(ScenarioFile.builtIn(name), from: name)
      }
      let run = ConditionRun(
        condition: condition, seed: options.seed ?? 1, options: options,
        ping: ping.map { .seconds(Int64($0)) })
      report(try run.run(), "\(name) is over")
    }
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
