import ConnectionFSM
import Testing

@Suite("Time")
struct TimeTests {
  @Test("spans are whole nanoseconds, read like Duration and saturate")
  func spans() {
    #expect(TimeSpan.seconds(2).nanoseconds == 2_000_000_000)
    #expect(TimeSpan.milliseconds(250).nanoseconds == 250_000_000)
    #expect(TimeSpan.microseconds(-3).nanoseconds == -3_000)
    #expect(TimeSpan.nanoseconds(7).nanoseconds == 7)
    #expect(TimeSpan.zero.nanoseconds == 0)
    #expect(TimeSpan.seconds(.max).nanoseconds == .max)
    #expect(TimeSpan.seconds(.min).nanoseconds == .min)
    #expect(TimeSpan.milliseconds(.max).nanoseconds == .max)
    #expect(TimeSpan.microseconds(.min).nanoseconds == .min)
    #expect(TimeSpan.seconds(9_223_372_036).nanoseconds == 9_223_372_036_000_000_000)
    #expect(TimeSpan.seconds(9_223_372_037).nanoseconds == .max)
    #expect(TimeSpan.seconds(1) < .seconds(2))
  }

  @Test("a span from a Duration keeps whole nanoseconds and saturates")
  func fromDuration() {
    #expect(TimeSpan(.seconds(3)) == .seconds(3))
    #expect(TimeSpan(.milliseconds(1500)) == .milliseconds(1500))
    #expect(TimeSpan(.seconds(-1.5)) == .milliseconds(-1500))
    #expect(TimeSpan(.nanoseconds(1)) == .nanoseconds(1))
    #expect(TimeSpan(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)) == .zero)
    #expect(TimeSpan(Duration(secondsComponent: 0, attosecondsComponent: -999_999_999)) == .zero)
    #expect(TimeSpan(.seconds(Int64.max)).nanoseconds == .max)
    #expect(TimeSpan(.seconds(Int64.min)).nanoseconds == .min)
    #expect(TimeSpan(.nanoseconds(Int64.max)).nanoseconds == .max)
    #expect(TimeSpan(.nanoseconds(Int64.min)).nanoseconds == .min)
    #expect(TimeSpan(.nanoseconds(Int64.max) + .nanoseconds(1)).nanoseconds == .max)
    #expect(TimeSpan(.nanoseconds(Int64.min) - .nanoseconds(1)).nanoseconds == .min)
  }

  @Test("a Duration from a span is the same length", arguments: [0, 1, -1, .max, .min] as [Int64])
  func toDuration(nanoseconds: Int64) {
    #expect(Duration(.nanoseconds(nanoseconds)) == .nanoseconds(nanoseconds))
    #expect(TimeSpan(Duration(.nanoseconds(nanoseconds))) == .nanoseconds(nanoseconds))
  }

  @Test("instants add and subtract, and saturate at both ends")
  func instants() {
    #expect(Instant.origin + .seconds(3) == .seconds(3))
    #expect(Instant.seconds(3) + .seconds(-5) == .seconds(-2))
    #expect(Instant.seconds(5) - .seconds(2) == TimeSpan.seconds(3))
    let (first, last) = (Instant(nanoseconds: .min), Instant(nanoseconds: .max))
    #expect(last + .nanoseconds(1) == last)
    #expect(first + .nanoseconds(-1) == first)
    #expect(last + .nanoseconds(.max) == last)
    #expect(first + .nanoseconds(.min) == first)
    #expect((last - first).nanoseconds == .max)
    #expect((first - last).nanoseconds == .min)
    #expect(first < last)
  }

  @Test("an instant serves a Clock")
  func clockInstant() {
    #expect(Instant.seconds(1).advanced(by: .milliseconds(5)) == .milliseconds(1005))
    #expect(Instant.seconds(1).duration(to: .seconds(4)) == .seconds(3))
  }
}
