import ConnectionFSM
import Foundation
import NetSim

/// Tries everything that can happen to the machine.
struct ExploreCommand: Command {
  static let name = "explore"
  static let summary = "Try everything that can happen, with every promise checked"
  static let help = Help.explore

  private let sliceName: String?
  private let depth: Int?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    sliceName = try arguments.value(of: "--slice")
    depth = try arguments.number(of: "--depth", in: 1...1000)
  }

  func run() throws(Failure) {
    var slices: [Slice]
    do throws(PolicyError) {
      slices = try Slice.all()
    } catch {
      throw Failure(.failed, "explore: \(error)")
    }
    if let sliceName {
      let names = slices.map(\.name).joined(separator: ", ")
      slices.removeAll { $0.name != sliceName }
      if slices.isEmpty {
        throw Failure(.usage, "explore: there is no slice “\(sliceName)”; there are \(names)")
      }
    }
    var cov = Coverage()
    for slice in slices {
      if ProcessInfo.processInfo.environment["FORMS"] != nil {
        var check = FormCheck(slice)
        do { Console.print("\(slice.name) \(try check.check(states: 3000, pairs: 20000)) pairs") } catch { Console.print("\(error)") }
        continue
      }
      var explorer = Explorer(slice)
      let clock = ContinuousClock()
      let start = clock.now
      do {
        let result = try explorer.explore(
          depth: depth, stateLimit: slice.hasEnd ? 3_000_000 : 300_000)
        cov.formUnion(result.coverage)
        let t = (clock.now - start) / .seconds(1)
        Console.print(
          "\(slice.name.padded(to: 12)) \(result.states) states \(result.transitions) transitions depth \(result.depth) \(result.isComplete) \(t) s \(Double(result.transitions) / t / 1e6) M/s"
        )
      } catch {
        Console.print("\(slice.name): \(error)")
      }
    }
    for move in Move.allCases {
      let missing = Phase.allCases.filter { !cov.wasMade(move, in: $0) }
      if !missing.isEmpty { Console.print("UNREACHED \(move): \(missing)") }
    }
  }
}
