import ConnectionFSM
import NetSim
import Synchronization
import Testing
import Transports
import ticker_example

private final class Deaf: ServerProgram {
  func received(_ message: Message, from client: Int) -> [ServerDeed] { [] }
}

@Suite("The ticker example")
struct TickerTests {
  /// Keeps the last frame.
  private final class Last: Sendable {
    let prices = Mutex<[String: Int]>([:])
    let mostWaiting = Mutex(0)
  }

  @Test("F52: 100,000 ticks a second come to a screen of 60 Hz as the latest of each symbol")
  func conflates() throws {
    let symbols = 200
    try VirtualTime.run { loop in
      var world = Internet(seed: 5)
      let (desk, house) = (world.addHost("desk"), world.addHost("feed.example"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedProgram(
        Deaf(), on: internet, host: house, port: 9000, engine: { RawFraming() })
      let framing = try TickerScreen.framing()
      let screen = try TickerScreen(
        internet.transport(from: desk) { framing }, symbolCount: symbols, clock: loop.clock,
        seed: 1)
      let last = Last()
      let watching = loop.task("screen") {
        try await screen.show(Endpoint(host: "feed.example", port: 9000), frames: 90) {
          prices, report in
          last.prices.withLock { $0 = prices }
          last.mostWaiting.withLock { $0 = max($0, report.waiting) }
        }
      }
      try await loop.clock.sleep(for: .milliseconds(100))
      #expect(server.connectionCount == 1)
      var feed = TickerFeed(symbolCount: symbols, seed: 2)
      try await feed.run(ticksPerSecond: 100_000, for: .seconds(1), on: loop.clock) {
        server.broadcast($0)
      }
      let report = try await watching.value
      #expect(feed.tickCount == 100_000)
      #expect(report.ticks == 100_000)
      #expect(report.frames == 90)
      // Nothing is lost but what a later price took the place of, and nothing waits at the end.
      #expect(report.dropped == 0 && report.waiting == 0)
      #expect(report.rows + report.conflated == 100_000)
      // A second of 60 frames of 200 rows, and the rows that were there at its beginning and end.
      #expect((6000...12_400).contains(report.rows))
      #expect(last.mostWaiting.withLock { $0 } <= symbols)
      #expect(last.prices.withLock { $0 } == feed.latest)
    }
  }

  @Test("F52: a slow feed is shown tick by tick")
  func slowFeed() throws {
    try VirtualTime.run { loop in
      var world = Internet(seed: 6)
      let (desk, house) = (world.addHost("desk"), world.addHost("feed.example"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedProgram(
        Deaf(), on: internet, host: house, port: 9000, engine: { RawFraming() })
      let framing = try TickerScreen.framing()
      let screen = try TickerScreen(
        internet.transport(from: desk) { framing }, symbolCount: 200, clock: loop.clock, seed: 1)
      let watching = loop.task("screen") {
        try await screen.show(Endpoint(host: "feed.example", port: 9000), frames: 90) { _, _ in }
      }
      try await loop.clock.sleep(for: .milliseconds(100))
      var feed = TickerFeed(symbolCount: 200, seed: 2)
      try await feed.run(ticksPerSecond: 100, for: .seconds(1), on: loop.clock) {
        server.broadcast($0)
      }
      let report = try await watching.value
      #expect(report.rows == 100 && report.conflated == 0)
    }
  }
}
