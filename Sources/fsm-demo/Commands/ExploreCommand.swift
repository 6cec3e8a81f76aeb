import Foundation
import NetSim

/// Tries everything that can happen to the machine, slice by slice.
struct ExploreCommand: Command {
  static let name = "explore"
  static let summary = "Everything that can happen, tried, with every promise checked"
  static let help = Help.explore

  private let slices: [Slice]
  private let depth: Int?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    depth = try arguments.number(of: "--depth", in: 1...1000)
    let all: [Slice]
    do {
      all = try Slice.all()
    } catch {
      throw Failure(.failed, "explore: \(error)")
    }
    guard let name = try arguments.value(of: "--slice") else {
      slices = all
      return
    }
    slices = all.filter { $0.name == name }
    guard slices.isEmpty else { return }
    let known = all.map(\.name).joined(separator: ", ")
    throw arguments.usage("there is no slice “\(name)”; there are \(known)")
  }

  func run() throws(Failure) {
    #if DEBUG
      Console.complain("this is a debug build, some forty times slower; build with -c release")
    #endif
    Console.print(
      ["slice".padded(to: 12), "states".padded(left: 11), "transitions".padded(left: 13)]
        .joined() + "  depth       time  millions a second")
    var coverage = Coverage()
    var (states, transitions) = (0, 0)
    for slice in slices {
      let result = try explore(slice)
      coverage.formUnion(result.coverage)
      states += result.states
      transitions += result.transitions
    }
    Console.print(
      "\nEvery promise held in \(states.grouped) situations after \(transitions.grouped) steps.")
    if slices.count > 1, depth == nil { report(coverage) }
  }

  private func explore(_ slice: Slice) throws(Failure) -> Explorer.Result {
    var explorer = Explorer(slice)
    let clock = ContinuousClock()
    let start = clock.now
    do throws(Counterexample) {
      let result = try explorer.explore(depth: depth ?? slice.depth) { result in
        let row = Self.row(slice, result, seconds: (clock.now - start) / .seconds(1))
        Console.progress(row + " …")
      }
      Console.progress("")
      let row = Self.row(slice, result, seconds: (clock.now - start) / .seconds(1))
      Console.print(row + (result.isComplete ? "  fixed point" : "  to this depth"))
      return result
    } catch {
      Console.progress("")
      throw Failure(
        .failed, "explore: \(slice.name): \(error)\na bug of this package: please report it")
    }
  }

  private static func row(_ slice: Slice, _ result: Explorer.Result, seconds: Double) -> String {
    slice.name.padded(to: 12) + result.states.grouped.padded(left: 11)
      + result.transitions.grouped.padded(left: 13) + "\(result.depth)".padded(left: 7)
      + String(format: "%9.2f s%7.2f", seconds, Double(result.transitions) / seconds / 1e6)
  }

  private func report(_ coverage: Coverage) {
    let missing = coverage.missing
    Console.print(
      "\(coverage.count.grouped) of \((coverage.count + missing.count).grouped) pairs of a phase "
        + "and an input were seen. The others:")
    var reasons: [String] = []
    for pair in missing where !reasons.contains(pair.reason ?? "not seen") {
      reasons.append(pair.reason ?? "not seen")
    }
    for reason in reasons {
      let count = missing.count { ($0.reason ?? "not seen") == reason }
      Console.print("\(count)".padded(left: 6) + "  \(reason)")
    }
  }
}
