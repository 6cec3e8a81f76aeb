import NetSim

/// Prints the transition table or the state diagram.
struct TableCommand: Command {
  static let name = "table"
  static let summary =
    "The transition table and the state diagram, found out by driving the machine"
  static let help = Help.table

  private enum Format: String, CaseIterable {
    case text
    case mermaid
    case dot
    case markdown
  }

  private let format: Format

  init(_ arguments: inout ArgumentList) throws(Failure) {
    format = try arguments.choice(of: "--format") ?? .text
  }

  func run() throws(Failure) {
    let table: TransitionTable
    do {
      table = try TransitionTable()
    } catch {
      throw Failure(.failed, "table: \(error); a bug of this package: please report it")
    }
    switch format {
    case .text: Console.print(table.text)
    case .mermaid: Console.print(table.mermaid)
    case .dot: Console.print(table.dot)
    case .markdown: Console.print(table.markdown)
    }
  }
}
