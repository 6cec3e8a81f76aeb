package import ConnectionFSM

/// The exchange: so many ticks a second over many symbols, each a line `SYMBOL PRICE`.
package struct TickerFeed {
  /// How many symbols there are.
  package let symbolCount: Int
  /// How many ticks have been made.
  package private(set) var tickCount = 0

  private let symbols: [String]
  private var prices: [Int]
  private var dice: UInt64

  package init(symbolCount: Int, seed: UInt64) {
    self.symbolCount = symbolCount
    symbols = (0..<symbolCount).map { "S\(10_000 + $0)" }
    prices = Array(repeating: 100_00, count: symbolCount)
    dice = seed
  }

  /// The latest price of each symbol, in hundredths.
  package var latest: [String: Int] {
    Dictionary(uniqueKeysWithValues: zip(symbols, prices))
  }

  /// The next ticks as the bytes of their lines.
  package mutating func next(_ count: Int) -> Message {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 14)
    for _ in 0..<count {
      // Knuth's MMIX generator: any will do, as long as a seed repeats it.
      dice = dice &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let place = Int(dice >> 33) % symbolCount
      prices[place] = max(1, prices[place] + Int(dice >> 20 & 15) - 7)
      bytes += "\(symbols[place]) \(prices[place])\n".utf8
    }
    tickCount += count
    return Message(bytes: bytes)
  }

  /// Makes ticks at a rate, some milliseconds' worth at a time.
  /// - Parameters:
  ///   - span: For how long.
  ///   - send: Takes the bytes.
  package mutating func run(
    ticksPerSecond: Int, for span: Duration, on clock: some Clock<Duration>,
    send: (Message) -> Void
  ) async throws {
    let start = clock.now
    let total = Int(span / .seconds(1) * Double(ticksPerSecond))
    var sent = 0
    while sent < total {
      try await clock.sleep(for: .milliseconds(10))
      // By the clock and not by the number of sleeps, which are a little longer than asked for.
      let seconds = start.duration(to: clock.now) / .seconds(1)
      let due = min(total, Int(seconds * Double(ticksPerSecond)))
      if due > sent { send(next(due - sent)) }
      sent = due
    }
  }
}
