import ConnectionFSM
import Testing

/// A race driven by hand, in milliseconds.
private struct Race {
  typealias Value = HappyEyeballs<String>

  private var value: Value

  init(_ timing: DialTiming) { value = Value(timing, at: .origin) }

  mutating func at(_ millisecond: Int64, _ input: Value.Input) -> [Value.Effect] {
    var effects: [Value.Effect] = []
    value.handle(input, at: .origin + .milliseconds(millisecond), into: &effects)
    return effects
  }

  /// In milliseconds.
  var deadline: Int64? { value.nextDeadline.map { $0.nanoseconds / 1_000_000 } }
}

@Suite("F17: happy eyeballs")
struct HappyEyeballsTests {
  private let refused = Cause.system(.connectionRefused)
  private let timing: DialTiming

  init() throws {
    timing = try DialTiming(
      attemptDelay: .milliseconds(250), resolutionDelay: .milliseconds(50), resolutionLimit: nil,
      connectLimit: nil)
  }

  @Test("families alternate from version 6 on, an attempt every 250 ms while none fails")
  func interleaves() {
    var race = Race(timing)
    #expect(race.deadline == nil)
    var log = race.at(0, .resolved(.version6, ["a::1", "a::2", "a::3"]))
    #expect(race.deadline == 250)
    log += race.at(10, .resolved(.version4, ["1.1.1.1", "1.1.1.2"]))
    for step: Int64 in 1...4 {
      #expect(race.deadline == step * 250)
      // An early deadline is harmless.
      let early = race.at(step * 250 - 1, .deadlineReached)
      #expect(early.isEmpty)
      log += race.at(step * 250, .deadlineReached)
    }
    #expect(race.deadline == nil)
    #expect(
      log == [
        .connect(attempt: 0, "a::1"), .connect(attempt: 1, "1.1.1.1"),
        .connect(attempt: 2, "a::2"), .connect(attempt: 3, "1.1.1.2"),
        .connect(attempt: 4, "a::3"),
      ])
    let end = race.at(2000, .connected(attempt: 3))
    #expect(
      end == [
        .abandon(attempt: 0), .abandon(attempt: 1), .abandon(attempt: 2), .abandon(attempt: 4),
        .won(attempt: 3),
      ])
    #expect(race.deadline == nil)
  }

  @Test("a failure starts the next attempt at once, and the delay counts from there")
  func nextAtOnce() {
    var race = Race(timing)
    _ = race.at(0, .resolved(.version6, ["a::1"]))
    _ = race.at(0, .resolved(.version4, ["1.1.1.1", "1.1.1.2"]))
    let second = race.at(7, .failed(attempt: 0, refused))
    #expect(second == [.connect(attempt: 1, "1.1.1.1")])
    #expect(race.deadline == 257)
    let again = race.at(8, .failed(attempt: 0, refused))
    #expect(again.isEmpty)
  }

  @Test("of two that connect at the same tick the first one handled wins, the other is let go of")
  func sameTick() {
    var race = Race(timing)
    _ = race.at(0, .resolved(.version6, ["a::1"]))
    _ = race.at(0, .resolved(.version4, ["1.1.1.1"]))
    _ = race.at(250, .deadlineReached)
    let first = race.at(260, .connected(attempt: 1))
    let second = race.at(260, .connected(attempt: 0))
    #expect(first == [.abandon(attempt: 0), .won(attempt: 1)])
    #expect(second.isEmpty)
  }

  @Test("version 4 waits 50 ms for version 6, not at all once that has no address")
  func resolutionDelay() {
    var late = Race(timing)
    let none = late.at(20, .resolved(.version4, ["1.1.1.1"]))
    #expect(none.isEmpty && late.deadline == 70)
    let started = late.at(70, .deadlineReached)
    #expect(started == [.connect(attempt: 0, "1.1.1.1")] && late.deadline == nil)
    // A late answer joins the list.
    let joined = late.at(100, .resolved(.version6, ["a::1"]))
    #expect(joined.isEmpty && late.deadline == 320)
    let next = late.at(320, .deadlineReached)
    #expect(next == [.connect(attempt: 1, "a::1")])

    var inTime = Race(timing)
    _ = inTime.at(20, .resolved(.version4, ["1.1.1.1"]))
    let preferred = inTime.at(69, .resolved(.version6, ["a::1"]))
    #expect(preferred == [.connect(attempt: 0, "a::1")] && inTime.deadline == 319)

    for input: HappyEyeballs<String>.Input in [
      .resolved(.version6, []), .resolutionFailed(.version6, .resolution(.unknownName)),
    ] {
      var negative = Race(timing)
      _ = negative.at(20, .resolved(.version4, ["1.1.1.1"]))
      let started = negative.at(30, input)
      #expect(started == [.connect(attempt: 0, "1.1.1.1")])
      var before = Race(timing)
      _ = before.at(20, input)
      let atOnce = before.at(30, .resolved(.version4, ["1.1.1.1"]))
      #expect(atOnce == [.connect(attempt: 0, "1.1.1.1")])
    }
  }

  @Test("when all have failed a pending look-up is waited for, and its addresses start at once")
  func waitsForLookup() {
    var race = Race(timing)
    _ = race.at(0, .resolved(.version6, ["a::1"]))
    let waits = race.at(5, .failed(attempt: 0, .system(.networkUnreachable)))
    #expect(waits.isEmpty && race.deadline == nil)
    let started = race.at(9000, .resolved(.version4, ["1.1.1.1"]))
    #expect(started == [.connect(attempt: 1, "1.1.1.1")])
  }

  @Test("F14: a race ends with the most hopeful cause, the earliest among equals")
  func verdict() {
    let (terminal, network, transient) = (
      Cause.system(.accessDenied), Cause.system(.networkUnreachable), Cause.system(.timedOut)
    )
    let cases = [
      (terminal, terminal, terminal), (terminal, network, network), (network, terminal, network),
      (network, network, network), (network, transient, transient),
      (transient, network, transient), (terminal, transient, transient),
      (transient, terminal, transient), (transient, refused, transient),
      (refused, transient, refused), (network, .localAddressLost, network),
    ]
    for (first, second, expected) in cases {
      var race = Race(timing)
      _ = race.at(0, .resolved(.version6, ["a::1"]))
      _ = race.at(0, .resolved(.version4, ["1.1.1.1"]))
      _ = race.at(1, .failed(attempt: 0, first))
      let end = race.at(2, .failed(attempt: 1, second))
      #expect(end == [.fail(expected)])
    }
  }

  @Test("F16: of two look-ups that failed the more telling cause is told")
  func lookupVerdict() {
    let unknown = Cause.resolution(.unknownName)
    let cases: [(Cause, Cause, Cause)] = [
      (unknown, unknown, unknown),
      (unknown, .resolution(.temporaryFailure), .resolution(.temporaryFailure)),
      (.resolution(.permanentFailure), unknown, .resolution(.permanentFailure)),
      (unknown, .system(.networkDown), .system(.networkDown)),
      (.resolution(.misconfigured), unknown, unknown),
      (.resolution(.misconfigured), .resolution(.outOfMemory), .resolution(.outOfMemory)),
    ]
    for (first, second, expected) in cases {
      var race = Race(timing)
      _ = race.at(0, .resolutionFailed(.version6, first))
      let end = race.at(1, .resolutionFailed(.version4, second))
      #expect(end == [.fail(expected)])
    }
    var empty = Race(timing)
    _ = empty.at(0, .resolved(.version6, []))
    let end = empty.at(0, .resolved(.version4, []))
    #expect(end == [.fail(unknown)])
  }

  @Test("F16: a look-up that failed does not hide how the other family's addresses went")
  func lookupBesideAttempts() {
    let cases: [(lookup: Cause, attempt: Cause, expected: Cause)] = [
      (.resolution(.unknownName), .system(.accessDenied), .system(.accessDenied)),
      (.resolution(.misconfigured), .system(.accessDenied), .system(.accessDenied)),
      (.resolution(.temporaryFailure), refused, refused),
      (
        .resolution(.temporaryFailure), .system(.networkUnreachable),
        .resolution(.temporaryFailure)
      ),
    ]
    for (lookup, attempt, expected) in cases {
      var race = Race(timing)
      _ = race.at(0, .resolutionFailed(.version6, lookup))
      _ = race.at(0, .resolved(.version4, ["1.1.1.1"]))
      let end = race.at(1, .failed(attempt: 0, attempt))
      #expect(end == [.fail(expected)])
    }
  }

  @Test("F15: the limit for resolution ends the look-ups that are pending, not the race")
  func resolutionLimit() throws {
    let timing = try DialTiming(
      attemptDelay: .milliseconds(250), resolutionDelay: .milliseconds(50),
      resolutionLimit: .milliseconds(40))
    var silent = Race(timing)
    #expect(silent.deadline == 40)
    let end = silent.at(40, .deadlineReached)
    #expect(end == [.fail(.timedOut(.resolution))])

    var half = Race(timing)
    _ = half.at(30, .resolved(.version4, ["1.1.1.1"]))
    #expect(half.deadline == 40)
    let started = half.at(40, .deadlineReached)
    #expect(started == [.connect(attempt: 0, "1.1.1.1")] && half.deadline == nil)
    let late = half.at(41, .resolved(.version6, ["a::1"]))
    #expect(late.isEmpty && half.deadline == nil)
    let failed = half.at(50, .failed(attempt: 0, refused))
    #expect(failed == [.fail(refused)])
  }

  @Test("F15: the limit for connecting counts from the first attempt and ends all of them")
  func connectLimit() throws {
    let timing = try DialTiming(
      attemptDelay: .milliseconds(250), resolutionDelay: .milliseconds(50),
      connectLimit: .milliseconds(400))
    var race = Race(timing)
    #expect(race.deadline == nil)
    _ = race.at(1000, .resolved(.version6, ["a::1", "a::2"]))
    _ = race.at(1250, .deadlineReached)
    #expect(race.deadline == 1400)
    let end = race.at(1400, .deadlineReached)
    #expect(
      end == [.abandon(attempt: 0), .abandon(attempt: 1), .fail(.timedOut(.connect))])
    #expect(race.deadline == nil)
  }

  @Test("I16: a value out of its range is a typed error with the name, the value and the mend")
  func timingErrors() throws {
    for wrong: TimeSpan in [.milliseconds(99), .milliseconds(2001), .zero, .seconds(-1)] {
      let error = #expect(throws: DialTimingError.self) { try DialTiming(attemptDelay: wrong) }
      #expect(error?.parameter == "attemptDelay" && error?.value == wrong)
      #expect(error?.description.contains("100 ms to 2 s") == true)
    }
    for wrong: TimeSpan in [.nanoseconds(-1), .milliseconds(2001)] {
      #expect(throws: DialTimingError.self) { try DialTiming(resolutionDelay: wrong) }
    }
    #expect(throws: DialTimingError.self) { try DialTiming(resolutionLimit: .zero) }
    #expect(throws: DialTimingError.self) { try DialTiming(connectLimit: .seconds(-3)) }
    _ = try DialTiming(attemptDelay: .milliseconds(100), resolutionDelay: .zero)
    _ = try DialTiming(attemptDelay: .seconds(2), resolutionDelay: .seconds(2))
    #expect(DialTiming.standard.attemptDelay == .milliseconds(250))
    #expect(DialTiming.standard.resolutionDelay == .milliseconds(50))
    #expect(DialTiming.standard.resolutionLimit == nil)
    #expect(DialTiming.standard.connectLimit == nil)
  }
}
