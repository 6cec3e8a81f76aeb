import ConnectionFSM
import Foundation
import NetSim

struct CheckCommand: Command {
  static let name = "check"
  static let summary = "x"
  static let help = "x"
  let count: UInt64
  init(_ arguments: inout ArgumentList) throws(Failure) {
    count = try arguments.number(of: "--seeds", in: 1...UInt64.max) ?? 1000
  }
  func run() async throws(Failure) {
    var check = Check()
    let clock = ContinuousClock()
    let start = clock.now
    var shown = 0
    for seed in 0..<count {
      if let failure = check.run(seed: seed) {
        shown += 1
        if shown < 30 {
          Console.print(
            "\(failure.seed) \(failure.seconds) \(failure.promise): \(failure.finding)")
        }
      }
    }
    if let failure = check.summary.failures.first,
      let which = ProcessInfo.processInfo.environment["SHRINK"]
    {
      let f = check.summary.failures.first { "\($0.seed)" == which } ?? failure
      let begin = clock.now
      let minimal = Check.minimal(of: f)
      Console.print("shrunk in \(clock.now - begin)")
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      for step in minimal.steps {
        Console.print(
          "\(step.t) \(step.ev) \(step.arg ?? "") \(step.lane.map{"lane \($0)"} ?? "") \(step.bytes.map{"\($0)B"} ?? "")"
        )
      }
      if let d = try? encoder.encode(minimal) {
        try? d.write(to: URL(fileURLWithPath: "/tmp/min.json"))
      }
    }
    let s = check.report
    Console.print(
      "\(s.stories) stories \(s.steps) steps \(s.dials) dials \(s.messages) failures \(s.failures.count) in \(clock.now - start) digest \(s.digest)"
    )
    Console.print("\(s.cells.count) cells")
  }
}
