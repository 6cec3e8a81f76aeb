import ConnectionFSM
import NetSim
import Testing

@Suite("Link: one direction")
struct LinkDirectionTests {
  private func at(_ milliseconds: Int64) -> Instant {
    .origin + .milliseconds(milliseconds)
  }

  @Test("a piece leaves when its bytes are through the bottleneck and arrives a latency later")
  func rate() {
    // 80 kbit/s are 10 bytes a millisecond.
    let channel = Channel(latency: .constant(.milliseconds(30)), rate: .kilobits(80))
    var state = ChannelState(channel, seed: 1, name: "link/0/up")
    let first = state.send(byteCount: 1000, at: at(5))
    #expect(first == Transit(leaves: at(105), arrives: at(135)))
    let queued = state.send(byteCount: 100, at: at(50))
    #expect(queued == Transit(leaves: at(115), arrives: at(145)))
    let later = state.send(byteCount: 10, at: at(500))
    #expect(later == Transit(leaves: at(501), arrives: at(531)))
  }

  @Test("without a rate a piece leaves at once, whatever its size")
  func unlimited() {
    var state = ChannelState(
      Channel(latency: .constant(.milliseconds(7))), seed: 1, name: "link/0/up")
    let transit = state.send(byteCount: 1_000_000_000, at: at(1))
    #expect(transit == Transit(leaves: at(1), arrives: at(8)))
    #expect(state.roomAt(byteCount: .max, now: at(1)) == nil)
  }

  @Test("a packet without payload waits behind the queue and takes no room in it")
  func header() {
    let channel = Channel(latency: .constant(.milliseconds(30)), rate: .kilobits(80))
    var state = ChannelState(channel, seed: 1, name: "link/0/up")
    let alone = state.delay(at: at(0))
    #expect(alone == .milliseconds(30))
    _ = state.send(byteCount: 1000, at: at(0))
    let behind = state.delay(at: at(40))
    #expect(behind == .milliseconds(60 + 30))
    let next = state.send(byteCount: 10, at: at(40))
    #expect(next.leaves == at(101))
  }

  @Test("a full queue has room when so many bytes have left it")
  func room() {
    // EDGE with a large buffer: 100 kB at 200 kbit/s are 4 s of waiting.
    let channel = Channel(
      latency: .constant(.zero), rate: .kilobits(200), buffer: 100_000)
    var state = ChannelState(channel, seed: 1, name: "link/0/up")
    #expect(state.roomAt(byteCount: 100_000, now: at(0)) == nil)
    _ = state.send(byteCount: 100_000, at: at(0))
    #expect(state.roomAt(byteCount: 1, now: at(0)) == .origin + .microseconds(40))
    #expect(state.roomAt(byteCount: 25_000, now: at(0)) == at(1000))
    #expect(state.roomAt(byteCount: 25_000, now: at(1000)) == nil)
    #expect(state.roomAt(byteCount: 200_000, now: at(1000)) == at(4000))
    #expect(state.roomAt(byteCount: 200_000, now: at(4000)) == nil)
    let delay = state.delay(at: at(0))
    #expect(delay == .seconds(4))
  }

  @Test("a radio that slept wakes up for the first packet, and what follows waits with it")
  func wakeUp() {
    let channel = Channel(
      latency: .constant(.milliseconds(50)), rate: .kilobits(80), buffer: 1000,
      wakeUp: RadioWakeUp(idle: .seconds(10), promotion: .milliseconds(100)))
    var state = ChannelState(channel, seed: 1, name: "link/0/up")
    let first = state.send(byteCount: 10, at: at(0))
    #expect(first.leaves == at(101))
    let second = state.send(byteCount: 10, at: at(20))
    #expect(second.leaves == at(102))
    // The promotion is no queue: 20 of 1000 bytes are in it.
    #expect(state.roomAt(byteCount: 980, now: at(20)) == nil)
    let awake = state.delay(at: at(10_000))
    #expect(awake == .milliseconds(50))
    let asleep = state.delay(at: at(20_000))
    #expect(asleep == .milliseconds(150))
    var other = ChannelState(channel, seed: 1, name: "link/0/down")
    _ = other.delay(at: at(25_000))
    state.shareRadio(with: other)
    let kept = state.delay(at: at(35_099))
    #expect(kept == .milliseconds(50))
  }

