import ConnectionFSM
import NetSim
import Testing

@Suite("Link: what cannot be")
struct LinkErrorTests {
  private static let sound = Channel(
    latency: Latency(
      .uniform(.zero...(.seconds(1))), jitter: .milliseconds(5), pairwise: .zero...(.seconds(1))),
    rate: .kilobits(1), buffer: 1, loss: .bursts(meanGood: 1, meanBad: 1),
    spikes: .periodic(every: .seconds(1), opening: .milliseconds(500), closing: .milliseconds(500)),
    wakeUp: RadioWakeUp(idle: .seconds(1), promotion: .zero))

  private static func changed(_ change: (inout Channel) -> Void) -> Channel {
    var channel = sound
    change(&channel)
    return channel
  }

  private static func with(_ shape: Latency.Shape) -> Channel {
    changed { $0.latency.shape = shape }
  }

  private static let before = TimeSpan.nanoseconds(-1)

  private static func quantiles(_ pairs: [(Int, TimeSpan)]) -> QuantileTable {
    QuantileTable(pairs.map { QuantileTable.Quantile($0.0, $0.1) })
  }

  private static let cases: [(knob: String, channel: Channel)] = [
    ("latency.constant", with(.constant(before))),
    ("latency.uniform", with(.uniform(before...(.zero)))),
    ("latency.exponential.minimum", with(.exponential(minimum: before, mean: .zero))),
    ("latency.exponential.mean", with(.exponential(minimum: .zero, mean: before))),
    (
      "latency.bimodal.fast",
      with(.bimodal(fast: before...before, slow: .zero...(.zero), slowPerTenThousand: 0))
    ),
    (
      "latency.bimodal.slow",
      with(.bimodal(fast: .zero...(.zero), slow: before...before, slowPerTenThousand: 0))
    ),
    (
      "latency.bimodal.slowPerTenThousand",
      with(.bimodal(fast: .zero...(.zero), slow: .zero...(.zero), slowPerTenThousand: 10_001))
    ),
    ("latency.table", with(.table(quantiles([])))),
    ("latency.table", with(.table(quantiles([(0, .zero)])))),
    ("latency.table", with(.table(quantiles([(0, before), (10_000, .zero)])))),
    ("latency.table", with(.table(quantiles([(0, .seconds(1)), (10_000, .zero)])))),
    (
      "latency.table",
      with(.table(quantiles([(0, .zero), (7, .zero), (7, .zero), (10_000, .zero)])))
    ),
    ("latency.jitter", changed { $0.latency.jitter = before }),
    ("latency.pairwise", changed { $0.latency.pairwise = before...before }),
    ("rate", changed { $0.rate = DataRate(bitsPerSecond: 0) }),
    ("buffer", changed { $0.buffer = 0 }),
    ("loss.perTenThousand", changed { $0.loss = .independent(perTenThousand: -1) }),
    ("loss.meanGood", changed { $0.loss = .bursts(meanGood: 0, meanBad: 1) }),
    ("loss.meanBad", changed { $0.loss = .bursts(meanGood: 1, meanBad: 0) }),
    ("spikes.every", changed { $0.spikes = .periodic(every: .zero, opening: .zero) }),
    ("spikes.opening", changed { $0.spikes = .periodic(every: .seconds(1), opening: before) }),
    (
      "spikes.closing",
      changed { $0.spikes = .periodic(every: .seconds(1), opening: .zero, closing: before) }
    ),
    ("spikes", changed { $0.spikes = .periodic(every: .seconds(1), opening: .seconds(2)) }),
    ("spikes.meanGap", changed { $0.spikes = .poisson(meanGap: .zero, hold: .seconds(1)) }),
    ("spikes.hold", changed { $0.spikes = .poisson(meanGap: .seconds(1), hold: before) }),
    ("wakeUp.idle", changed { $0.wakeUp = RadioWakeUp(idle: .zero, promotion: .zero) }),
    ("wakeUp.promotion", changed { $0.wakeUp = RadioWakeUp(idle: .seconds(1), promotion: before) }),
  ]

  @Test("each knob that is wrong is named, with what would do")
  func knobs() throws {
    try Self.sound.validate()
    for (knob, channel) in Self.cases {
      let error = #expect(throws: LinkError.self) { try channel.validate("up.") }
      #expect(error?.knob == "up." + knob)
      #expect(error?.mend.contains("must") == true)
      #expect(error?.description == "link: up.\(knob): \(error?.mend ?? "")")
    }
  }

  @Test("a link names the direction that is wrong, or its resolver")
  func profiles() throws {
    let wrong = Self.changed { $0.buffer = 0 }
    var link = LinkProfile("x", about: "x", source: "x", up: Self.sound, down: wrong)
    let error = #expect(throws: LinkError.self) { try link.validate() }
    #expect(error?.knob == "down.buffer")
    link.down = Self.sound
    try link.validate()
    link.resolverDelay = Self.before
    let late = #expect(throws: LinkError.self) { try link.validate() }
    #expect(late?.knob == "resolverDelay")
  }

  @Test("what cannot be runs all the same: nothing traps, nothing goes back in time")
  func noTrap() {
    for (_, channel) in Self.cases {
      var state = ChannelState(channel, seed: 3, name: "link/0/up")
      for step in 0..<100 {
        let now = Instant.origin + .milliseconds(Int64(step) * 40)
        let transit = state.send(byteCount: step, at: now)
        #expect(transit.leaves >= now)
        #expect(transit.arrives >= transit.leaves)
        let delay = state.delay(at: now)
        #expect(delay >= .zero)
        let losses = state.losses()
        #expect(losses >= 0)
        #expect(state.roomAt(byteCount: step, now: now).map { $0 > now } ?? true)
      }
    }
  }
}
