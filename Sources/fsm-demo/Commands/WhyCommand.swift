import ConnectionFSM

/// Tells what led to a step of a trace.
struct WhyCommand: Command {
  static let name = "why"
  static let summary = "What led to a step of a trace, from the first cause on"
  static let help = Help.why

  private let path: String
  private let step: UInt64

  init(_ arguments: inout ArgumentList) throws(Failure) {
    guard let path = arguments.operand(), let step = arguments.operand() else {
      throw arguments.usage("name a trace and the number of a step")
    }
    guard let number = UInt64(step), number > 0 else {
      throw arguments.usage("“\(step)” is no number of a step: those count from 1")
    }
    self.path = path
    self.step = number
  }

  func run() throws(Failure) {
    let table = StepTable(upTo: step)
    let chain = try TraceFile.chain(to: step, in: path)
    Console.print(table.head)
    for step in chain { Console.print(table.line(step)) }
  }
}
