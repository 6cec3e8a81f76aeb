import ConnectionFSM
import Testing

/// The published series of a client, in microseconds, rounded down.
///
/// Computed from the formulas and SplitMix64 by a script of its own, not by the code under test.
struct PublishedSeries: CustomTestStringConvertible, Sendable {
  let preset: Backoff.Preset
  let longest: [Int64]
  /// What is drawn with seed 20,240,601; the longest itself where there is no jitter.
  let drawn: [Int64]
  var testDescription: String { "\(preset)" }

  /// Milliseconds, without jitter; the last repeats up to 20.
  static func exact(_ preset: Backoff.Preset, _ milliseconds: [Int64]) -> PublishedSeries {
    let last = Array(repeating: milliseconds.last ?? 0, count: 20 - milliseconds.count)
    let series = (milliseconds + last).map { $0 * 1000 }
    return PublishedSeries(preset: preset, longest: series, drawn: series)
  }

  static func jittered(
    _ preset: Backoff.Preset, longest: [Int64], drawn: [Int64]
  ) -> PublishedSeries {
    let last = Array(repeating: longest.last ?? 0, count: 20 - longest.count)
    return PublishedSeries(preset: preset, longest: longest + last, drawn: drawn)
  }

  static let all: [PublishedSeries] = [
    exact(.xt, [0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]),
    exact(.doubling, [2_000, 4_000, 8_000, 16_000, 30_000]),
    exact(.signalR, [0, 2_000, 10_000, 30_000]),
    exact(.phoenix, [10, 50, 100, 150, 200, 250, 500, 1_000, 2_000, 5_000]),
    jittered(
      .grpc,
      longest: [
        1_000_000, 1_920_000, 3_072_000, 4_915_200, 7_864_320, 12_582_912, 20_132_659,
        32_212_254, 51_539_607, 82_463_372, 131_941_395, 144_000_000,
      ],
      drawn: [
        1_000_000, 1_296_322, 2_697_306, 3_290_410, 7_416_356, 8_485_333, 14_224_503,
        24_311_012, 39_329_790, 77_866_533, 99_045_311, 132_614_272, 103_510_049,
        133_255_407, 101_123_710, 141_616_705, 115_696_650, 139_566_538, 106_453_155,
        101_294_215,
      ]),
    jittered(
      .socketIO,
      longest: [1_500_000, 3_000_000, 6_000_000, 7_500_000],
      drawn: [
        525_503, 2_268_176, 2_033_229, 6_645_576, 2_615_305, 3_098_080, 3_820_697,
        3_946_475, 6_663_839, 3_760_148, 6_313_986, 3_282_296, 6_380_771, 3_033_719,
        7_251_740, 4_551_734, 7_038_181, 3_588_870, 3_051_480, 5_473_673,
      ]),
    jittered(
      .nats,
      longest: [2_100_000],
      drawn: [
        2_002_550, 2_063_408, 2_000_830, 2_082_911, 2_002_306, 2_011_961, 2_026_413,
        2_028_929, 2_083_276, 2_025_202, 2_076_279, 2_015_645, 2_077_615, 2_010_674,
        2_095_034, 2_041_034, 2_090_763, 2_021_777, 2_011_029, 2_059_473,
      ]),
    jittered(
      .actionCable,
      longest: [
        12_000_000, 7_935_000, 9_125_250, 10_494_037, 12_068_143, 13_878_364, 15_960_119,
        18_354_137, 21_107_257, 24_273_346, 27_914_348,
      ],
      drawn: [
        6_153_020, 7_556_281, 7_944_887, 10_260_132, 10_530_338, 12_284_674, 14_428_238,
        16_652_696, 20_646_847, 21_905_206, 27_050_693, 24_843_015, 27_099_325,
        24_662_001, 27_733_565, 25_767_420, 27_578_051, 25_066_262, 24_674_934,
        26_438_776,
      ]),
    jittered(
      .centrifuge,
      longest: [1_000_000, 1_500_000, 2_500_000, 4_500_000, 8_500_000, 16_500_000, 20_000_000],
      drawn: [
        512_751, 1_134_088, 516_614, 3_816_461, 684_488, 2_413_859, 5_650_719, 6_141_254,
        16_738_975, 5_414_578, 15_374_548, 3_550_957, 15_635_009, 2_581_507, 19_031_786,
        8_501_764, 18_198_906, 4_746_594, 2_650_774, 12_097_326,
      ]),
    jittered(
      .awsStandard,
      longest: [1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 20_000_000],
      drawn: [
        25_503, 1_268_176, 33_229, 6_632_923, 368_976, 2_392_323, 5_282_789, 5_785_902,
        16_655_359, 5_040_593, 15_255_946, 3_129_187, 15_523_086, 2_134_879, 19_006_960,
        8_206_937, 18_152_724, 4_355_481, 2_205_923, 11_894_693,
      ]),
  ]
}

@Suite("Backoff presets")
struct BackoffPresetTests {
  @Test("F09, F10: 20 terms of each client's series", arguments: PublishedSeries.all)
  func series(published: PublishedSeries) {
    let backoff = Backoff(published.preset)
    var random = SplitMix64(seed: 20_240_601)
    let failures = UInt32(0)..<20
    #expect(
      failures.map { backoff.ceiling(afterFailures: $0).nanoseconds / 1000 } == published.longest)
    #expect(
      failures.map { backoff.wait(afterFailures: $0, using: &random).nanoseconds / 1000 }
        == published.drawn)
  }

  @Test("every preset has a published series and makes a policy")
  func complete() throws {
    #expect(Set(PublishedSeries.all.map(\.preset)) == Set(Backoff.Preset.allCases))
    for preset in Backoff.Preset.allCases { _ = try Policy.made(backoff: Backoff(preset)) }
  }

  @Test("the presets of clients that give up do so, the others never")
  func limits() {
    let limits = Backoff.Preset.allCases.map { Backoff($0).attemptLimit }
    #expect(limits == [nil, nil, nil, 4, nil, nil, 60, nil, nil, 3])
    #expect(Backoff.Preset.allCases.allSatisfy { Backoff($0).elapsedLimit == nil })
  }

  @Test("Action Cable's series ends at the step of n = 10, to the nanosecond")
  func actionCableEnd() {
    let backoff = Backoff(.actionCable)
    var uncapped = backoff
    uncapped.cap = .seconds(3600)
    #expect(uncapped.step(afterFailures: 10) == backoff.cap)
    #expect(backoff.step(afterFailures: 11) == backoff.cap)
  }

  @Test("SignalR after a stable link: dials after 0, 2, 10 and 30 seconds, then it is over")
  func signalRGivesUp() throws {
    var rig = Rig.opened(try Policy.made(backoff: Backoff(.signalR), spacing: .zero))
    rig.transport(.failed(.lost), at: rig.now + .seconds(10))
    var waits: [Int64] = []
    while rig.closed == nil {
      waits.append((try rig.redial() - .origin).nanoseconds / 1_000_000_000)
      rig.transport(.failed(.lost))
    }
    #expect(waits == [10, 12, 22, 52])
    #expect(rig.closed == "exhausted brokenPipe")
  }
}
