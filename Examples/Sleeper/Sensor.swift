package import ConnectionFSM
import Synchronization
package import Transports

/// A device on a battery: it wakes, takes a reading, and sleeps again; when it has some readings,
/// it sends them first.
///
/// Two things decide whether it may dial: whether it has something to send (demand), and whether it
/// is awake (lifecycle). So no link is kept while it sleeps, and a reading that could not be sent
/// waits in its lane for the next time.
package final class Sensor: Sendable {
  /// What the device can do beside its radio.
  package struct Board: Sendable {
    /// Takes a reading.
    package var measure: @Sendable () -> String
    /// Sleeps; comes back when the device is awake again.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// How long the radio may stay on for what it has to send.
    package var window: Duration
    /// What the window is timed by.
    package var clock: any Clock<Duration>

    package init(
      window: Duration, clock: any Clock<Duration>,
      measure: @escaping @Sendable () -> String,
      sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
      self.measure = measure
      self.sleep = sleep
      self.window = window
      self.clock = clock
    }
  }

  private let connection: Connection
  private let board: Board
  private let unsent = Unsent()

  /// Lines that the collector sends back, and so acknowledges.
  package static func framing() throws -> DelimiterFraming {
    try DelimiterFraming(delimiter: .lf, acknowledgement: .echo)
  }

  /// Makes a sensor at rest.
  /// - Parameter transport: What carries its lines, in ``framing()``.
  package init(
    _ transport: sending some Transport, board: Board, seed: UInt64? = nil
  ) throws {
    let policy = try Policy(
      connectDeadline: .seconds(10), closeDeadline: .seconds(2),
      backoff: Backoff(first: .seconds(2), base: .seconds(2), cap: .seconds(15)),
      // It is on for some seconds only, and each reading is answered.
      heartbeat: nil,
      // A link that nobody needs, or that would be slept over, is closed in order and at once.
      lifecycle: LifecyclePolicy(backgroundGrace: .zero, idleGrace: .zero),
      // The oldest readings make room in an outage of days: the latest say more.
      lanes: [
        Lane(.atLeastOnce, timeToLive: nil, countLimit: 500, overflow: .dropOldest)
      ])
    connection = try Connection(transport, policy: policy, seed: seed)
    self.board = board
  }

  /// Lives for a number of rounds.
  /// - Parameters:
  ///   - collector: Who wants the readings.
  ///   - interval: How long the device sleeps in each.
  ///   - batch: How many readings are worth a link.
  /// - Returns: How many readings wait still; they are given up.
  package func run(
    to collector: Endpoint, rounds: Int, every interval: Duration, batch: Int
  ) async throws -> Int {
    // Nothing is needed yet, so that nothing dials either.
    connection.demandChanged(to: false)
    connection.connect(to: collector)
    for round in 1...rounds {
      send("\(round) \(board.measure())")
      if unsent.count >= batch {
        connection.demandChanged(to: true)
        await allSent()
        // What is left is still to be sent, but not now.
        if unsent.count == 0 { connection.demandChanged(to: false) }
      }
      // The link is closed in order, and nothing dials until the device is awake again.
      connection.lifecycleChanged(to: .suspended)
      await linkGone()
      try await board.sleep(interval)
      connection.lifecycleChanged(to: .foreground)
    }
    let waiting = unsent.count
    await connection.close()
    return waiting
  }

  private func send(_ reading: String) {
    unsent.add()
    connection.post(Message(reading)) { [unsent] _ in unsent.remove() }
  }

  /// Comes back when every reading has ended, or the window is over.
  private func allSent() async {
    await withTaskGroup(of: Void.self) { group in
      let done = unsent.untilNone()
      group.addTask { for await _ in done {} }
      group.addTask { [board] in try? await board.clock.sleep(for: board.window) }
      await group.next()
      group.cancelAll()
    }
  }

  private func linkGone() async {
    for await state in connection.states() where state.phase == .suspended { return }
  }
}

/// Counts the readings that have no end yet.
private final class Unsent: Sendable {
  private let state = Mutex((count: 0, waiting: AsyncStream<Never>.Continuation?.none))

  var count: Int { state.withLock { $0.count } }

  func add() { state.withLock { $0.count += 1 } }

  func remove() {
    let waiting = state.withLock { state in
      state.count -= 1
      return state.count == 0 ? state.waiting.take() : nil
    }
    waiting?.finish()
  }

  /// A stream that ends when there are none.
  func untilNone() -> AsyncStream<Never> {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let isDone = state.withLock { state in
      if state.count > 0 { state.waiting = continuation }
      return state.count == 0
    }
    if isDone { continuation.finish() }
    return stream
  }
}
