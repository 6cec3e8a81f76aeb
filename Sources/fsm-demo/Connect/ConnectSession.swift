import ConnectionFSM
import Dispatch
import Foundation
import Synchronization

/// A connection between standard input and a peer: lines go out, the trace and what arrives are
/// shown.
final class ConnectSession: ConnectionMonitor {
  /// The longest line that is sent; what the framing admits.
  static let lineLengthLimit = 65_536

  /// What the session hears from its threads.
  enum Event {
    case inputEnded
    case everyMessageEnded
    case interrupted
    case patienceOver
    /// The machine came to rest; nil cause if the user wished it.
    case closed(Cause?)
  }

  /// What a line of the input is.
  enum Input {
    case lines
    /// JSON, one text a line.
    case objects
  }

  private struct Books {
    var writer: TraceWriter
    var statistics = Statistics()
    /// Messages given to the connection that have no end yet.
    var pending = 0
    /// Messages that did not end well: rejected, cancelled, in doubt …
    var failed = 0
    var inputHasEnded = false
  }

  let events: AsyncStream<Event>
  private let mailbox: AsyncStream<Event>.Continuation
  private let loop: any EventLoop
  private let format: TraceFormat
  private let books: Mutex<Books>
  /// Raised with the first open, and with the end.
  private let opened = DispatchSemaphore(value: 0)
  /// How many lines may be with the connection: the reader of a large file waits, and no message is
  /// turned away. 128 of the longest line fill the lane exactly.
  private let room = DispatchSemaphore(value: 128)

  init(loop: any EventLoop, format: TraceFormat) {
    self.loop = loop
    self.format = format
    books = Mutex(Books(writer: TraceWriter(format)))
    (events, mailbox) = AsyncStream.makeStream()
  }

  var statistics: Statistics { books.withLock { $0.statistics } }
  var failedMessages: Int { books.withLock { $0.failed } }

  func tell(_ event: Event) { mailbox.yield(event) }

  /// A step of the machine; on the loop.
  func connection(linkOf epoch: Epoch, failedWith error: any Error) {
    note("\(epoch): \(error)")
  }

  func connection(made record: TraceRecord, leaving machine: Machine) {
    books.withLock { books in
      books.writer.step(record)
      books.statistics.add(record)
    }
    if record.to == .open, record.from != .open { opened.signal() }
    guard record.to == .closed, record.from != .closed else { return }
    opened.signal()
    mailbox.yield(.closed(record.cause == .closedByUser ? nil : record.cause))
  }

  /// Something that the user did or sees. JSON Lines keep standard output for the trace.
  func note(_ text: String) {
    switch format {
    case .text: books.withLock { $0.writer.note(text, at: loop.now) }
    case .jsonl: Console.remark(text)
    }
  }
}

// MARK: Input

extension ConnectSession {
  /// Reads standard input on a thread of its own, since that blocks, and sends line after line.
  /// - Parameter beforeOpen: Whether messages may wait for the link; else the input does.
  func readInput(
    as input: Input, into connection: Connection, lane: LaneID, beforeOpen: Bool
  ) {
    let thread = Thread { [self] in
      if !beforeOpen { opened.wait() }
      var reader = LineReader(of: STDIN_FILENO, lengthLimit: Self.lineLengthLimit)
      while let line = reader.next() {
        room.wait()
        switch line {
        case .bytes(let bytes):
          let kind: Message.Kind = input == .lines ? .text : .object
          send(Message(bytes: bytes, kind: kind), over: connection, lane: lane)
        case .tooLong:
          Console.complain(
            "a line of more than \(Self.lineLengthLimit) bytes was not sent: split it")
          books.withLock { $0.failed += 1 }
          room.signal()
        }
      }
      let isSettled = books.withLock { books in
        books.inputHasEnded = true
        return books.pending == 0
      }
      mailbox.yield(.inputEnded)
      if isSettled { mailbox.yield(.everyMessageEnded) }
    }
    thread.start()
  }

  private func send(_ message: Message, over connection: Connection, lane: LaneID) {
    books.withLock { $0.pending += 1 }
    connection.post(message, in: lane) { [self] result in
      ended(message, result)
      room.signal()
    }
  }

  private func ended(_ message: Message, _ result: Result<Outcome, Rejection>) {
    let words: String
    let isWell: Bool
    switch result {
    case .success(let outcome):
      words = outcome.words
      isWell = outcome == .written || outcome == .acknowledged
    case .failure(let rejection):
      words = "rejected: \(rejection)"
      isWell = false
    }
    note("\(message.shown) → \(words)")
    let isLast = books.withLock { books in
      books.pending -= 1
      if !isWell { books.failed += 1 }
      return books.pending == 0 && books.inputHasEnded
    }
    if isLast { mailbox.yield(.everyMessageEnded) }
  }
}
