import ConnectionFSM
import NetSim
import Testing

@Suite("Link: losses and what they cost")
struct LinkLossTests {
  private func state(_ loss: Loss, _ name: String = "link/0/up") -> ChannelState {
    ChannelState(
      Channel(latency: .constant(.milliseconds(20)), loss: loss), seed: 2026, name: name)
  }

  @Test(
    "a dial is late by 1, 3 or 7 s with 1-(1-p)², its square and its cube",
    arguments: [200, 1000])
  func handshakes(perTenThousand: Int) {
    let channel = Channel(
      latency: .constant(.milliseconds(10)), loss: .independent(perTenThousand: perTenThousand))
    let link = LinkProfile("lossy", about: "a lossy link", source: "", up: channel, down: channel)
    var internet = Internet(seed: 1)
    let client = internet.addHost("client", link: link)
    let server = internet.addHost("server")
    internet.listen(server, port: 1, Service(script: [.hang]))
    let address = internet.addresses(of: server)[0]
    let limits: [TimeSpan] = [.seconds(1), .seconds(3), .seconds(7)]
    var late = [0, 0, 0]
    var now = Instant.origin
    for _ in 0..<40_000 {
      let start = now
      let socket = internet.dial(from: client, to: address, port: 1, at: start)
      while let occurrence = internet.next(through: start + .seconds(200)) {
        if occurrence == .opened(socket) { break }
      }
      now = internet.now
      for place in 0..<3 where now - start >= limits[place] { late[place] += 1 }
      internet.reset(socket, at: now)
    }
    // Of 40,000 with P = 1-(1-p)²: P, P² and P³, within 5 standard errors of 200·√(P(1-P)).
    // p = 2 %: 3.96 %, 0.157 %, 0.0062 %: 1,584 ± 195, 63 ± 39, 2.5 ± 7.9.
    // p = 10 %: 19 %, 3.61 %, 0.686 %: 7,600 ± 392, 1,444 ± 186, 274 ± 82.
    let bounds: [ClosedRange<Int>] =
      perTenThousand == 200
      ? [1389...1779, 24...102, 0...10] : [7208...7992, 1258...1630, 192...356]
    for place in 0..<3 { #expect(bounds[place].contains(late[place]), "\(late)") }
  }

  @Test("a lone piece is lost k times or more with p^k")
  func powers() {
    var link = state(.independent(perTenThousand: 1000))
    var counts = [0, 0, 0, 0]
    for _ in 0..<200_000 {
      let losses = link.losses()
      for k in 1...3 where losses >= k { counts[k] += 1 }
    }
    // 20,000, 2,000 and 200, within 5 standard errors: 5·√(n·P·(1-P)) = 671, 223, 71.
    #expect((19_329...20_671).contains(counts[1]))
    #expect((1777...2223).contains(counts[2]))
    #expect((129...271).contains(counts[3]))
  }

  @Test("bursts are as long and as far apart as configured", arguments: [(200, 2), (20, 2)])
  func bursts(meanGood: Int, meanBad: Int) {
    var link = state(.bursts(meanGood: meanGood, meanBad: meanBad))
    let packets = 1_000_000
    var lost = 0
    var bursts = 0
    var wasLost = false
    for _ in 0..<packets {
      let isLost = link.losesNext()
      if isLost {
        lost += 1
        if !wasLost { bursts += 1 }
      }
      wasLost = isLost
    }
    // A cycle is a good and a bad stretch, both geometric: mean 202 with a deviation of
    // √(200·199 + 2·1) = 200, or mean 22 with √(20·19 + 2·1) = 20. So a million packets are
    // 1e6/202 = 4,950 cycles ± √4950·200/202 = 70, or 45,454 ± √45454·20/22 = 194. Five of these.
    let cycles = meanGood == 200 ? 4600...5300 : 44_484...46_424
    #expect(cycles.contains(bursts), "\(bursts)")
    // Lost packets: the mean length of a burst is 2 with a deviation of √2: 2 ± 5·√2/√4950 = 0.1,
    // or ± 5·√2/√45454 = 0.033.
    let spread = meanGood == 200 ? 10 : 4
    #expect((200 - spread...200 + spread).contains(lost * 100 / bursts), "\(lost)")
  }

  @Test("without loss nothing is lost; with nothing but loss the count ends beyond any ladder")
  func extremes() {
    var perfect = state(.none)
    let never = perfect.losses()
    #expect(never == 0)
    var cut = state(.independent(perTenThousand: 10_000))
    let always = cut.losses()
    #expect(always == ChannelState.mostLosses)
    let longest = RetransmissionLadder(first: .seconds(1), retries: 255, linear: 255)
    #expect(longest.stall(losses: always, segmentsBehind: 9, roundTrip: .zero) == nil)
    let given = cut.stall(
      byteCount: 1, bytesBehind: 0, roundTrip: RoundTrip(first: .milliseconds(20)), ladder: .data)
    #expect(given == nil)
  }

  @Test("a lone lost segment waits for the time-out, which doubles, until TCP gives up")
  func lone() {
    let ladder = RetransmissionLadder.data
    let waits = (0...3).map {
      ladder.stall(losses: $0, segmentsBehind: 2, roundTrip: .milliseconds(40))
    }
    let expected: [TimeSpan] = [
      .zero, .milliseconds(200), .milliseconds(600), .milliseconds(1400),
    ]
    #expect(waits == expected)
    #expect(ladder.stall(losses: 15, segmentsBehind: 0, roundTrip: .zero) == .milliseconds(804_600))
    #expect(ladder.stall(losses: 16, segmentsBehind: 0, roundTrip: .zero) == nil)
  }

  @Test("three segments behind a lost one bring it back after a round trip")
  func bulk() {
    let ladder = RetransmissionLadder.data
    let once = ladder.stall(losses: 1, segmentsBehind: 3, roundTrip: .milliseconds(40))
    #expect(once == .milliseconds(40))
    let again = ladder.stall(losses: 2, segmentsBehind: 3, roundTrip: .milliseconds(40))
    #expect(again == .milliseconds(240))
  }

  @Test("the time-out is the round trip and four variations, at least the ladder's, 1 s at first")
  func timeout() {
    let ladder = RetransmissionLadder.data
    #expect(ladder.timed(by: nil).first == .seconds(1))
    #expect(ladder.timed(by: RoundTrip(first: .milliseconds(20))).first == .milliseconds(200))
    // 500 + 4·250.
    var far = RoundTrip(first: .milliseconds(500))
    #expect(ladder.timed(by: far).first == .milliseconds(1500))
    far.add(.milliseconds(500))
    // 500 + 4·187.5.
    #expect(ladder.timed(by: far).first == .milliseconds(1250))
    #expect(ladder.timed(by: RoundTrip(first: .nanoseconds(.max))).first == .nanoseconds(.max))
  }

  @Test("a piece is as late as the latest of its segments")
  func piece() {
    let measured = RoundTrip(first: .milliseconds(40))
    var stalls: [TimeSpan: Int] = [:]
    var link = state(.independent(perTenThousand: 100))
    for _ in 0..<10_000 {
      let stall = link.stall(
        byteCount: 4 * ChannelState.segmentSize, bytesBehind: 0, roundTrip: measured, ladder: .data)
      stalls[stall ?? .nanoseconds(-1), default: 0] += 1
    }
    // Only the first of four has three behind it. Nothing lost: 0.99⁴ = 96.06 %; the first alone,
    // once: 0.01·0.99·0.99³ = 0.961 %; of the rest one at least, none twice: 2.94 %.
    // Within 5 standard errors of 10,000: 9606 ± 97, 96 ± 49, 294 ± 85.
    #expect((9509...9703).contains(stalls[.zero] ?? 0))
    #expect((47...145).contains(stalls[.milliseconds(40)] ?? 0))
    #expect((209...379).contains(stalls[.milliseconds(200)] ?? 0))
  }

  @Test("a FIN is a segment, and before the first acknowledgement each loss costs a second")
  func first() {
    var link = state(.independent(perTenThousand: 5000))
    let stalls = (0..<100).map { _ in
      link.stall(byteCount: 0, bytesBehind: 100_000, roundTrip: nil, ladder: .data)
    }
    let ladder = RetransmissionLadder.data.starting(at: .seconds(1))
    let expected = Set((0...15).map { ladder.wait(afterLosses: $0) })
    #expect(stalls.allSatisfy { $0.map { expected.contains($0) } ?? false })
    // A hundred draws of one half: 50 ± 5·5.
    #expect((25...75).contains(stalls.count { $0 == .zero }))
  }
}
