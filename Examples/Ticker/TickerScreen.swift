package import ConnectionFSM
package import Transports

/// A screen that shows the latest price of each symbol, 60 times a second, whatever the feed does.
package struct TickerScreen: Sendable {
  /// What has come of the ticks.
  package struct Report: Equatable, Sendable {
    /// Frames that were drawn.
    package var frames = 0
    /// Ticks that arrived.
    package var ticks = 0
    /// Rows that the screen took.
    package var rows = 0
    /// Ticks that a later one of the same symbol took the place of.
    package var conflated = 0
    /// Ticks that were lost: none, while there are no more symbols than the buffer holds.
    package var dropped = 0

    /// Rows that wait for the screen: all that is kept of the feed in memory.
    package var waiting: Int { ticks - rows - conflated - dropped }
  }

  private static let frame = Duration.seconds(1) / 60

  private let connection: Connection
  private let symbolCount: Int
  private let clock: any Clock<Duration>

  package static func framing() throws -> DelimiterFraming {
    try DelimiterFraming(delimiter: .lf, maximumLength: 64)
  }

  /// - Parameters:
  ///   - transport: What carries the lines, in ``framing()``.
  ///   - symbolCount: How many symbols there are at most.
  ///   - clock: What frames are timed by.
  package init(
    _ transport: sending some Transport, symbolCount: Int, clock: any Clock<Duration>,
    seed: UInt64? = nil
  ) throws {
    // The feed is never silent for long, and lines have no ping.
    connection = try Connection(transport, policy: Policy(heartbeat: nil), seed: seed)
    self.symbolCount = symbolCount
    self.clock = clock
  }

  /// Shows prices for a number of frames.
  /// - Parameter draw: Gets the table for each frame, and how far things have come.
  package func show(
    _ feed: Endpoint, frames: Int, draw: @escaping @Sendable ([String: Int], Report) -> Void
  ) async throws -> Report {
    let ticks = connection.messages(
      bufferingUpTo: symbolCount, whenFull: .conflate(by: { symbol(of: $0) }))
    connection.connect(to: feed)
    let table = Table()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // Each symbol once a frame at most; of those that come meanwhile the latest is kept.
        var room = symbolCount
        for try await tick in ticks {
          await table.take(tick)
          room -= 1
          if room == 0 {
            try await clock.sleep(for: Self.frame)
            room = symbolCount
          }
        }
      }
      group.addTask {
        for _ in 0..<frames {
          try await clock.sleep(for: Self.frame)
          await draw(table.frame(), report(of: ticks, table))
        }
      }
      try await group.next()
      group.cancelAll()
    }
    await connection.close()
    return await report(of: ticks, table)
  }

  private func report(of ticks: Messages, _ table: Table) async -> Report {
    var report = Report()
    report.ticks = await connection.traffic().map { Int($0.messagesReceived) } ?? 0
    (report.frames, report.rows) = await (table.frameCount, table.rowCount)
    report.conflated = ticks.missed.conflated
    report.dropped = ticks.missed.dropped
    return report
  }
}

/// The key that ticks are conflated by.
private func symbol(of tick: Message) -> String? {
  tick.bytes.firstIndex(of: UInt8(ascii: " ")).map {
    String(decoding: tick.bytes[..<$0], as: UTF8.self)
  }
}

/// What is on the screen.
private actor Table {
  private var prices: [String: Int] = [:]
  private(set) var rowCount = 0
  private(set) var frameCount = 0

  /// What is shown now.
  func frame() -> [String: Int] {
    frameCount += 1
    return prices
  }

  func take(_ tick: Message) {
    rowCount += 1
    guard let symbol = symbol(of: tick) else { return }
    prices[symbol] = Int(String(decoding: tick.bytes[(symbol.utf8.count + 1)...], as: UTF8.self))
  }
}
