import ConnectionFSM
import Testing
import Transports

/// What a reader of heads makes of bytes in these pieces.
private func read<Start: HTTPStartLine>(
  _ pieces: [ArraySlice<UInt8>], _: Start.Type = StatusLine.self
) -> (progress: HTTPHeadParser<Start>.Progress, end: Int) {
  var parser = HTTPHeadParser<Start>()
  var before = 0
  for piece in pieces {
    switch parser.receive(Array(piece).span.bytes) {
    case .goesOn: before += piece.count
    case .head(let head, let taken): return (.head(head, taken: 0), before + taken)
    case .failed(let error): return (.failed(error), parser.offset)
    }
  }
  return (.goesOn, parser.offset)
}

private func read<Start: HTTPStartLine>(
  _ text: String, _: Start.Type = StatusLine.self
) -> HTTPHeadParser<Start>.Progress {
  read([Array(text.utf8)[...]], Start.self).progress
}

private func answer(_ text: String) -> HTTPHead<StatusLine>? {
  if case .head(let head, _) = read(text, StatusLine.self) { head } else { nil }
}

@Suite("RFC 9112: heads")
struct HTTPHeadTests {
  @Test("fields keep their order and spelling, lose blanks at their ends, and are found by name")
  func fields() throws {
    let head = try #require(
      answer("HTTP/1.1 101 On\r\nUpgrade:websocket\r\nvia: \t a  b \t\nX:\r\nVIA:c\r\n\r\n"))
    #expect(head.start.status == 101)
    #expect(head.fields.map(\.name) == ["Upgrade", "via", "X", "VIA"])
    #expect(head.values(of: "Via") == ["a  b", "c"])
    #expect(head.values(of: "x") == [""])
    #expect(head.values(of: "y") == [])
    #expect(HTTPResponse(head).values(of: "UPGRADE") == ["websocket"])
  }

  @Test("a folded field of an answer is one field; of a request it is refused")
  func folding() throws {
    let folded = try #require(answer("HTTP/1.1 200 OK\r\nA: b\r\n\t c\r\n  \r\n d\r\nE: f\r\n\r\n"))
    #expect(folded.values(of: "a") == ["b c d"])
    #expect(folded.values(of: "e") == ["f"])
    #expect(read("HTTP/1.1 200 OK\r\n A: b\r\n\r\n") == .failed(.garbled(offset: 23)))
    #expect(
      read("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", RequestLine.self)
        == .failed(.garbled(offset: 25)))
  }

  @Test("a request line has a method, a target and a version, with one space between them")
  func requestLine() throws {
    guard
      case .head(let head, _) = read("GET /a?b=c HTTP/1.1\r\n\r\n", RequestLine.self)
    else {
      Issue.record("no head")
      return
    }
    #expect(head.start.method == "GET")
    #expect(head.start.target == "/a?b=c")
    #expect(head.start.minorVersion == 1)
    let broken = [
      ("\u{16}\u{3}\u{1}", 0), ("\r\n", 0), (" / HTTP/1.1\r\n", 0), ("GET\0", 3),
      ("GET /\r\n", 6), ("GET  / HTTP/1.1\r\n", 16), ("GET / HTTP/1.1 \r\n", 16),
      ("GET / HTTP/2.0\r\n", 15), ("GET / HTTP/1.x\r\n", 15), ("G,T / HTTP/1.1\r\n", 15),
      ("GET /\u{E4} HTTP/1.1\r\n", 17), ("GET / http/1.1\r\n", 15), ("GET / HTTP/1.10\r\n", 16),
    ]
    for (text, offset) in broken {
      #expect(
        read(text, RequestLine.self) == .failed(.garbled(offset: offset)),
        "\(text.debugDescription)")
    }
  }

  @Test("I21: 16 KiB are the bound of all heads together, and 8 of the interim ones")
  func bounds() {
    let limit = HTTPHeadParser<StatusLine>.limit
    #expect(limit == 16 << 10)
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    let begin = String(repeating: interim, count: 8) + "HTTP/1.1 200 OK\r\nA: "
    for (extra, fits) in [(0, true), (1, false)] {
      let filling = String(repeating: "x", count: limit - begin.utf8.count - 4 + extra)
      let (progress, end) = read(Array("\(begin)\(filling)\r\n\r\nrest".utf8).pieces(of: 1000))
      if fits {
        #expect(end == limit)
      } else {
        #expect(progress == .failed(.tooLong(limit: limit)))
      }
    }
    #expect(
      read(String(repeating: interim, count: 9)) == .failed(.tooManyInterimAnswers(limit: 8)))
  }

  @Test("I13: 3000 drawn heads end alike in every split, and none traps")
  func drawn() {
    let words = [
      "HTTP/1.1 ", "101", "103", "200", " OK", "\r\n", "\n", "\r", "A: b", ":", " c", "\0", "x",
      "\r\n\r\n", "GET / HTTP/1.1", "GET", " /", "\u{E4}", "HTTP/1.1 200 OK\r\n",
    ]
    for seed in UInt64(1)...3000 {
      var dice = SplitMix64(seed: seed)
      var bytes: [UInt8] = []
      for _ in 0..<(1 + dice.next(through: 14)) {
        bytes += words[Int(dice.next(through: UInt64(words.count - 1)))].utf8
      }
      if dice.next(through: 3) == 0 {
        bytes = bytes.map { dice.next(through: 9) == 0 ? UInt8(dice.next(through: 255)) : $0 }
      }
      let pieces = bytes.pieces(&dice, longest: 7)
      let answer = read([bytes[...]])
      let request = read([bytes[...]], RequestLine.self)
      for cut in [pieces, bytes.indices.map { bytes[$0...$0] }] {
        let (progress, end) = read(cut)
        #expect(progress == answer.progress && end == answer.end, "seed \(seed)")
        let asked = read(cut, RequestLine.self)
        #expect(asked.progress == request.progress && asked.end == request.end, "seed \(seed)")
      }
    }
  }

  @Test("a field that would break the message is refused, and its value never shown")
  func fieldErrors() throws {
    for name in ["", "A b", "A:", "A\r\n", "Ä", "A\0"] {
      let error = #expect(throws: HTTPFieldError.self) { try HTTPField(name, "x") }
      #expect(error?.problem == .name && error?.name == name)
    }
    for value in ["a\r\nEvil: 1", "a\n", "\0", "\u{7F}", "\u{1B}"] {
      let error = #expect(throws: HTTPFieldError.self) {
        try HTTPField("A", "secret\(value)")
      }
      #expect(error?.problem == .value && error?.name == "A")
      #expect(error.map { !"\($0)".contains("secret") } == true)
    }
    #expect(try HTTPField("A", " \tb c\t").value == "b c")
    #expect(try HTTPField("A", "ä") == HTTPField("A", "ä"))
    #expect(try HTTPField("A", " ").value == "")
  }

  @Test("no description and no mirror shows credentials or cookies")
  func secrets() throws {
    for name in ["Authorization", "cookie", "Set-Cookie", "PROXY-AUTHORIZATION"] {
      let field = try HTTPField(name, "hunter2")
      var dumped = ""
      dump([field], to: &dumped)
      #expect(!("\(field)\([field])\(String(reflecting: field))" + dumped).contains("hunter2"))
    }
    #expect(try "\(HTTPField("Origin", "https://a"))" == "Origin: https://a")
  }
}

extension [UInt8] {
  fileprivate func pieces(of size: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min(count, $0 + size)] }
  }
}
