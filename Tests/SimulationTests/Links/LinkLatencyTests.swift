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

  @Test("an exponential part has its mean and its tail, on top of the shortest")
  func exponential() {
    let latency = Latency(.exponential(minimum: .milliseconds(20), mean: .milliseconds(50)))
    let drawn = delays(latency, count: 100_000, seed: 7)
    #expect(drawn.allSatisfy { $0 >= .milliseconds(20) })
    // Mean 70 ms, with a standard error of 50/√100000 = 0.158 ms: within five of them.
    let mean = drawn.reduce(0) { $0 + $1.nanoseconds } / 100_000
    #expect((69_200_000...70_800_000).contains(mean))
    // Beyond four means: e⁻⁴ = 1.83 %: 1,832, within 5·√(1832·0.982) = 212.
    #expect((1620...2044).contains(drawn.count { $0 > .milliseconds(220) }))
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

  @Test("random spikes come as often as configured, and let nothing overtake")
  func random() {
    let channel = Channel(
      latency: .constant(.milliseconds(20)),
      spikes: .poisson(meanGap: .seconds(30), hold: .milliseconds(200)))
    var state = ChannelState(channel, seed: 8, name: "link/0/up")
    var held = 0
    var spikes = 0
    var last = Instant.origin
    for step in 0..<1_000_000 {
      let now = Instant.origin + .milliseconds(Int64(step) * 10)
      let delay = state.delay(at: now)
      #expect(now + delay >= last)
      last = now + delay
      guard delay > .milliseconds(20) else { continue }
      held += 1
      if delay > .milliseconds(210) { spikes += 1 }
    }
    // 10,000 s with one each 30 s, less the 0.7 % that begin within another: 331 ± 5·√331 = 91.
    // Each is met by 20 packets, the first of which waits for more than 190 ms.
    #expect((240...422).contains(spikes), "\(spikes)")
    #expect((19...21).contains(held / max(1, spikes)))
  }

  @Test("spikes after a long silence are as likely as before, at the price of one draw")
  func silence() {
    let spikes = Spikes.poisson(meanGap: .milliseconds(900), hold: .milliseconds(100))
    var felt = 0
    for number in 0..<10_000 {
      let channel = Channel(latency: .constant(.zero), spikes: spikes)
      var state = ChannelState(channel, seed: 8, name: "link/\(number)/up")
      _ = state.delay(at: .origin)
      let later = state.delay(at: .origin + .seconds(31_536_000))
      if later > .zero { felt += 1 }
    }
    // One starts within the last 100 ms with 1 - e^(-1/9) = 10.52 %: 1,052 ± 5·√(1052·0.895) = 154.
    #expect((898...1206).contains(felt), "\(felt)")
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
