import ConnectionFSM
import Testing
import Transports

/// What an engine said and wrote, driven by hand.
struct EngineRun {
  var engine: DelimiterFraming
  var output = EngineOutput()
  private let now = Instant.origin

  init(_ engine: DelimiterFraming) { self.engine = engine }

  mutating func receive(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    engine.receive(bytes.span.bytes, at: now, into: &output)
  }

  mutating func receive(_ text: String) { receive(text.utf8) }

  mutating func receiveEnd() { engine.receiveEnd(at: now, into: &output) }

  mutating func close() { engine.close(at: now, into: &output) }

  mutating func start() { engine.start(at: now, into: &output) }

  mutating func send(_ text: String, _ sequence: UInt64 = 1) {
    let id = MessageID(lane: LaneID(0), sequence: sequence)
    engine.send(Message(text), id: id, into: &output)
  }

  mutating func ping(_ number: UInt32) { engine.ping(number, into: &output) }

  var events: [EngineEvent] { output.events }
  var written: String { String(decoding: output.bytes, as: UTF8.self) }
}

private func lines(_ texts: String...) -> [EngineEvent] { texts.map { .message(Message($0)) } }

private func acknowledged(_ sequence: UInt64) -> EngineEvent {
  .acknowledged(through: MessageID(lane: LaneID(0), sequence: sequence))
}

@Suite("F35: delimiter framing")
struct DelimiterFramingTests {
  @Test("I13, B2.2, B3.14: a stream cut in two anywhere gives the same events")
  func everySplit() throws {
    let repeating = try Delimiter([0x61, 0x61, 0x62])
    let cases: [(Delimiter, String, [EngineEvent])] = [
      (.crlf, "one\r\n\r\ntwo\r\r\nth\nree\r\n", lines("one", "", "two\r", "th\nree")),
      (.lf, "one\n\ntwo\r\n", lines("one", "", "two\r")),
      (.nul, "one\0\0two\n\0", lines("one", "", "two\n")),
      // An overlap that a search without memory would miss: aaab ends with the delimiter aab.
      (repeating, "xaaabaabaxaab", lines("xa", "", "ax")),
    ]
    for (delimiter, text, expected) in cases {
      let bytes = Array(text.utf8)
      let engine = try DelimiterFraming(delimiter: delimiter, maximumLength: 16)
      for first in 0...bytes.count {
        for second in first...bytes.count {
          var run = EngineRun(engine)
          run.receive(bytes[..<first])
          run.receive(bytes[first..<second])
          run.receive(bytes[second...])
          run.receiveEnd()
          #expect(run.events == expected + [.closed(nil)], "cut at \(first) and \(second)")
        }
      }
    }
  }

