import ConnectionFSM
import NetSim

/// What happens without any word: the life of a connection, told and summed up.
struct TourCommand: Command {
  static let name = "tour"
  static let summary = "The whole life of a connection, in virtual time (what no command does, too)"
  static let help = Help.tour

  private let options: RunOptions

  init(_ arguments: inout ArgumentList) throws(Failure) {
    options = try RunOptions(&arguments)
  }

  func run() throws(Failure) {
    let scenario = try ScenarioFile.builtIn("tour")
    let run = ScenarioRun(scenario, from: "tour", options: options)
    let statistics = try run.run()
    guard options.tells else { return }
    let demo = Tool.invocation
    Console.print(
      """

      That was a whole life: \(statistics.figures) of virtual time.
      Each message ended once: \(statistics.messagesInWords ?? "there were none").
      Every wait was drawn from seed \(run.seed), which gives the same bytes on every computer.

      Replay it     \(demo) --seed \(run.seed)
      Other dice    \(demo) --seed \(run.seed &+ 1)
      More stories  \(demo) scenarios
      Real sockets  \(demo) serve tcp://127.0.0.1:7000
                    \(demo) connect tcp://127.0.0.1:7000     (in another terminal)
      """)
  }
}
