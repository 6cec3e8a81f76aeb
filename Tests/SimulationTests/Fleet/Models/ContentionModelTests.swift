import ConnectionFSM
import Foundation
import NetSim
import Testing

/// The model of the AWS article, against its simulator's figures.
@Suite("contention model")
struct ContentionModelTests {
  enum Algorithm: String, CaseIterable, Sendable {
    case exponential = "Exponential"
    case decorrelated = "Decorr"
    case equalJitter = "EqualJitter"
    case fullJitter = "FullJitter"
    case none = "None"

    var wait: ContentionModel.Wait {
      switch self {
      case .exponential: Self.doubling(.none)
      case .decorrelated: .decorrelated(base: .milliseconds(5), cap: .seconds(2))
      case .equalJitter: Self.doubling(.equal)
      case .fullJitter: Self.doubling(.full)
      case .none:
        .backoff(Backoff(strategy: .constant, first: .zero, base: .zero, jitter: .none))
      }
    }

    // 5 ms · 2ⁿ with n from 1.
    private static func doubling(_ jitter: Backoff.Jitter) -> ContentionModel.Wait {
      .backoff(
        Backoff(
          strategy: .doubling, first: .milliseconds(10), base: .milliseconds(10),
          cap: .seconds(2), jitter: jitter))
    }

    /// How time and calls grow with the clients: the slopes in a plot of logarithms.
    var slopes: (calls: Double, time: Double) {
      switch self {
      case .exponential: (1.59, 0.76)
      case .decorrelated: (1.40, 0.94)
      case .equalJitter: (1.21, 0.59)
      case .fullJitter: (1.25, 0.69)
      case .none: (1.84, 0.85)
      }
    }
  }

  #if DEBUG
    static let (sizes, trials) = ([10, 50], 20)
  #else
    static let (sizes, trials) = (
      Array(stride(from: 10, through: 190, by: 10)), Thoroughness.isFull ? 1000 : 100
    )
  #endif

  struct Cell {
    let time: Sample
    let calls: Sample

    init(_ algorithm: Algorithm, clients: Int, trials: Int) throws {
      let model = try ContentionModel(clients: clients, wait: algorithm.wait)
      var (times, calls): ([Double], [Double]) = ([], [])
      for trial in 0..<trials {
        let outcome = model.run(seed: UInt64(clients) << 32 | UInt64(trial))
        // Each client succeeds once.
        #expect(outcome.calls - outcome.failures == clients)
        times.append(Double(outcome.duration.nanoseconds) / 1e6)
        calls.append(Double(outcome.calls))
      }
      (time, self.calls) = (Sample(times), Sample(calls))
    }
  }

  @Test(
    "time and calls are the article's within four standard errors, and grow as they do there",
    arguments: Algorithm.allCases)
  func agrees(algorithm: Algorithm) throws {
    let table = try ReferenceTable("aws-backoff-reference")
    var worst = 0.0
    var points: [(size: Double, cell: Cell)] = []
    for size in Self.sizes {
      let cell = try Cell(algorithm, clients: size, trials: Self.trials)
      let row = try table.row("\(size)", algorithm.rawValue)
      for (name, sample) in [("time_ms", cell.time), ("calls", cell.calls)] {
        let expected = try #require(row["\(name)_mean"])
        let error = try #require(row["\(name)_se"])
        let combined = (error * error + sample.standardError * sample.standardError).squareRoot()
        let deviation = abs(sample.mean - expected) / combined
        worst = max(worst, deviation)
        #expect(deviation <= 4, "\(size) clients, \(name): \(sample.mean), not \(expected)")
      }
      if size >= 50 { points.append((Double(size), cell)) }
    }
    Thoroughness.report(
      "contention, \(algorithm.rawValue)", worst: worst, unit: "combined standard errors",
      of: 2 * Self.sizes.count)
    guard points.count > 2 else { return }
    let calls = Self.slope(points.map { ($0.size, $0.cell.calls.mean) })
    let time = Self.slope(points.map { ($0.size, $0.cell.time.mean) })
    // Half of the last printed digit, and what chance leaves of a hundred trials.
    #expect(abs(calls - algorithm.slopes.calls) < 0.01, "calls: \(calls)")
    #expect(abs(time - algorithm.slopes.time) < 0.015, "time: \(time)")
  }

  @Test("F11: of 100 clients jitter saves more than half of the calls, as the article says")
  func jitterSavesCalls() throws {
    let trials = min(Self.trials, 100)
    let full = try Cell(.fullJitter, clients: 100, trials: trials).calls.mean
    let exponential = try Cell(.exponential, clients: 100, trials: trials).calls.mean
    let none = try Cell(.none, clients: 100, trials: trials).calls.mean
    #expect(abs(exponential / full - 2.33) < 0.03)
    #expect(abs(none / full - 3.05) < 0.03)
  }

  @Test("F59: one seed gives one outcome, another seed another")
  func isDeterministic() throws {
    let model = try ContentionModel(clients: 20, wait: Algorithm.fullJitter.wait)
    #expect(model.run(seed: 1) == model.run(seed: 1))
    #expect(model.run(seed: 1) != model.run(seed: 2))
  }

  @Test("settings that cannot be are refused by name")
  func refusesBadSettings() {
    func fault(clients: Int = 1, _ wait: ContentionModel.Wait) -> String? {
      do throws(FleetError) {
        _ = try ContentionModel(clients: clients, wait: wait)
        return nil
      } catch { return error.setting }
    }
    #expect(fault(.backoff(Backoff())) == nil)
    #expect(fault(clients: 0, .backoff(Backoff())) == "clients")
    #expect(fault(.backoff(Backoff(cap: .zero))) == "wait.backoff.cap")
    let wait = ContentionModel.Wait.decorrelated(base: .seconds(2), cap: .seconds(1))
    #expect(fault(wait) == "wait.decorrelated")
  }

  /// The slope of the line through the logarithms, by least squares.
  private static func slope(_ points: [(Double, Double)]) -> Double {
    let logs = points.map { (log($0.0), log($0.1)) }
    let count = Double(logs.count)
    let x = logs.reduce(0) { $0 + $1.0 } / count
    let y = logs.reduce(0) { $0 + $1.1 } / count
    let above = logs.reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) }
    return above / logs.reduce(0) { $0 + ($1.0 - x) * ($1.0 - x) }
  }
}
