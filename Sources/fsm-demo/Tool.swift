import ConnectionFSM
import Foundation

/// `fsm-demo`: the connection machine in virtual time and on real sockets.
@main
enum Tool {
  static let commands: [any Command.Type] = [
    TourCommand.self, ScenariosCommand.self, SimulateCommand.self, ServeCommand.self,
    ConnectCommand.self, TableCommand.self, WhyCommand.self, ReplayCommand.self,
    ViewCommand.self, ForkCommand.self, ExploreCommand.self, BenchCommand.self,
    CheckCommand.self, FleetCommand.self,
  ]

  /// How the user calls the tool, for commands that are there to be copied.
  static let invocation =
    Bundle.main.executablePath?.contains("/.build/") == true ? "swift run fsm-demo" : "fsm-demo"

  static func main() async {
    // A reader that went away is found out by write, which then ends the tool in the usual way; a
    // peer that went away is found out by the transport.
    signal(SIGPIPE, SIG_IGN)
    do throws(Failure) {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      Console.complain(error.message)
      exit(error.status.rawValue)
    }
  }

  private static func run(_ words: [String]) async throws(Failure) {
    // The tour has no word of its own: it is what happens without any, its options aside.
    if words.contains("--version") { return Console.print("fsm-demo \(packageVersion)") }
    guard let word = words.first, !word.hasPrefix("-") || word == "-h" || word == "--help" else {
      return try await run(TourCommand.self, words)
    }
    if ["help", "-h", "--help"].contains(word) { return try help(words.dropFirst().first) }
    let command = try command(named: word)
    try await run(command, Array(words.dropFirst()))
  }

  private static func run(_ command: any Command.Type, _ words: [String]) async throws(Failure) {
    var arguments = ArgumentList(words, command: command.name)
    if arguments.flag("--help") || arguments.flag("-h") { return Console.print(command.help) }
    let run = try command.init(&arguments)
    try arguments.finish()
    try await run.run()
  }

  private static func command(named name: String) throws(Failure) -> any Command.Type {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let names = commands.map { $0.name }.joined(separator: ", ")
    throw Failure(.usage, "there is no command “\(name)”; there are \(names), help")
  }

  private static func help(_ name: String?) throws(Failure) {
    guard let name else { return Console.print(Help.tool) }
    Console.print(try command(named: name).help)
  }
}

/// One command of the tool.
protocol Command: Sendable {
  /// Its word on the command line.
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// What `fsm-demo help NAME` prints.
  static var help: String { get }

  /// Takes what it understands out of the arguments.
  init(_ arguments: inout ArgumentList) throws(Failure)

  /// Does it.
  func run() async throws(Failure)
}
