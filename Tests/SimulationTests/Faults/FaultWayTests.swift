import ConnectionFSM
import NetSim
import Testing

/// Faults of the way that bytes take.
@Suite struct FaultWayTests {
  private func link(_ channel: Channel) -> LinkProfile {
    LinkProfile("test", about: "", source: "", up: channel, down: channel)
  }

  /// How long an echo takes that is asked for after each pause, in milliseconds.
  private func echo(over link: LinkProfile, after pauses: [TimeSpan]) -> [Int64] {
    var rig = Rig(link: link, service: Service(script: [.echo]))
    let client = rig.dial()
    while rig.takeLog().isEmpty { rig.run(for: .milliseconds(1)) }
    return pauses.map { pause in
      rig.run(for: pause)
      let begin = rig.now
      rig.write("p", to: client)
      while rig.read(client) != "p" { rig.run(for: .milliseconds(1)) }
      return (rig.now - begin).nanoseconds / 1_000_000
    }
  }

  @Test("fault 22 latency: constant, uniform, with two modes, by a table, and by the pair of hosts")
  func latency() {
    #expect(echo(over: .constant(.milliseconds(50)), after: [.seconds(1)]) == [100])
    let pauses = [TimeSpan](repeating: .seconds(1), count: 300)
    // 3G, 100 to 500 ms a round trip.
    let uniform = Channel(latency: .uniform(.milliseconds(50) ... .milliseconds(250)))
    let times = echo(over: link(uniform), after: pauses)
    #expect(times.allSatisfy { (100...500).contains($0) } && Set(times).count > 100)
    let fast = TimeSpan.microseconds(100) ... .microseconds(800)
    let modes = Latency(
      .bimodal(fast: fast, slow: fast.upperBound ... .milliseconds(100), slowPerTenThousand: 100))
    let few = echo(over: link(Channel(latency: modes)), after: pauses).count { $0 > 3 }
    #expect((1...20).contains(few))
    let pair = Latency(.constant(.zero), pairwise: .milliseconds(10) ... .milliseconds(90))
    #expect(Set(echo(over: link(Channel(latency: pair)), after: pauses)).count == 1)
    let table = QuantileTable([
      .init(0, .milliseconds(10)), .init(5_000, .milliseconds(20)),
      .init(10_000, .milliseconds(99)),
    ])
    let drawn = echo(over: link(Channel(latency: Latency(.table(table)))), after: pauses)
    #expect(drawn.allSatisfy { (20...198).contains($0) })
  }

  @Test("fault 22 latency: a link can become another one while connections live")
  func relink() {
    var rig = Rig(service: Service(script: [.echo]))
    let (client, _) = rig.connected()
    rig.internet.inject(.link(rig.client, .constant(.milliseconds(300))), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("p", to: client)
    rig.run(for: .seconds(5))
    #expect(rig.takeLog() == ["client readable 1601"])
  }

  @Test("fault 23 latency-spikes: Starlink's, 140 ms at the start of 15 s and 75 ms at their end")
  func latencySpikes() {
    let spikes = Spikes.periodic(
      every: .seconds(15), opening: .milliseconds(140), closing: .milliseconds(75))
    var channel = Channel(latency: .constant(.milliseconds(25)))
    channel.spikes = spikes
    // Held up to the end of the moment, on either way; 25 ms each way without.
    for (written, heard) in [
      (5_000, 5_050), (14_930, 15_165), (15_000, 15_190), (15_139, 15_190), (15_140, 15_190),
    ] as [(Int64, Int)] {
      var rig = Rig(link: link(channel), service: Service(script: [.echo]))
      let (client, _) = rig.connected()
      rig.run(for: .milliseconds(written - 1000))
      rig.write("p", to: client)
      rig.run(for: .seconds(1))
      #expect(rig.takeLog() == ["client readable \(heard)"])
    }
  }

  @Test(
    "fault 24 radio-wake-up: the first byte after 10 s of rest is 100 ms late, the next one is not")
  func radioWakeUp() {
    var channel = Channel(latency: .constant(.milliseconds(25)))
    channel.wakeUp = RadioWakeUp(idle: .seconds(10), promotion: .milliseconds(100))
    #expect(
      echo(over: link(channel), after: [.seconds(1), .seconds(9), .seconds(11), .seconds(1)])
        == [50, 50, 150, 50])
  }

  @Test(
    "fault 25 bandwidth: 100 kB at Edge's 200 kbit/s are 4 s under way, and further writes wait")
  func bandwidth() {
    let channel = Channel(
      latency: .constant(.milliseconds(35)), rate: .kilobits(200), buffer: 100_000)
    var rig = Rig(link: link(channel))
    let (client, server) = rig.connected()
    var taken = 0
    while case .wrote(let count) = rig.write([UInt8](repeating: 1, count: 20_000), to: client) {
      taken += count
    }
    #expect(taken == OperatingSystem.linux.sendBuffer)
    rig.run(for: .seconds(2))
    let early = rig.readAll(server).utf8.count
    #expect((40_000...50_000).contains(early))
    #expect(rig.takeLog().contains { $0.hasPrefix("writable") })
    rig.run(for: .seconds(2))
    #expect(early + rig.readAll(server).utf8.count - 2 * "(wouldBlock)".count == taken)
  }

