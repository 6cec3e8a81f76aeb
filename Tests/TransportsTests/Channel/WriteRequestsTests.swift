import ConnectionFSM
import Testing
import Transports

/// Writes with a clock that the test turns.
struct WriteLine {
  var writes: WriteRequests
  var now = Instant.origin

  init(low: Int = 4, high: Int = 10, isOpen: Bool = true) throws {
    writes = WriteRequests(marks: try WaterMarks(low: low, high: high))
    if isOpen { _ = handle(.opened) }
  }

  mutating func handle(_ input: WriteRequests.Input) -> [WriteRequests.Effect] {
    var effects: [WriteRequests.Effect] = []
    writes.handle(input, at: now, into: &effects)
    return effects
  }

  mutating func ask(
    _ id: UInt64, _ text: String, timeout: TimeSpan? = nil
  ) -> [WriteRequests.Effect] {
    handle(.asked(RequestID(id), Array(text.utf8), timeout: timeout))
  }

  var next: String? { writes.next.map { String(decoding: $0, as: UTF8.self) } }
}

@Suite("Write requests")
struct WriteRequestsTests {
  @Test("F37, I12: are written in order, whatever is taken at a time, and are told in order")
  func order() throws {
    var line = try WriteLine()
    #expect(line.ask(1, "abc").isEmpty)
    #expect(line.ask(2, "").isEmpty)
    #expect(line.ask(3, "de").isEmpty)
    #expect(line.next == "abc")
    #expect(line.handle(.took(2)).isEmpty)
    #expect(line.next == "c")
    #expect(line.handle(.took(1)) == [.written(RequestID(1)), .written(RequestID(2))])
    #expect(line.next == "de")
    #expect(line.handle(.took(2)) == [.written(RequestID(3))])
    #expect(line.next == nil)
    #expect(line.ask(4, "") == [.written(RequestID(4))])
  }

  @Test("F37: nothing is written before the opening, not even nothing")
  func unopened() throws {
    var line = try WriteLine(isOpen: false)
    #expect(line.ask(1, "").isEmpty)
    #expect(line.ask(2, "a", timeout: .seconds(1)).isEmpty)
    #expect(line.next == nil)
    #expect(line.writes.nextDeadline == nil)
    line.now = .origin + .seconds(9)
    #expect(line.handle(.opened) == [.written(RequestID(1))])
    #expect(line.next == "a")
    #expect(line.writes.nextDeadline == .origin + .seconds(10))
  }

  @Test("F37, I11: what is not begun can be taken back; what is begun cannot")
  func cancelled() throws {
    var line = try WriteLine()
    for (id, text) in [(1, "ab"), (2, "cd"), (3, "ef")] as [(UInt64, String)] {
      _ = line.ask(id, text)
    }
    #expect(line.handle(.took(1)).isEmpty)
    #expect(line.handle(.cancelled(RequestID(1))).isEmpty)
    #expect(line.handle(.cancelled(RequestID(2))) == [.failed(RequestID(2), .cancelled)])
    #expect(line.handle(.took(1)) == [.written(RequestID(1))])
    #expect(line.next == "ef")
    #expect(line.handle(.cancelled(RequestID(3))) == [.failed(RequestID(3), .cancelled)])
    #expect(line.writes.pending == 0)
  }

  @Test("F37, I20: a write that times out may be extended, twice; then it ends them all")
  func timeout() throws {
    var line = try WriteLine()
    let id = RequestID(1)
    _ = line.ask(1, "abc", timeout: .seconds(5))
    _ = line.ask(2, "d")
    _ = line.handle(.took(2))
    line.now = .origin + .seconds(5)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 2)])
    #expect(line.handle(.deadline).isEmpty)
    #expect(line.handle(.answered(id, .seconds(5))).isEmpty)
    line.now = .origin + .seconds(10)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 2)])
    #expect(line.handle(.answered(id, .seconds(5))).isEmpty)
    line.now = .origin + .seconds(15)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 2)])
    #expect(
      line.handle(.answered(id, nil)) == [
        .failed(id, .timedOut(.write, byteCount: 2)),
        .failed(RequestID(2), .closed(.timedOut(.write))), .gaveUp,
      ])
    #expect(line.ask(3, "x") == [.failed(RequestID(3), .closed(.timedOut(.write)))])
    #expect(line.writes.nextDeadline == nil)
  }

  @Test("F38, I21: above the high mark a write is refused, and the room for it is told once")
  func marks() throws {
    var line = try WriteLine(low: 4, high: 10)
    #expect(line.ask(1, "0123456789abcdef").isEmpty)
    #expect(line.ask(2, "x") == [.failed(RequestID(2), .bufferFull)])
    #expect(line.writes.isFull)
    #expect(line.handle(.took(11)).isEmpty)
    #expect(line.handle(.took(1)) == [.writable])
    #expect(!line.writes.isFull)
    #expect(line.ask(3, "123456").isEmpty)
    #expect(line.ask(4, "") == [])
    #expect(line.ask(5, "1") == [.failed(RequestID(5), .bufferFull)])
  }

  @Test("F38: after a refusal there is room only when what was refused fits")
  func roomForRefused() throws {
    var line = try WriteLine(low: 9, high: 10)
    _ = line.ask(1, "12345")
    _ = line.ask(2, "12345")
    #expect(line.ask(3, "123456") == [.failed(RequestID(3), .bufferFull)])
    #expect(line.handle(.took(5)) == [.written(RequestID(1))])
    #expect(line.handle(.took(1)) == [.writable])
    #expect(line.ask(4, "123456").isEmpty)
  }

  @Test("I21: empty writes are bounded too")
  func emptyWrites() throws {
    var line = try WriteLine(isOpen: false)
    for id in 0..<UInt64(WriteRequests.limit) { #expect(line.ask(id, "").isEmpty) }
    #expect(line.ask(5000, "") == [.failed(RequestID(5000), .bufferFull)])
    #expect(line.handle(.opened).last == .writable)
  }

  @Test("F39, I16: while closing, and after the end, a write is refused with the reason")
  func refusals() throws {
    var line = try WriteLine()
    _ = line.ask(1, "abc")
    _ = line.handle(.took(1))
    _ = line.handle(.closing)
    #expect(line.ask(2, "d") == [.failed(RequestID(2), .closing)])
    let cause = Cause.system(.connectionReset)
    #expect(line.handle(.failed(cause)) == [.failed(RequestID(1), .closed(cause))])
    #expect(line.ask(3, "d") == [.failed(RequestID(3), .closed(cause))])
    #expect(line.handle(.failed(.closedByUser)).isEmpty)
  }

  @Test("I21: marks that no count can meet are refused", arguments: [(5, 4), (-1, 4), (0, 0)])
  func invalidMarks(low: Int, high: Int) {
    #expect(throws: ChannelError.invalidMarks(low: low, high: high)) {
      try WaterMarks(low: low, high: high)
    }
  }
}