  @Test("I13, B2.3: random bytes in random pieces give the events of the whole, byte for byte")
  func randomStreams() throws {
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      // Few letters, so that delimiters and halves of them abound.
      let letters = 1 + random.next(through: 2)
      let pattern = (0...random.next(through: 3)).map { _ in UInt8(random.next(through: letters)) }
      let bytes = (0..<400).map { _ in UInt8(random.next(through: letters)) }
      let engine = try DelimiterFraming(
        delimiter: try Delimiter(pattern), keepsDelimiter: seed % 2 == 0,
        maximumLength: 1 + Int(random.next(through: 60)))
      var whole = EngineRun(engine)
      whole.receive(bytes)
      whole.receiveEnd()
      var pieces = EngineRun(engine)
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + Int(random.next(through: 9)))
        pieces.receive(bytes[start..<end])
        start = end
      }
      pieces.receiveEnd()
      #expect(whole.events == pieces.events, "seed \(seed)")
      #expect(whole.events == reference(bytes, pattern, engine, seed % 2 == 0), "seed \(seed)")
    }
  }

  /// The slow and obvious way, for comparison; the limit is found by asking the engine's
  /// validation.
  private func reference(
    _ bytes: [UInt8], _ pattern: [UInt8], _ engine: DelimiterFraming, _ keeps: Bool
  ) -> [EngineEvent] {
    var events: [EngineEvent] = []
    var line: [UInt8] = []
    func isTooLong(_ line: [UInt8]) -> Bool {
      if case .messageTooLong = problem(line) { true } else { false }
    }
    func problem(_ line: [UInt8]) -> FramingError? {
      do throws(FramingError) { try engine.validate(Message(bytes: line)) } catch { return error }
      return nil
    }
    for byte in bytes {
      line.append(byte)
      if line.suffix(pattern.count).elementsEqual(pattern) {
        let payload = Array(line.dropLast(pattern.count))
        if isTooLong(payload) { return events + [.failed(.protocolError)] }
        events.append(.message(Message(bytes: keeps ? line : payload, kind: .text)))
        line = []
      }
    }
    // The longest end of the rest that may still become a delimiter does not count.
    let open = (0..<pattern.count).last { line.suffix($0).elementsEqual(pattern.prefix($0)) } ?? 0
    if isTooLong(Array(line.dropLast(open))) { return events + [.failed(.protocolError)] }
    return events + [line.isEmpty ? .closed(nil) : .failed(.truncated)]
  }

  @Test("a line of exactly the limit arrives, one byte more breaks the protocol")
  func maximumLength() throws {
    for delimiter in [Delimiter.crlf, .lf, .nul] {
      let end = String(decoding: delimiter.bytes, as: UTF8.self)
      let engine = try DelimiterFraming(delimiter: delimiter, maximumLength: 5)
      var exact = EngineRun(engine)
      exact.receive("12345" + end + "12345")
      #expect(exact.events == lines("12345"))
      exact.receive(end)
      #expect(exact.events == lines("12345", "12345"))
      var exceeded = EngineRun(engine)
      exceeded.receive("ok" + end + "123456" + end + "late" + end)
      exceeded.receive("late" + end)
      exceeded.receiveEnd()
      exceeded.send("late")
      exceeded.close()
      #expect(exceeded.events == lines("ok") + [.failed(.protocolError)])
      #expect(exceeded.written == "")
    }
  }

  @Test("I21: a line that never ends fails with the first byte that is certainly too much")
  func endlessLine() throws {
    var run = EngineRun(try DelimiterFraming(delimiter: .crlf, maximumLength: 3))
    run.receive("abc")
    run.receive("\r")
    #expect(run.events.isEmpty)
    run.receive("\r")
    #expect(run.events == [.failed(.protocolError)])
  }

  @Test("the end inside a line is truncation, between lines an orderly end")
  func end() throws {
    let engine = try DelimiterFraming(delimiter: .crlf, maximumLength: 10)
    for rest in ["x", "\r"] {
      var run = EngineRun(engine)
      run.receive("a\r\n" + rest)
      run.receiveEnd()
      run.receiveEnd()
      #expect(run.events == lines("a") + [.failed(.truncated)])
    }
    var run = EngineRun(engine)
    run.receive("a\r\n")
    run.receiveEnd()
    run.receive("b\r\n")
    #expect(run.events == lines("a") + [.closed(nil)])
  }

  @Test("the delimiter stays at the end of the message where that is wanted")
  func keepsDelimiter() throws {
    var run = EngineRun(
      try DelimiterFraming(delimiter: .crlf, keepsDelimiter: true, maximumLength: 4))
    run.receive("abcd\r")
    run.receive("\n\r\n")
    #expect(run.events == lines("abcd\r\n", "\r\n"))
  }

  @Test(
    "a link without a handshake opens at once; close finishes writing once, and reading goes on")
  func life() throws {
    var run = EngineRun(try DelimiterFraming(delimiter: .lf, maximumLength: 9))
    run.start()
    run.send("a")
    run.send("")
    run.close()
    run.close()
    run.send("late")
    run.receive("b\n")
    run.receiveEnd()
    #expect(run.written == "a\n\n")
    #expect(run.events == [.opened, .finished] + lines("b") + [.closed(nil)])
    #expect(run.engine.nextDeadline == nil && !run.engine.canPing)
  }

  @Test("F42: the longConnect fixture goes out as the ping line")
  func pingLine() throws {
    var run = EngineRun(
      try DelimiterFraming(
        delimiter: .crlf, maximumLength: 64, pingLine: Array("longConnect".utf8)))
    run.ping(1)
    run.receive("longConnect\r\n")
    #expect(run.engine.canPing)
    #expect(run.written == "longConnect\r\n")
    #expect(run.events == lines("longConnect"))
  }

  @Test("a pong line answers the last ping and is never a message")
  func pongLine() throws {
    var run = EngineRun(
      try DelimiterFraming(
        delimiter: .lf, keepsDelimiter: true, maximumLength: 9, pingLine: Array("?".utf8),
        pongLine: Array("!".utf8)))
    run.receive("!\n")
    run.ping(7)
    run.ping(8)
    run.receive("!\n!!\n!\n")
    #expect(run.written == "?\n?\n")
    #expect(run.events == [.pong(8)] + lines("!!\n") + [.pong(8)])
  }

  @Test("with echoes the k-th line received answers the k-th line sent, pings in their places")
  func echo() throws {
    var run = EngineRun(
      try DelimiterFraming(
        delimiter: .lf, maximumLength: 9, acknowledgement: .echo, pingLine: Array("p".utf8)))
    run.send("a", 1)
    run.ping(5)
    run.send("p", 2)
    run.receive("a\np\np\nextra\n")
    #expect(
      run.events == lines("a") + [acknowledged(1), .pong(5)] + lines("p") + [acknowledged(2)]
        + lines("extra"))
    run.output.events = []
    for sequence in UInt64(3)...200 { run.send("x", sequence) }
    for _ in 3...200 { run.receive("x\n") }
    #expect(run.events.filter { $0 != lines("x")[0] } == (3...200).map(acknowledged))
  }

  @Test("I16, B2.2: a message that would be read as other lines is refused, and never written")
  func validation() throws {
    let engine = try DelimiterFraming(delimiter: .crlf, maximumLength: 4)
    #expect(throws: FramingError.messageHoldsDelimiter) { try engine.validate(Message("a\r\nb")) }
    #expect(throws: FramingError.messageTooLong(count: 5, limit: 4)) {
      try engine.validate(Message("12345"))
    }
    #expect(throws: Never.self) { try engine.validate(Message("a\r")) }
    #expect(throws: Never.self) { try engine.validate(Message("a\nb\r")) }
    var run = EngineRun(engine)
    run.send("ok")
    run.send("a\r\nb")
    run.send("ok")
    #expect(run.written == "ok\r\n")
    #expect(run.events == [.failed(.protocolError)])
    let twice = try DelimiterFraming(delimiter: try Delimiter([7, 7]), maximumLength: 4)
    #expect(throws: FramingError.messageHoldsDelimiter) {
      try twice.validate(Message(bytes: [1, 7]))
    }
    #expect(throws: Never.self) { try twice.validate(Message(bytes: [7, 1])) }
  }

  @Test("each bad argument is refused by name")
  func configuration() {
    #expect(throws: FramingError.emptyDelimiter) { try Delimiter([]) }
    #expect(throws: FramingError.maximumLengthTooSmall(0)) {
      try DelimiterFraming(delimiter: .lf, maximumLength: 0)
    }
    #expect(throws: FramingError.invalidPingLine) {
      try DelimiterFraming(delimiter: .lf, maximumLength: 9, pingLine: [10])
    }
    #expect(throws: FramingError.invalidPingLine) {
      try DelimiterFraming(delimiter: .lf, maximumLength: 1, pingLine: [1, 2])
    }
    #expect(throws: FramingError.invalidPongLine) {
      try DelimiterFraming(delimiter: .lf, maximumLength: 1, pingLine: [1], pongLine: [10])
    }
    #expect(throws: FramingError.pongLineWithoutUse) {
      try DelimiterFraming(delimiter: .lf, maximumLength: 9, pongLine: [1])
    }
    #expect(throws: FramingError.pongLineWithoutUse) {
      try DelimiterFraming(
        delimiter: .lf, maximumLength: 9, acknowledgement: .echo, pingLine: [1], pongLine: [2])
    }
    let errors: [FramingError] = [
      .emptyDelimiter, .maximumLengthTooSmall(0), .invalidPingLine, .invalidPongLine,
      .pongLineWithoutUse, .messageHoldsDelimiter, .messageTooLong(count: 2, limit: 1),
    ]
    for error in errors { #expect(error.description.contains(":")) }
  }

  @Test("a megabyte without a delimiter, byte by byte, takes linear time")
  func linear() throws {
    var run = EngineRun(try DelimiterFraming(delimiter: .crlf, maximumLength: 1 << 20))
    for _ in 0..<1 << 20 { run.receive(CollectionOfOne(0x0D)) }
    run.receive("\r\n")
    #expect(run.events.count == 1)
  }
}