  @Test("fault 26 zero-window: who is not read stalls for ever, and goes on when he is")
  func zeroWindow() {
    var rig = Rig()
    let (client, server) = rig.connected()
    let most = OperatingSystem.linux.sendBuffer + OperatingSystem.linux.receiveBuffer
    var taken = 0
    while taken < most, case .wrote(let count) = rig.write([1, 2, 3, 4, 5], to: client) {
      taken += count
      if room(taken) { rig.run(for: .milliseconds(50)) }
    }
    #expect(taken == most)
    rig.run(for: .seconds(30 * 86_400))
    #expect(rig.write("x", to: client) == .wouldBlock)
    _ = rig.takeLog()
    _ = rig.readAll(server)
    rig.run(for: .milliseconds(50))
    #expect(rig.takeLog().contains { $0.hasPrefix("writable") })
    #expect(rig.write("x", to: client) == .wrote(1))
  }

  /// Whether to let bytes cross before more are written.
  private func room(_ taken: Int) -> Bool { taken % 10_000 < 5 }

  @Test("fault 27 partial-write: a write takes 1 to 1,000 bytes, or what has room")
  func partialWrite() {
    var rig = Rig()
    rig.internet.chunking = .atMost(1000)
    let (client, _) = rig.connected()
    var sizes: Set<Int> = []
    for _ in 0..<50 {
      guard case .wrote(let count) = rig.write([UInt8](repeating: 1, count: 5000), to: client)
      else { continue }
      sizes.insert(count)
    }
    #expect(sizes.count > 20 && sizes.allSatisfy { (1...1000).contains($0) })
    var small = OperatingSystem.linux
    small.sendBuffer = 10
    var full = Rig(system: small)
    let (other, _) = full.connected()
    #expect(full.write("0123456789abc", to: other) == .wrote(10))
    #expect(full.write("abc", to: other) == .wouldBlock)
  }

  @Test("fault 28 chunked-reads: what is written at once is read in pieces, and the reverse")
  func chunkedReads() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.write("one", to: client)
    rig.write("two", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.read(server) == "onetwo")
    rig.internet.inject(.chunking(.single), at: rig.now)
    rig.run(for: .milliseconds(1))
    for byte in "abc" { rig.write(String(byte), to: client) }
    rig.run(for: .seconds(1))
    #expect((0..<4).map { _ in rig.read(server) } == ["a", "b", "c", "(wouldBlock)"])
  }

  @Test("fault 29 corruption: one bit of what arrives next is wrong")
  func corruption() {
    var rig = Rig()
    let (client, server) = rig.connected()
    rig.internet.inject(.corrupt(rig.client), at: rig.now)
    rig.run(for: .milliseconds(1))
    let sent = [UInt8](repeating: 0, count: 100)
    for turn in 0..<2 {
      _ = rig.write(sent, to: server)
      rig.run(for: .seconds(1))
      var buffer = [UInt8](repeating: 0xFF, count: 100)
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      #expect(rig.internet.read(client, into: &bytes, at: rig.now) == .bytes(100))
      #expect(buffer.reduce(0) { $0 + $1.nonzeroBitCount } == (turn == 0 ? 1 : 0))
    }
  }

  @Test(
    "fault 30 duplicate-and-reorder: what a second connection sends again comes first, and twice"
  )
  func duplicateAndReorder() {
    var rig = Rig()
    let wifi = rig.client
    let cellular = rig.internet.addInterface(
      "cellular", to: wifi, link: .constant(.milliseconds(40)))
    let (old, _) = rig.connected()
    rig.internet.inject(.block(from: wifi, to: nil, .hold), at: rig.now)
    rig.run(for: .milliseconds(1))
    rig.write("1", to: old)
    rig.run(for: .milliseconds(1))
    rig.internet.inject(.unblock(from: wifi, to: nil), at: rig.now + .milliseconds(5))
    rig.internet.inject(.join(wifi, interface: cellular, sockets: .kept), at: rig.now)
    rig.run(for: .milliseconds(10))
    let new = rig.dial()
    rig.run(for: .seconds(1))
    rig.write("2", to: new)
    rig.write("1", to: new)
    rig.run(for: .seconds(1))
    rig.internet.inject(.join(wifi, interface: 1, sockets: .kept), at: rig.now)
    rig.run(for: .seconds(200))
    #expect(rig.readAll(rig.sockets[1]) == "21(wouldBlock)")
    #expect(rig.readAll(rig.sockets[0]) == "1(wouldBlock)")
    let heard = rig.takeLog().filter { $0.hasPrefix("server readable") }
    #expect(heard.count == 3)
  }
}
