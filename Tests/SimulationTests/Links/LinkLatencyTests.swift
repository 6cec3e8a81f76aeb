import ConnectionFSM
import NetSim
import Testing

@Suite("Link: latencies and spikes")
struct LinkLatencyTests {
  private func delays(_ latency: Latency, count: Int, seed: UInt64) -> [TimeSpan] {
    var state = ChannelState(Channel(latency: latency), seed: seed, name: "link/0/up")
    return (0..<count).map { _ in state.delay(at: .origin) }
  }

  @Test("of two ranges the slow one is met as often as configured")
  func bimodal() {
    let fast = TimeSpan.microseconds(100)...TimeSpan.microseconds(800)
    let slow = TimeSpan.milliseconds(50)...TimeSpan.milliseconds(100)
    let latency = Latency(.bimodal(fast: fast, slow: slow, slowPerTenThousand: 10))
    let drawn = delays(latency, count: 100_000, seed: 5)
    #expect(drawn.allSatisfy { fast.contains($0) || slow.contains($0) })
    // 100 expected, within 5 standard errors: 5·√99.9 = 50.
    #expect((50...150).contains(drawn.count { slow.contains($0) }))
  }

  private let table = QuantileTable([
    QuantileTable.Quantile(0, .milliseconds(10)),
    QuantileTable.Quantile(5000, .milliseconds(20)),
    QuantileTable.Quantile(9900, .milliseconds(20)),
    QuantileTable.Quantile(10_000, .milliseconds(400)),
  ])

  @Test("a table of quantiles is met at its quantiles and straight between them")
  func quantiles() {
    let drawn = delays(Latency(.table(table)), count: 100_000, seed: 6)
    #expect(drawn.allSatisfy { $0 >= .milliseconds(10) && $0 <= .milliseconds(400) })
    // Half of the draws are below 20 ms, a quarter below 15 ms, a hundredth above 20 ms and half of
    // those above 210 ms. Within 5 standard errors of 100,000: 790, 685, 157 and 112.
    #expect((49_210...50_790).contains(drawn.count { $0 < .milliseconds(20) }))
    #expect((24_315...25_685).contains(drawn.count { $0 < .milliseconds(15) }))
    #expect((843...1157).contains(drawn.count { $0 > .milliseconds(20) }))
    #expect((388...612).contains(drawn.count { $0 > .milliseconds(210) }))
  }

  @Test("a table that is none gives what it has, and no trap")
  func brokenTables() {
    let empty = delays(Latency(.table(QuantileTable([]))), count: 10, seed: 6)
    #expect(empty.allSatisfy { $0 == .zero })
    let single = QuantileTable([QuantileTable.Quantile(-5, .seconds(1))])
    let constant = delays(Latency(.table(single)), count: 10, seed: 6)
    #expect(constant.allSatisfy { $0 == .seconds(1) })
    let falling = QuantileTable([
      QuantileTable.Quantile(10_000, .nanoseconds(.max)),
      QuantileTable.Quantile(99_999, .nanoseconds(.min)),
      QuantileTable.Quantile(0, .zero),
    ])
    let any = delays(Latency(.table(falling)), count: 10, seed: 6)
    #expect(any.allSatisfy { $0 >= .zero })
  }

  private func hold(_ spikes: Spikes, after span: TimeSpan) -> TimeSpan {
    let channel = Channel(latency: .constant(.milliseconds(20)), spikes: spikes)
    var state = ChannelState(channel, seed: 1, name: "link/0/up")
    return state.delay(at: .origin + span) - .milliseconds(20)
  }

  @Test("a link that stands still at both ends of a period holds packets until it moves again")
  func periodic() {
    let starlink = Spikes.periodic(
      every: .seconds(15), opening: .milliseconds(140), closing: .milliseconds(75))
    #expect(hold(starlink, after: .zero) == .milliseconds(140))
    #expect(hold(starlink, after: .milliseconds(100)) == .milliseconds(40))
    #expect(hold(starlink, after: .milliseconds(140)) == .zero)
    #expect(hold(starlink, after: .milliseconds(14_924)) == .zero)
    #expect(hold(starlink, after: .milliseconds(14_925)) == .milliseconds(75))
    #expect(hold(starlink, after: .milliseconds(14_999)) == .milliseconds(1))
    #expect(hold(starlink, after: .seconds(45)) == .milliseconds(140))
    #expect(hold(starlink, after: .milliseconds(-1)) == .milliseconds(1))
    #expect(hold(.periodic(every: .zero, opening: .zero), after: .seconds(1)) == .zero)
  }

  @Test("an edge that is met by both directions holds a round trip once")
  func roundTrip() {
    let channel = Channel(
      latency: .constant(.milliseconds(20)),
      spikes: .periodic(every: .seconds(15), opening: .milliseconds(140)))
    var up = ChannelState(channel, seed: 1, name: "link/0/up")
    var down = ChannelState(channel, seed: 1, name: "link/0/down")
    let sent = Instant.origin + .seconds(30)
    let there = sent + up.delay(at: sent)
    let back = there + down.delay(at: there)
    #expect(back - sent == .milliseconds(180))
  }
}
