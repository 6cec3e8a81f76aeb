import ConnectionFSM
import Testing

private let year = TimeSpan.seconds(365 * 24 * 3600)

/// A backoff of which every knob is named; by default exact and far from its cap.
private func backoff(
  _ strategy: Backoff.Strategy, first: TimeSpan = .seconds(5), base: TimeSpan = .seconds(2),
  cap: TimeSpan = .seconds(60), jitter: Backoff.Jitter = .none, firstJitter: Backoff.Jitter? = nil
) -> Backoff {
  Backoff(
    strategy: strategy, first: first, base: base, cap: cap, jitter: jitter,
    firstJitter: firstJitter, stability: .seconds(10), attemptLimit: nil, elapsedLimit: nil)
}

private func table(_ seconds: Int64...) -> Backoff.Strategy {
  .table(Backoff.Table(seconds.map { .seconds($0) }))
}

@Suite("Backoff strategies")
struct BackoffStrategyTests {
  private static let series: [(Backoff.Strategy, [Int64])] = [
    (.constant, [5, 2, 2, 2, 2, 2]),
    (.linear, [5, 4, 6, 8, 10, 12]),
    (.doubling, [5, 4, 8, 16, 32, 60]),
    (.exponential(percent: 300), [5, 6, 18, 54, 60, 60]),
    (table(7), [7, 7, 7, 7, 7, 7]),
    (table(1, 90, 3), [1, 60, 3, 3, 3, 3]),
  ]

  @Test("the steps of each strategy under a cap of 60 seconds", arguments: series)
  func steps(strategy: Backoff.Strategy, seconds: [Int64]) {
    let backoff = backoff(strategy)
    #expect((0..<6).map { backoff.step(afterFailures: $0) } == seconds.map { .seconds($0) })
  }

  @Test("a growth that is no whole number of nanoseconds is rounded up at each step")
  func rounding() {
    let backoff = backoff(.exponential(percent: 150), base: .nanoseconds(1))
    let steps = (1...6).map { backoff.step(afterFailures: $0).nanoseconds }
    #expect(steps == [2, 3, 5, 8, 12, 18])
  }

  @Test("the default is doubling, and says so")
  func defaults() {
    #expect(Backoff().strategy == .doubling)
    #expect(Backoff.Strategy.doubling == .exponential(percent: 200))
  }

  @Test("a full table keeps all of its 16 steps")
  func fullTable() {
    let steps = (1...16).map { TimeSpan.seconds($0) }
    let table = Backoff.Table(steps)
    #expect(table.steps == steps)
    let backoff = backoff(.table(table))
    #expect((0..<16).map { backoff.step(afterFailures: $0) } == steps)
    #expect(backoff.step(afterFailures: .max) == .seconds(16))
  }

  private static let strategies: [Backoff.Strategy] = [
    .constant, .linear, .doubling, .exponential(percent: 101), .exponential(percent: 160),
    .exponential(percent: 1000), table(0, 1, 2), .table(Backoff.Table(repeating: year)),
  ]
  private static let jitters: [Backoff.Jitter] = [
    .none, .full, .equal, .decorrelated, .within(percent: 100), .above(percent: 100),
    .added(year), .fullOver(.nanoseconds(1)),
  ]

  @Test(
    "I6, RC029: up to 10⁹ failures and beyond nothing overflows or shrinks, with any jitter",
    arguments: strategies, jitters)
  func noOverflow(strategy: Backoff.Strategy, jitter: Backoff.Jitter) {
    let many: [UInt32] = [100, 4_000, 1_000_000, 1_000_000_000, .max - 1, .max]
    for unit in [TimeSpan.zero, .nanoseconds(1), .seconds(2), year] {
      for cap in [TimeSpan.nanoseconds(7), .seconds(60), year] {
        let backoff = backoff(strategy, first: .zero, base: unit, cap: cap, jitter: jitter)
        var random = SplitMix64(seed: 9)
        var last = TimeSpan.zero
        var wait = TimeSpan.zero
        for failures in [UInt32](0...70) + many {
          let step = backoff.step(afterFailures: failures)
          if step < last || step > cap { Issue.record("step \(step) after \(last)") }
          last = step
          wait = backoff.wait(afterFailures: failures, previous: wait, using: &random)
          let ceiling = backoff.ceiling(afterFailures: failures)
          if wait < .zero || wait > ceiling || ceiling > backoff.longestWait {
            Issue.record("\(wait) above \(ceiling) or that above \(backoff.longestWait)")
          }
        }
      }
    }
  }

