// 100,000 ticks a second over 200 symbols, on a screen of 60 frames a second:
//
//   swift run -c release ticker-example [SECONDS]
//
// Feed and screen are one program here, with a real socket between them.

import ConnectionFSM
import Transports

@main
enum TickerExample {
  private static let symbolCount = 200
  private static let ticksPerSecond = 100_000

  static func main() async throws {
    let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
    let (ports, listening) = AsyncStream.makeStream(of: UInt16.self)
    let loop = try SocketEventLoop()
    defer { loop.stop() }
    let exchange = Task(executorPreference: loop) {
      try await serve(for: .seconds(seconds + 1), on: loop) { listening.yield($0) }
    }
    for await port in ports {
      try await watch(port, seconds: seconds)
      break
    }
    exchange.cancel()
    _ = await exchange.result
  }

  private static func watch(_ port: UInt16, seconds: Int) async throws {
    let screen = try TickerScreen(
      .stream("tcp://127.0.0.1:\(port)", TickerScreen.framing()), symbolCount: symbolCount,
      clock: ContinuousClock())
    let feed = Endpoint(host: "127.0.0.1", port: port)
    let report = try await screen.show(feed, frames: 60 * seconds) { prices, report in
      // A real screen would draw the table here.
      if report.frames.isMultiple(of: 60) { print("\(prices.count) prices, \(words(for: report))") }
    }
    print("in all: \(words(for: report)), \(report.dropped) lost")
  }

  private static func words(for report: TickerScreen.Report) -> String {
    "\(report.ticks) ticks in, \(report.rows) rows out, \(report.conflated) conflated, "
      + "\(report.waiting) waiting (at most \(symbolCount))"
  }

  /// Everything of a server happens on its loop, in a function that prefers it.
  private static func serve(
    for span: Duration, on loop: SocketEventLoop, _ listening: @Sendable (UInt16) -> Void
  ) async throws {
    // Many lines make one write: the feed frames them itself.
    let server = Server(loop: loop, engine: { RawFraming() }, program: Deaf())
    listening(try server.start())
    defer { server.kill() }
    var feed = TickerFeed(symbolCount: symbolCount, seed: 1)
    try await feed.run(ticksPerSecond: ticksPerSecond, for: span, on: ContinuousClock()) {
      server.broadcast($0)
    }
  }
}

/// A feed listens to nobody.
private final class Deaf: ServerProgram {
  func received(_ message: Message, from client: Int) -> [ServerDeed] { [] }
}