  @Test("a uniform latency keeps to its range and reaches all of it")
  func uniform() {
    let range = TimeSpan.milliseconds(10)...TimeSpan.milliseconds(20)
    var state = ChannelState(Channel(latency: .uniform(range)), seed: 11, name: "link/0/up")
    let delays = (0..<1000).map { _ in state.delay(at: .origin) }
    #expect(delays.allSatisfy { range.contains($0) })
    // 1,000 draws miss a tenth of the range with a chance of 0.9^1000 < 10^-45.
    #expect(delays.contains { $0 < .milliseconds(11) })
    #expect(delays.contains { $0 > .milliseconds(19) })
  }

  @Test("jitter lies around the latency, and never makes it negative")
  func jitter() {
    let channel = Channel(latency: .constant(.milliseconds(10), jitter: .milliseconds(20)))
    var state = ChannelState(channel, seed: 11, name: "link/0/up")
    let delays = (0..<1000).map { _ in state.delay(at: .origin) }
    #expect(delays.allSatisfy { $0 >= .zero && $0 <= .milliseconds(30) })
    // A quarter of the draws is below zero: 250, and 5 standard errors are 5·√187.5 = 68.
    #expect((182...318).contains(delays.count { $0 == .zero }))
    #expect(delays.contains { $0 > .milliseconds(29) })
  }

  @Test("the permanent part is drawn once for a direction and differs from one to the next")
  func pairwise() {
    let range = TimeSpan.milliseconds(1)...TimeSpan.milliseconds(100)
    let channel = Channel(latency: Latency(.constant(.milliseconds(5)), pairwise: range))
    var permanent: [TimeSpan] = []
    for number in 0..<8 {
      var state = ChannelState(channel, seed: 4, name: "link/\(number)/up")
      let first = state.delay(at: .origin)
      let second = state.delay(at: .origin)
      #expect(first == second)
      #expect(first >= .milliseconds(6) && first <= .milliseconds(105))
      permanent.append(first)
    }
    #expect(Set(permanent).count == 8)
  }

  @Test("what one direction draws moves nothing in another, and a copy goes the same way")
  func streams() {
    let channel = Channel(
      latency: .uniform(.zero...(.seconds(1))), loss: .independent(perTenThousand: 5000))
    var one = ChannelState(channel, seed: 9, name: "link/0/up")
    var copy = one
    var losing = one
    var other = ChannelState(channel, seed: 9, name: "link/0/down")
    _ = losing.losses()
    let series = (0..<16).map { _ in one.delay(at: .origin) }
    let again = (0..<16).map { _ in copy.delay(at: .origin) }
    let afterLosses = (0..<16).map { _ in losing.delay(at: .origin) }
    let down = (0..<16).map { _ in other.delay(at: .origin) }
    #expect(series == again)
    #expect(series == afterLosses)
    #expect(series != down)
  }

  @Test("rates saturate, and one that is no rate still moves")
  func rates() {
    #expect(DataRate.kilobits(8).bitsPerSecond == 8000)
    #expect(DataRate.megabits(8).bitsPerSecond == 8_000_000)
    #expect(DataRate.megabits(.max).bitsPerSecond == .max)
    let slow = Channel(latency: .constant(.zero), rate: DataRate(bitsPerSecond: 0), buffer: 0)
    var state = ChannelState(slow, seed: 1, name: "link/0/up")
    let transit = state.send(byteCount: .max, at: at(0))
    #expect(transit.leaves == Instant(nanoseconds: .max))
    #expect(state.roomAt(byteCount: 1, now: at(0)) == Instant(nanoseconds: .max))
    let negative = ChannelState(slow, seed: 1, name: "link/0/up")
    #expect(negative.roomAt(byteCount: .min, now: at(0)) == nil)
  }
}
