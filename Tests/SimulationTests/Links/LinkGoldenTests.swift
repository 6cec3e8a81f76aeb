import ConnectionFSM
import NetSim
import Testing

/// What a seed gives never changes: a run that is kept as a file must replay in years.
@Suite("Link: golden draws")
struct LinkGoldenTests {
  private static let shapes: [(name: String, shape: Latency.Shape)] = [
    ("uniform", .uniform(.milliseconds(5)...(.milliseconds(60)))),
    ("exponential", .exponential(minimum: .milliseconds(20), mean: .milliseconds(50))),
    (
      "bimodal",
      .bimodal(
        fast: .microseconds(100)...(.microseconds(800)), slow: .zero...(.milliseconds(100)),
        slowPerTenThousand: 2500)
    ),
    (
      "table",
      .table(
        QuantileTable([
          QuantileTable.Quantile(0, .milliseconds(10)),
          QuantileTable.Quantile(9000, .milliseconds(30)),
          QuantileTable.Quantile(10_000, .milliseconds(700)),
        ]))
    ),
  ]

  @Test("latencies of a seed are these nanoseconds")
  func latencies() {
    var drawn: [String] = []
    for (name, shape) in Self.shapes {
      let latency = Latency(shape, jitter: .milliseconds(1), pairwise: .zero...(.seconds(1)))
      var state = ChannelState(Channel(latency: latency), seed: 2026, name: "link/3/up")
      let spans = (0..<4).map { _ in "\(state.delay(at: .origin).nanoseconds)" }
      drawn.append(([name] + spans).joined(separator: " "))
    }
    let golden = [
      "uniform 477882454 499189986 465926261 471904030",
      "exponential 486711239 462658613 509530421 495344830",
      "bimodal 441592567 440717827 441068704 440480398",
      "table 463519431 921412787 458667230 460785099",
    ]
    #expect(drawn == golden)
  }

  @Test("losses and spikes of a seed are these")
  func losses() {
    let models: [Loss] = [.independent(perTenThousand: 3000), .bursts(meanGood: 5, meanBad: 3)]
    let drawn = models.map { loss in
      var state = ChannelState(
        Channel(latency: .constant(.zero), loss: loss), seed: 2026, name: "link/3/up")
      return (0..<40).map { _ in state.losesNext() ? "x" : "." }.joined()
    }
    let golden = [
      ".xxx......x..xx....x....x.....xxx.......", ".x.xxxxxxx...x.....xxxxx......x.xx......",
    ]
    #expect(drawn == golden)
    let spikes = Spikes.poisson(meanGap: .seconds(1), hold: .seconds(1))
    var state = ChannelState(
      Channel(latency: .constant(.zero), spikes: spikes), seed: 2026, name: "link/3/up")
    let holds = (0..<8).map { state.delay(at: .origin + .seconds(Int64($0) * 3)).nanoseconds }
    #expect(holds == [0, 31_472_816, 15_284_687, 925_256_641, 0, 0, 300_804_173, 0])
  }
}
