import ConnectionFSM
import Testing
import Transports

/// Reads with a clock that the test turns.
struct ReadLine {
  var reads = ReadRequests()
  var now = Instant.origin

  init(isOpen: Bool = true) {
    if isOpen { _ = handle(.opened) }
  }

  mutating func handle(_ input: ReadRequests.Input) -> [ReadRequests.Effect] {
    var effects: [ReadRequests.Effect] = []
    reads.handle(input, at: now, into: &effects)
    return effects
  }

  mutating func ask(
    _ id: UInt64, _ request: ReadRequest, timeout: TimeSpan? = nil
  ) -> [ReadRequests.Effect] {
    handle(.asked(RequestID(id), request, timeout: timeout))
  }

  mutating func receive(_ text: String) -> [ReadRequests.Effect] {
    var effects: [ReadRequests.Effect] = []
    reads.receive(Array(text.utf8).span.bytes, at: now, into: &effects)
    return effects
  }

  /// All that further turns give.
  mutating func rest() -> [ReadRequests.Effect] {
    var effects: [ReadRequests.Effect] = []
    while reads.hasNext { effects += handle(.next) }
    return effects
  }
}

func met(_ id: UInt64, _ text: String) -> ReadRequests.Effect {
  .met(RequestID(id), Array(text.utf8))
}

@Suite("Read requests")
struct ReadRequestsTests {
  @Test("F36: are met in order, each by its kind, and what is left over stays for the next")
  func kinds() {
    var line = ReadLine()
    #expect(line.ask(1, .until(.crlf, maximum: 20)).isEmpty)
    #expect(line.ask(2, .exactly(3)).isEmpty)
    #expect(line.ask(3, .until(.lf, maximum: 20, keepsTerminator: true)).isEmpty)
    #expect(line.ask(4, .any(atMost: 4)).isEmpty)
    #expect(line.receive("head\r\nabcline\nsurplus") == [met(1, "head")])
    #expect(line.rest() == [met(2, "abc"), met(3, "line\n"), met(4, "surp")])
    #expect(line.ask(5, .any(atMost: 100)) == [met(5, "lus")])
    #expect(line.reads.isEmpty)
  }

  @Test("F36: one result a call, so that a close at a result comes before the next request")
  func oneAtATime() {
    var line = ReadLine()
    _ = line.ask(1, .exactly(1))
    _ = line.ask(2, .exactly(1))
    #expect(line.receive("ab") == [met(1, "a")])
    let hasNext = line.reads.hasNext
    #expect(hasNext)
    #expect(line.handle(.closed) == [.failed(RequestID(2), .closed(.closedByUser))])
    let hasNextStill = line.reads.hasNext
    #expect(!hasNextStill)
  }

