import ConnectionFSM
import Foundation

/// Measures transitions beside a bare switch, and the simulator beside a bare loop, each pair in
/// one run.
struct BenchCommand: Command {
  static let name = "bench"
  static let summary = "What transitions and the simulator cost, beside bare code that does less"
  static let help = Help.bench

  private static let runs = 7

  private let isSimulatorAlone: Bool
  private let clients: Int

  init(_ arguments: inout ArgumentList) throws(Failure) {
    isSimulatorAlone = arguments.flag("--simulator")
    clients = try arguments.number(of: "--clients", in: 1...1_000_000) ?? 100_000
  }

  func run() throws(Failure) {
    #if DEBUG
      Console.complain("this is a debug build, whose figures mean little; build with -c release")
    #endif
    if !isSimulatorAlone { try runTransitions() }
    do {
      try SimulatorBench(clients: clients).run()
    } catch {
      throw Failure(.failed, "bench: \(error)")
    }
  }

  private func runTransitions() throws(Failure) {
    let cases: [BenchCase]
    do throws(PolicyError) {
      cases = try BenchCase.all()
    } catch {
      throw Failure(.failed, "bench: \(error)")
    }
    // Round robin, so that a slow moment of the computer falls on all of them.
    let rounds = cases.map(Self.calibrate)
    var times: [[Double]] = cases.map { _ in [] }
    for _ in 0..<Self.runs {
      for (place, bench) in cases.enumerated() {
        times[place].append(Self.measure(bench, rounds: rounds[place]))
      }
    }
    report(cases, times.map { $0.sorted()[Self.runs / 2] })
  }

  private func report(_ cases: [BenchCase], _ medians: [Double]) {
    let width = 32
    Console.print("".padded(to: width) + "ns a transition   × bare switch")
    for (bench, median) in zip(cases, medians) {
      let ratio = median / medians[0]
      Console.print(
        bench.name.padded(to: width) + String(format: "%15.1f   %13.1f", median, ratio))
    }
    Console.print("\nMedians of \(Self.runs) runs, taken in turn.")
  }

  /// How many rounds take about 30 ms.
  private static func calibrate(_ bench: BenchCase) -> Int {
    var rounds = 1000
    while measure(bench, rounds: rounds) * Double(rounds * bench.transitionsPerRound) < 3e7 {
      rounds *= 2
    }
    return rounds
  }

  /// Nanoseconds a transition.
  private static func measure(_ bench: BenchCase, rounds: Int) -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let sum = bench.run(rounds)
    let (seconds, attoseconds) = (clock.now - start).components
    // Looked at, so that the work cannot be optimized away.
    if sum == .min { Console.print("") }
    return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
      / Double(rounds * bench.transitionsPerRound)
  }
}
