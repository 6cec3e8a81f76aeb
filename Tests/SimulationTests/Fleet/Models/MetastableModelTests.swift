import ConnectionFSM
import NetSim
import Testing

/// The example of the HotOS paper, against its figures and those of another program.
@Suite("metastable model")
struct MetastableModelTests {
  struct Cell: CustomTestStringConvertible, Sendable {
    let rate: Int
    let retry: MetastableModel.Retry

    var testDescription: String { "\(rate) a second, retry \(retry)" }

    var name: String {
      switch retry {
      case .none: "noretry"
      case .once: "retry1"
      case .onceWithToken: "retry1_tokenbucket_cap10_p0.1"
      }
    }

    func runs(_ count: UInt64) throws -> [MetastableModel.Outcome] {
      let model = try MetastableModel(requestsPerSecond: rate, retry: retry)
      return (1...count).map { model.run(seed: $0) }
    }
  }

  #if DEBUG
    static let (rates, runs, longRuns): ([Int], UInt64, UInt64) = ([200], 3, 1)
  #else
    static let rates = [100, 120, 140, 145, 149, 155, 160, 180, 200, 240, 280]
    static let longRuns: UInt64 = 5
    static let runs: UInt64 = Thoroughness.isFull ? 20 : 5
  #endif
  static let cells = rates.flatMap { rate in
    [MetastableModel.Retry.none, .once, .onceWithToken].map { Cell(rate: rate, retry: $0) }
  }

  @Test(
    "load, goodput and recovery after a short outage are those of another program",
    arguments: cells)
  func agrees(cell: Cell) throws {
    let row = try ReferenceTable("metastable-reference").row("\(cell.rate)", cell.name)
    let outcomes = try cell.runs(Self.runs)
    var worst = 0.0
    for (name, digits, values) in [
      ("goodput_ratio", 0.000_05, outcomes.map(\.goodput)),
      ("offered_per_s", 0.005, outcomes.map(\.offeredPerSecond)),
    ] {
      let (expected, deviation) = try (
        #require(row["\(name)_mean"]), #require(row["\(name)_sd"])
      )
      let sample = Sample(values)
      // Both are means of the same thing. By the reference's deviation, since few runs of ours say
      // little of theirs.
      let chance = deviation * (1.0 / 20 + 1 / Double(Self.runs)).squareRoot()
      worst = max(worst, abs(sample.mean - expected) / max(chance, digits))
      #expect(
        abs(sample.mean - expected) <= 4 * chance + digits,
        "\(name): \(sample.mean), not \(expected) ± 4 · \(chance)")
    }
    Thoroughness.report(
      "metastable, \(cell.rate), \(cell.name)", worst: worst,
      unit: "combined standard errors", of: 2)
    // A run that has not recovered by its end counts as one that does so later.
    let recoveries = outcomes.map { $0.recovery ?? .max }.sorted()
    let median = recoveries[recoveries.count / 2]
    guard let least = row["recovery_s_min"], let most = row["recovery_s_max"] else {
      #expect(median == .max)
      return
    }
    #expect((Int(least)...Int(most)).contains(median))
  }

  @Test("a retry holds a server for 300 a second at 560 from 280, and nobody is answered in time")
  func staysDown() throws {
    let outcomes = try Cell(rate: 280, retry: .once).runs(Self.runs)
    #expect(outcomes.allSatisfy { $0.goodput == 0 && $0.recovery == nil })
    #expect(abs(Sample(outcomes.map(\.offeredPerSecond)).mean - 560) <= 5)
  }

  @Test("below half of the capacity a server with retries comes back in ten minutes, above never")
  func recoversBelowTheThreshold() throws {
    for seed in 1...Self.longRuns {
      let below = try MetastableModel(requestsPerSecond: 145, retry: .once, seconds: 600)
      let above = try MetastableModel(requestsPerSecond: 155, retry: .once, seconds: 600)
      #expect(below.run(seed: seed).recovery != nil)
      #expect(above.run(seed: seed).recovery == nil)
    }
  }

  @Test("F59: one seed gives one outcome, another seed another")
  func isDeterministic() throws {
    let model = try MetastableModel(requestsPerSecond: 200, retry: .onceWithToken)
    #expect(model.run(seed: 1) == model.run(seed: 1))
    #expect(model.run(seed: 1) != model.run(seed: 2))
  }

  @Test("settings that cannot be are refused by name")
  func refusesBadSettings() {
    func fault(rate: Int = 1, capacity: Int = 300, seconds: Int = 180) -> String? {
      do throws(FleetError) {
        _ = try MetastableModel(
          requestsPerSecond: rate, capacityPerSecond: capacity, retry: .none, seconds: seconds)
        return nil
      } catch { return error.setting }
    }
    #expect(fault() == nil)
    #expect(fault(rate: 0) == "requestsPerSecond")
    #expect(fault(capacity: 0) == "capacityPerSecond")
    #expect(fault(seconds: 169) == "seconds")
  }
}