  @Test("values that no policy takes give some wait all the same, and no trap")
  func unvalidated() {
    let extremes = [Int64.min, -1, 0, 1, .max].map { TimeSpan(nanoseconds: $0) }
    let strategies: [Backoff.Strategy] = [
      .linear, .exponential(percent: 0), .exponential(percent: 100), .exponential(percent: .max),
      .table(Backoff.Table([])), .table(Backoff.Table(repeating: extremes[0])),
    ]
    let jitters: [Backoff.Jitter] = [
      .full, .equal, .decorrelated, .within(percent: .max), .above(percent: .max),
      .added(extremes[0]), .added(extremes[4]), .fullOver(extremes[0]), .fullOver(extremes[4]),
    ]
    var random = SplitMix64(seed: 2)
    for strategy in strategies {
      for jitter in jitters {
        for first in extremes {
          for cap in extremes {
            let backoff = backoff(strategy, first: first, base: first, cap: cap, jitter: jitter)
            for failures in [0, 1, 5, UInt32.max] {
              _ = backoff.wait(afterFailures: failures, previous: cap, using: &random)
              _ = backoff.ceiling(afterFailures: failures)
            }
          }
        }
      }
    }
  }
}

extension Backoff.Table {
  fileprivate init(repeating step: TimeSpan) { self.init(Array(repeating: step, count: 16)) }
}

@Suite("Backoff jitter")
struct BackoffJitterTests {
  /// A jitter and the range of its waits in milliseconds around a step of 8 seconds, and around the
  /// cap of 60.
  struct Spread: CustomTestStringConvertible, Sendable {
    let jitter: Backoff.Jitter
    let range: ClosedRange<Int64>
    let atCap: ClosedRange<Int64>
    var testDescription: String { "\(jitter)" }
  }

  private static let spreads = [
    Spread(jitter: .full, range: 0...8_000, atCap: 0...60_000),
    Spread(jitter: .equal, range: 4_000...8_000, atCap: 30_000...60_000),
    Spread(jitter: .within(percent: 20), range: 6_400...9_600, atCap: 48_000...72_000),
    Spread(jitter: .within(percent: 100), range: 0...16_000, atCap: 0...120_000),
    Spread(jitter: .above(percent: 15), range: 8_000...9_200, atCap: 60_000...69_000),
    Spread(jitter: .added(.milliseconds(100)), range: 8_000...8_100, atCap: 60_000...60_100),
    Spread(jitter: .fullOver(.milliseconds(500)), range: 500...8_500, atCap: 500...60_000),
    // The wait before was 5 seconds; 40 at the cap.
    Spread(jitter: .decorrelated, range: 2_000...15_000, atCap: 2_000...60_000),
  ]

  private func draws(
    _ jitter: Backoff.Jitter, failures: UInt32, previous: Int64, seed: UInt64
  ) -> [Int64] {
    let backoff = backoff(.doubling, jitter: jitter)
    var random = SplitMix64(seed: seed)
    return (1...10_000).map { _ in
      backoff.wait(afterFailures: failures, previous: .seconds(previous), using: &random)
        .nanoseconds
    }
  }

  private func judge(_ draws: [Int64], within range: ClosedRange<Int64>) {
    let (low, high) = (range.lowerBound * 1_000_000, range.upperBound * 1_000_000)
    let width = high - low
    #expect(draws.allSatisfy { $0 >= low && $0 <= high })
    // Uniform: five standard deviations of a mean of 10,000 are 1.5 % of the width, those of a bin
    // of one in ten are 150.
    let mean = draws.reduce(0) { $0 + ($1 - low) / 10_000 }
    #expect(abs(mean - width / 2) < width * 15 / 1000)
    var bins = [Int](repeating: 0, count: 10)
    for draw in draws { bins[min(9, Int((draw - low) * 10 / width))] += 1 }
    #expect(bins.allSatisfy { abs($0 - 1000) < 150 })
  }

