import ConnectionFSM
import Testing

@Suite("Randomness")
struct RandomTests {
  // The outputs of the reference implementation, splitmix64.c.
  private static let golden: [(seed: UInt64, series: [UInt64])] = [
    (
      1_234_567,
      [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ]
    ),
    (
      0,
      [
        16_294_208_416_658_607_535, 7_960_286_522_194_355_700, 487_617_019_471_545_679,
        17_909_611_376_780_542_444, 1_961_750_202_426_094_747,
      ]
    ),
  ]

  @Test("SplitMix64 gives the published series for a seed, for ever", arguments: golden)
  func goldenVectors(seed: UInt64, series: [UInt64]) {
    var random = SplitMix64(seed: seed)
    for expected in series {
      let drawn = random.next()
      #expect(drawn == expected)
    }
  }

  @Test(
    "a bounded draw is within its bound, both ends included, and is one draw",
    arguments: [
      0, 1, 2, 9, 63, 1 << 40, .max - 1, .max,
    ] as [UInt64])
  func bounded(bound: UInt64) {
    var random = SplitMix64(seed: 99)
    var twin = random
    var isWithin = true
    for _ in 1...2000 {
      isWithin = isWithin && random.next(through: bound) <= bound
      _ = twin.next()
    }
    #expect(isWithin)
    #expect(random == twin)
  }

  @Test("a bounded draw reaches every value about as often")
  func even() {
    var random = SplitMix64(seed: 4)
    var counts = [Int](repeating: 0, count: 8)
    for _ in 1...8000 { counts[Int(random.next(through: 7))] += 1 }
    #expect(counts.allSatisfy { abs($0 - 1000) < 150 })
  }

  @Test("bounded draws of a seed, pinned")
  func pinned() {
    // The high word of draw × 10, by hand from the golden series: 6457827717110365317 × 10 / 2⁶⁴ …
    var random = SplitMix64(seed: 1_234_567)
    let drawn = (1...5).map { _ in random.next(through: 9) }
    #expect(drawn == [3, 1, 5, 2, 8])
  }
}
