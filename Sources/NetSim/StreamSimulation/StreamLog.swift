import ConnectionFSM

/// What happens in a run: noted in the books, told to whoever watches, and ended at the first
/// broken promise.
///
/// Confined to the simulation's thread.
final class StreamLog: @unchecked Sendable {
  private var books: StreamBooks
  private let loop: SimulatedEventLoop
  private let observe: ((Simulation.Event) -> Void)?
  /// Why the run is over before its time.
  private(set) var failure: (any Error)?
  private var waiter: CheckedContinuation<Void, Never>?
  private var isOver = false

  init(
    _ books: StreamBooks, on loop: SimulatedEventLoop, _ observe: ((Simulation.Event) -> Void)?
  ) {
    self.books = books
    self.loop = loop
    self.observe = observe
  }

  var now: Instant { loop.time.now }

  /// Whether notes are worth their words.
  var isWatched: Bool { observe != nil }

  func tell(_ record: TraceRecord) { observe?(.step(record)) }

  func note(_ text: @autoclosure () -> String) {
    if let observe { observe(.note(now, text())) }
  }
}

// MARK: The end of the run

extension StreamLog {
  /// Something is not as it must be: the run is over.
  func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    finish()
  }

  /// The story is over.
  func finish() {
    isOver = true
    waiter.take()?.resume()
  }

  /// Waits until the story is over, or has failed.
  func untilOver() async throws {
    if !isOver { await withCheckedContinuation { waiter = $0 } }
    if let failure { throw failure }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { fail(error) }
  }
}

// MARK: Entries

extension StreamLog {
  func offered(_ label: String) { books.offered(label, at: now) }

  func ended(_ label: String, _ end: StreamBooks.End) {
    note("\(label) \(end.word)")
    attempt { try books.ended(label, end, at: now) }
  }

  func cancelled(_ label: String) { books.cancelled(label) }

  /// The message was given to a link under this id.
  func sent(_ message: Message, _ id: MessageID) {
    attempt { try books.sent(message.bytes, as: id) }
  }

  func read(_ message: Message, on connection: Int) {
    attempt {
      if let label = try books.read(message.bytes, on: connection, at: now) {
        note("the server reads \(label) on its connection \(connection)")
      }
    }
  }

  func delivered(_ message: Message) {
    attempt {
      let label = try books.delivered(message.bytes, at: now)
      note("the application reads \(label)")
    }
  }

  func judgeEnd() throws { try books.judgeEnd() }

  func outcome(of label: String) -> String? { books.outcome(of: label) }

  func pending(through instant: Instant) -> String? { books.pending(through: instant) }

  var outcomes: [String] { books.outcomes }
}
