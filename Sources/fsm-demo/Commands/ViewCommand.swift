import ConnectionFSM
import NetSim

/// Shows a recorded trace in another way than it was written.
struct ViewCommand: Command {
  static let name = "view"
  static let summary = "Show a recorded trace as columns, a diagram, a page or trace events"
  static let help = Help.view

  private enum Format: String, CaseIterable {
    case text, sequence, html, chrome

    var runFormat: RunFormat {
      switch self {
      case .text: .text
      case .sequence: .sequence
      case .html: .html
      case .chrome: .chrome
      }
    }
  }

  private let path: String
  private let options: RunOptions

  init(_ arguments: inout ArgumentList) throws(Failure) {
    let format = try arguments.choice(of: "--format", Format.self) ?? .text
    options = RunOptions(format: format.runFormat, path: try arguments.value(of: "--output"))
    guard let path = arguments.operand() else { throw arguments.usage("name a trace") }
    self.path = path
  }

  func run() throws(Failure) {
    var file = try TraceFile(path)
    let header = try file.header()
    var replay: Replay
    do throws(ReplayError) { replay = try Replay(header) } catch {
      throw file.problem("\(error)")
    }
    let title = path.split(separator: "/").last.map(String.init) ?? path
    var writer = try RunWriter(options, title: title, seed: header.seed, reading: path)
    // What could be read is shown also of a damaged file.
    defer { writer.finish() }
    writer.begin(policy: header.policy, seed: header.seed)
    while let line = try file.next() {
      do throws(ReplayError) { writer.step(try replay.next(line)) } catch {
        guard case .different = error else { throw file.problem("\(error)") }
        throw Failure(
          .failed,
          "\(path): line \(file.line): step \(line.sequence) does not replay, and the view ends "
            + "before it; fsm-demo replay says what differs")
      }
    }
  }
}