  @Test("F36, I13: every split of the bytes gives the same lines", arguments: [true, false])
  func splits(keeps: Bool) throws {
    let text = "a\r\r\n\r\nlonger line\r\n"
    let ends = keeps ? ["a\r\r\n", "\r\n", "longer line\r\n"] : ["a\r", "", "longer line"]
    let expected = ends.enumerated().map { met(UInt64($0), $1) }
    for first in 0...text.utf8.count {
      for second in first...text.utf8.count {
        let bytes = Array(text.utf8)
        var line = ReadLine()
        var effects: [ReadRequests.Effect] = []
        for id in 0..<3 {
          effects += line.ask(
            UInt64(id), .until(.crlf, maximum: 13, keepsTerminator: keeps))
        }
        for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
          effects += line.receive(String(decoding: piece, as: UTF8.self))
          effects += line.rest()
        }
        #expect(effects == expected, "cut at \(first) and \(second)")
      }
    }
  }

  @Test("F36: a terminator that ends at the maximum is found; one byte later it is not")
  func maximum() {
    for cut in 0...7 {
      let text = Array("abcde\r\n".utf8)
      for (maximum, expected) in [
        (7, met(1, "abcde")),
        (6, .failed(RequestID(1), .terminatorNotFound(maximum: 6))),
      ] {
        var line = ReadLine()
        _ = line.ask(1, .until(.crlf, maximum: maximum))
        var effects = line.receive(String(decoding: text[..<cut], as: UTF8.self))
        effects += line.receive(String(decoding: text[cut...], as: UTF8.self))
        #expect(effects == [expected], "maximum \(maximum), cut at \(cut)")
      }
    }
    var line = ReadLine()
    _ = line.ask(1, .until(.crlf, maximum: 4))
    #expect(line.receive("abcdef") == [.failed(RequestID(1), .terminatorNotFound(maximum: 4))])
    #expect(line.ask(2, .any(atMost: 10)) == [met(2, "abcdef")])
  }

  @Test("I20: a timeout starts when the request comes to the head, and not before the opening")
  func timeoutStart() {
    var line = ReadLine(isOpen: false)
    _ = line.ask(1, .exactly(1), timeout: .seconds(5))
    _ = line.ask(2, .exactly(1), timeout: .seconds(3))
    let unopened = line.reads.nextDeadline
    #expect(unopened == nil)
    line.now = .origin + .seconds(100)
    #expect(line.handle(.opened).isEmpty)
    let first = line.reads.nextDeadline
    #expect(first == .origin + .seconds(105))
    line.now = .origin + .seconds(104)
    #expect(line.receive("a") == [met(1, "a")])
    #expect(line.rest().isEmpty)
    let second = line.reads.nextDeadline
    #expect(second == .origin + .seconds(107))
  }

  @Test("F36: at n - 1 bytes a timeout may be extended, twice; then it fails and loses no byte")
  func extensions() {
    var line = ReadLine()
    let id = RequestID(1)
    _ = line.ask(1, .exactly(4), timeout: .seconds(5))
    #expect(line.receive("abc").isEmpty)
    line.now = .origin + .seconds(4)
    #expect(line.handle(.deadline).isEmpty)
    line.now = .origin + .seconds(5)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 3)])
    #expect(line.handle(.deadline).isEmpty)
    #expect(line.handle(.answered(RequestID(9), nil)).isEmpty)
    #expect(line.handle(.answered(id, .seconds(2))).isEmpty)
    #expect(line.handle(.answered(id, nil)).isEmpty)
    line.now = .origin + .seconds(7)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 3)])
    #expect(line.handle(.answered(id, .seconds(1))).isEmpty)
    line.now = .origin + .seconds(8)
    #expect(line.handle(.deadline) == [.expired(id, byteCount: 3)])
    #expect(
      line.handle(.answered(id, .zero)) == [.failed(id, .timedOut(.read, byteCount: 3))])
    let deadline = line.reads.nextDeadline
    #expect(deadline == nil)
    #expect(line.ask(2, .exactly(3)) == [met(2, "abc")])
  }

  @Test("F36: a read beyond the peer's end fails with how many bytes there were; they stay")
  func peerEnd() {
    var line = ReadLine()
    _ = line.ask(1, .exactly(2))
    _ = line.ask(2, .exactly(9))
    _ = line.ask(3, .exactly(1))
    #expect(line.receive("abcd") == [met(1, "ab")])
    #expect(
      line.handle(.ended) == [.failed(RequestID(2), .ended(byteCount: 2)), met(3, "c")])
    #expect(line.ask(4, .until(.lf, maximum: 5)) == [.failed(RequestID(4), .ended(byteCount: 1))])
    #expect(line.ask(5, .any(atMost: 5)) == [met(5, "d")])
    #expect(line.ask(6, .any(atMost: 5)) == [.failed(RequestID(6), .ended(byteCount: 0))])
    #expect(line.handle(.failed(.closedByUser)).isEmpty)
    #expect(line.reads.room == 0)
  }

  @Test("I16: after a failure what had arrived is read first; a close drops it")
  func failure() {
    var line = ReadLine()
    let cause = Cause.system(.connectionReset)
    #expect(line.receive("ab").isEmpty)
    #expect(line.handle(.failed(cause)).isEmpty)
    #expect(line.ask(1, .any(atMost: 1)) == [met(1, "a")])
    #expect(line.ask(2, .exactly(2)) == [.failed(RequestID(2), .closed(cause))])
    #expect(line.handle(.closed).isEmpty)
    #expect(line.ask(3, .any(atMost: 1)) == [.failed(RequestID(3), .closed(.closedByUser))])
  }

  @Test("F36: a read that is taken back leaves its bytes to the next one")
  func cancelled() {
    var line = ReadLine()
    _ = line.ask(1, .exactly(10), timeout: .seconds(1))
    _ = line.ask(2, .exactly(2))
    _ = line.receive("abc")
    #expect(line.handle(.cancelled(RequestID(1))) == [.failed(RequestID(1), .cancelled)])
    let deadline = line.reads.nextDeadline
    #expect(deadline == nil)
    #expect(line.rest() == [met(2, "ab")])
    #expect(line.handle(.cancelled(RequestID(1))).isEmpty)
  }

  @Test("I21: no more is read from the system than a request needs, or the bound")
  func room() {
    var line = ReadLine(isOpen: false)
    #expect(line.reads.room == 0)
    _ = line.handle(.opened)
    #expect(line.reads.room == ReadRequests.readAhead)
    _ = line.receive(String(repeating: "x", count: ReadRequests.readAhead))
    #expect(line.reads.room == 0)
    _ = line.ask(1, .exactly(100_000))
    #expect(line.reads.room == 100_000 - ReadRequests.readAhead)
  }

  @Test("I16, I21: what cannot be asked, and too much of it, is refused with the reason")
  func refusals() {
    var line = ReadLine()
    #expect(line.ask(1, .any(atMost: 0)) == [.failed(RequestID(1), .invalidCount(0))])
    #expect(line.ask(2, .exactly(-1)) == [.failed(RequestID(2), .invalidCount(-1))])
    #expect(
      line.ask(3, .until(.crlf, maximum: 1))
        == [.failed(RequestID(3), .maximumTooSmall(1, terminator: 2))])
    #expect(line.ask(4, .exactly(0)) == [met(4, "")])
    for id in 0..<UInt64(ReadRequests.limit) { #expect(line.ask(10 + id, .exactly(1)).isEmpty) }
    #expect(line.ask(5, .exactly(1)) == [.failed(RequestID(5), .bufferFull)])
    _ = line.handle(.closing)
    #expect(line.ask(6, .exactly(1)) == [.failed(RequestID(6), .closing)])
  }
}
