import ConnectionFSM
import NetSim
import Testing

@Suite("Internet: time-outs follow the round trips")
struct RoundTripTests {
  /// When bytes arrive that were lost for a moment, in milliseconds after they were written.
  private func arrival(latency: TimeSpan, exchanges: Int) -> [String] {
    var rig = Rig(seed: 3, link: .constant(latency))
    let socket = rig.dial()
    rig.run(for: .seconds(10))
    for _ in 0..<exchanges {
      rig.write("x", to: socket)
      rig.run(for: .seconds(10))
    }
    _ = rig.readAll(rig.sockets[0])
    _ = rig.takeLog()
    let begin = rig.now
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: begin)
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: begin + .milliseconds(100))
    rig.run(for: .nanoseconds(1))
    rig.write("late", to: socket)
    rig.run(for: .seconds(30))
    return rig.takeLog().map { line in
      let words = line.split(separator: " ")
      let base = (begin - .origin).nanoseconds / 1_000_000
      return "\(words[0]) \((Int64(words[2]) ?? 0) - base)"
    }
  }

  @Test("on a short way what is lost comes after the least time-out, 200 ms")
  func short() {
    #expect(arrival(latency: .milliseconds(10), exchanges: 0) == ["server 210"])
  }

  @Test("on a long way it comes after the round trip and four variations")
  func long() {
    // A handshake of 0.8 s: 0.8 + 4·0.4 s, and 0.4 s on the way.
    #expect(arrival(latency: .milliseconds(400), exchanges: 0) == ["server 2800"])
    // Each round trip without a surprise takes a quarter off the variation: 0.8 + 4·0.225 s.
    #expect(arrival(latency: .milliseconds(400), exchanges: 2) == ["server 2100"])
  }

  @Test("a radio wakes up once for a question and its answer")
  func radio() {
    let channel = Channel(
      latency: .constant(.milliseconds(10)),
      wakeUp: RadioWakeUp(idle: .seconds(10), promotion: .milliseconds(100)))
    let link = LinkProfile("radio", about: "A radio", source: "", up: channel, down: channel)
    var rig = Rig(seed: 3, link: link)
    _ = rig.dial()
    rig.run(for: .seconds(60))
    #expect(rig.takeLog() == ["opened 120", "accepted 130"])
    rig.write("pushed", to: rig.sockets[0])
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["client readable 60110"])
  }

  @Test("a handshake that was sent twice measures nothing: the first time-out is 1 s")
  func sentTwice() {
    #expect(arrival(latency: .milliseconds(500), exchanges: 0) == ["server 1500"])
  }
}