  @Test("F11: waits fill the range of their jitter evenly and keep within it", arguments: spreads)
  func distribution(spread: Spread) {
    judge(draws(spread.jitter, failures: 2, previous: 5, seed: 11), within: spread.range)
  }

  @Test("F11: and at the cap, where two seeds still differ in every wait", arguments: spreads)
  func distributionAtCap(spread: Spread) {
    for failures in [UInt32(20), 1_000_000_000] {
      let one = draws(spread.jitter, failures: failures, previous: 40, seed: 12)
      let other = draws(spread.jitter, failures: failures, previous: 40, seed: 13)
      judge(one, within: spread.atCap)
      judge(other, within: spread.atCap)
      #expect(zip(one, other).allSatisfy { $0 != $1 })
    }
  }

  @Test("one wait is one draw, with every jitter", arguments: spreads)
  func oneDraw(spread: Spread) {
    let backoff = backoff(.doubling, jitter: spread.jitter)
    for failures in [UInt32(0), 3, 99] {
      var random = SplitMix64(seed: 5)
      var twin = random
      _ = backoff.wait(afterFailures: failures, previous: .seconds(4), using: &random)
      _ = twin.next()
      #expect(random == twin)
    }
  }

  @Test("the first wait can have a jitter of its own")
  func firstJitter() {
    let exactFirst = backoff(.doubling, jitter: .full, firstJitter: Backoff.Jitter.none)
    let exactRest = backoff(.doubling, jitter: .none, firstJitter: .above(percent: 100))
    var random = SplitMix64(seed: 3)
    #expect(exactFirst.wait(afterFailures: 0, using: &random) == .seconds(5))
    #expect(exactFirst.wait(afterFailures: 1, using: &random) != .seconds(4))
    let wait = exactRest.wait(afterFailures: 0, using: &random)
    #expect(wait > .seconds(5) && wait <= .seconds(10))
    #expect(exactRest.wait(afterFailures: 1, using: &random) == .seconds(4))
  }

  @Test("decorrelated: a first wait of its own kind is what the second one grows from")
  func decorrelatedAfterAnother() {
    let short = backoff(.doubling, first: .zero, jitter: .decorrelated, firstJitter: .full)
    #expect((0..<4).map { short.ceiling(afterFailures: $0) } == [0, 6, 18, 54].map(seconds))
    let long = backoff(
      .doubling, first: .seconds(11), jitter: .decorrelated, firstJitter: Backoff.Jitter.none)
    #expect((0..<3).map { long.ceiling(afterFailures: $0) } == [11, 33, 60].map(seconds))
    var random = SplitMix64(seed: 21)
    let first = long.wait(afterFailures: 0, using: &random)
    let draws = (1...1_000).map { _ in
      long.wait(afterFailures: 1, previous: first, using: &random)
    }
    #expect(draws.allSatisfy { $0 >= .seconds(2) && $0 <= .seconds(33) })
    #expect(draws.contains { $0 > .seconds(32) })
  }

  @Test("decorrelated: each wait is between the base and three times the last, under the cap")
  func decorrelated() {
    let backoff = backoff(.doubling, jitter: .decorrelated)
    #expect((0..<5).map { backoff.ceiling(afterFailures: $0) } == [6, 18, 54, 60, 60].map(seconds))
    for seed in UInt64(1)...200 {
      var random = SplitMix64(seed: seed)
      // Of a run that was forgotten: it must not count.
      var last = TimeSpan.seconds(50)
      for failures in UInt32(0)..<30 {
        let wait = backoff.wait(afterFailures: failures, previous: last, using: &random)
        let unit = failures == 0 ? 2_000_000_000 : last.nanoseconds
        let longest = min(3 * unit, 60_000_000_000)
        if wait < .seconds(2) || wait.nanoseconds > longest {
          Issue.record("\(wait) after \(last) with seed \(seed)")
        }
        last = wait
      }
    }
  }

  private func seconds(_ count: Int64) -> TimeSpan { .seconds(count) }
}
