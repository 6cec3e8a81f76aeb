import ConnectionFSM

/// Repeats one kind of transition, for tools that count what it costs.
@main
struct TransitionBench {
  static func main() throws(PolicyError) {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let mode = arguments.first.flatMap(Mode.init(rawValue:)),
      let rounds = arguments.last.flatMap(UInt64.init)
    else {
      print("usage: transition-bench MODE ROUNDS")
      print("modes: \(Mode.allCases.map(\.rawValue).joined(separator: " "))")
      return
    }
    let driver = try mode.driver()
    for index in 0..<rounds where !mode.round(driver, index) {
      fatalError("\(mode): round \(index) did something else")
    }
  }
}
