import ConnectionFSM
import Testing
import Transports

/// What a server makes of a request in these pieces; `taken` counts all of its bytes.
private func ask(_ pieces: [ArraySlice<UInt8>]) -> ServerHandshake.Progress {
  var handshake = ServerHandshake()
  var before = 0
  for piece in pieces {
    switch handshake.receive(Array(piece).span.bytes) {
    case .goesOn: before += piece.count
    case .asked(let request, let taken): return .asked(request, taken: before + taken)
    case .refused(let refusal): return .refused(refusal)
    }
  }
  return .goesOn
}

private func ask(_ text: String) -> ServerHandshake.Progress { ask([Array(text.utf8)[...]]) }

@Suite("F20: a server's side")
struct ServerHandshakeTests {
  private static let lines = [
    "GET /chat?a=b HTTP/1.1", "Host: server.example.com", "Upgrade: websocket",
    "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
  ]

  /// A good request, but for one line and with some more.
  private func text(
    _ place: Int? = nil, _ line: String? = nil, more: [String] = []
  ) -> String {
    var lines = Self.lines
    if let place, let line { lines[place] = line } else if let place { lines.remove(at: place) }
    return (lines + more + ["", ""]).joined(separator: "\r\n")
  }

  private func request(_ text: String) throws -> ServerHandshake.Request {
    guard case .asked(let request, _) = ask(text) else {
      Issue.record("\(ask(text))")
      throw CancellationError()
    }
    return request
  }

  @Test("a request is read whole, whatever its case and lists")
  func read() throws {
    let plain = try request(text())
    #expect(plain.resource == "/chat?a=b" && plain.host == "server.example.com")
    #expect(plain.key == "dGhlIHNhbXBsZSBub25jZQ==")
    #expect(plain.subprotocols == [] && plain.extensions == [])
    #expect(plain.fields.count == 5)
    let rich = try request(
      """
      GET / HTTP/1.1
      HOST: [::1]:8080
      connection: keep-alive, UPGRADE
      upgrade: h2c, WebSocket
      sec-websocket-key:  AAAAAAAAAAAAAAAAAAAAAA==
      sec-websocket-version: 13
      Content-Length: 0
      sec-websocket-protocol: a, b
      sec-websocket-protocol: c
      Sec-WebSocket-Extensions: x; y=1
      Sec-WebSocket-Extensions: z


      """)
    #expect(rich.host == "[::1]:8080" && rich.subprotocols == ["a", "b", "c"])
    #expect(rich.extensions == ["x; y=1", "z"])
    let absolute = try request(text(0, "GET http://Other.example:81/x?y HTTP/1.1"))
    #expect(absolute.resource == "/x?y" && absolute.host == "other.example:81")
  }

  @Test("every request that is none is refused with its status")
  func refused() {
    let table: [(Int?, String?, [String], UInt16)] = [
      (0, "POST /chat HTTP/1.1", [], 405), (0, "get /chat HTTP/1.1", [], 405),
      (0, "HEAD /chat HTTP/1.1", [], 405), (0, "GET /chat HTTP/1.0", [], 400),
      (0, "GET /chat", [], 400), (0, "GET chat HTTP/1.1", [], 400), (0, "GET * HTTP/1.1", [], 400),
      (0, "GET /a#b HTTP/1.1", [], 400), (0, "GET http:///a HTTP/1.1", [], 400),
      (0, "CONNECT a:80 HTTP/1.1", [], 405), (0, "PRI * HTTP/2.0", [], 400),
      (1, nil, [], 400), (1, "Host:", [], 400), (nil, nil, ["Host: b"], 400),
      (1, "Host : a", [], 400), (2, nil, [], 426), (2, "Upgrade: h2c", [], 426), (3, nil, [], 400),
      (3, "Connection: close", [], 400), (4, nil, [], 400), (4, "Sec-WebSocket-Key:", [], 400),
      (4, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ", [], 400),
      (4, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==", [], 400),
      (4, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j-Q==", [], 400),
      (4, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==AAAA", [], 400),
      (4, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZXM=", [], 400),
      (nil, nil, ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], 400), (5, nil, [], 426),
      (5, "Sec-WebSocket-Version: 8", [], 426), (5, "Sec-WebSocket-Version: 013", [], 426),
      (5, "Sec-WebSocket-Version: 13, 8", [], 426),
      (nil, nil, ["Sec-WebSocket-Version: 13"], 400), (nil, nil, ["Content-Length: 5"], 400),
      (nil, nil, ["Transfer-Encoding: chunked"], 400),
      (nil, nil, ["Sec-WebSocket-Protocol: a b"], 400),
      (nil, nil, ["Sec-WebSocket-Protocol: a, a"], 400), (nil, nil, ["A: b", " folded"], 400),
      (nil, nil, ["A: \(String(repeating: "x", count: 17000))"], 431),
    ]
    for (place, line, more, status) in table {
      let progress = ask(text(place, line, more: more))
      guard case .refused(let refusal) = progress else {
        Issue.record("\(line ?? "") \(more): \(progress)")
        continue
      }
      #expect(refusal.status == status, "\(line ?? "") \(more)")
      #expect(!refusal.words.isEmpty)
    }
    #expect(ask("\u{16}\u{3}\u{1}") == .refused(.init(status: 400, words: "no HTTP at byte 0")))
  }

  @Test("what stands behind the blank line is frames, in every split of the request")
  func splits() throws {
    let bytes = Array(text().utf8)
    let whole = ask([bytes[...]])
    for pieces in (bytes + [0x81, 0x80, 1, 2, 3, 4]).cuts { #expect(ask(pieces) == whole) }
    guard case .asked(_, let taken) = whole else {
      Issue.record("\(whole)")
      return
    }
    #expect(taken == bytes.count)
    for end in 0..<bytes.count { #expect(ask([bytes[..<end]]) == .goesOn) }
  }

  @Test("RFC 6455 section 1.3: the answer that opens")
  func acceptance() throws {
    let request = try request(text())
    let answer = ServerHandshake.acceptance(of: request, subprotocol: "chat", extensions: "x; y")
    #expect(
      String(decoding: answer, as: UTF8.self) == """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        Sec-WebSocket-Protocol: chat\r
        Sec-WebSocket-Extensions: x; y\r
        \r

        """)
  }

  @Test("a refusal says what would do: the method, the version, and a sentence")
  func refusals() throws {
    func lines(_ status: UInt16) -> [Substring] {
      let bytes = ServerHandshake.refusal(.init(status: status, words: "No."))
      return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    }
    #expect(lines(405).prefix(2) == ["HTTP/1.1 405 Method Not Allowed", "Allow: GET"])
    #expect(
      lines(426) == [
        "HTTP/1.1 426 Upgrade Required", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Connection: Upgrade, close", "Content-Type: text/plain; charset=utf-8",
        "Content-Length: 4", "No.\n",
      ])
    #expect(lines(400)[0] == "HTTP/1.1 400 Bad Request" && lines(400)[1] == "Connection: close")
    #expect(lines(431)[0] == "HTTP/1.1 431 Request Header Fields Too Large")
    var trial = try HandshakeTrial()
    let progress = trial.receive([
      ServerHandshake.refusal(.init(status: 426, words: "No."))[...]
    ])
    #expect(progress == .failed(.http(status: 426), .status(426)))
  }

  @Test("client and server agree, with 500 drawn keys and in drawn pieces")
  func together() throws {
    let options = try WebSocketOptions(
      WebSocketURL("ws://[::1]:81/x?y"), headers: [HTTPField("Cookie", "a=b")],
      subprotocols: ["a", "b"])
    for seed in UInt64(1)...500 {
      var dice = SplitMix64(seed: seed)
      var client = ClientHandshake(options)
      var output: [UInt8] = []
      client.start(key: (0..<16).map { _ in UInt8(dice.next(through: 255)) }, into: &output)
      guard case .asked(let request, let taken) = ask(output.pieces(&dice, longest: 40)) else {
        Issue.record("seed \(seed)")
        continue
      }
      #expect(taken == output.count && request.host == "[::1]:81" && request.resource == "/x?y")
      let answer = ServerHandshake.acceptance(
        of: request, subprotocol: request.subprotocols.last, extensions: nil)
      guard case .agreed(let agreement, _) = client.receive(answer.span.bytes) else {
        Issue.record("seed \(seed)")
        continue
      }
      #expect(agreement.subprotocol == "b")
    }
  }

  @Test("I13: 3000 drawn requests end alike in every split, and none traps")
  func drawn() {
    let words =
      Self.lines.map { "\($0)\r\n" } + [
        "\r\n", "\n", " ", ":", "Sec-WebSocket-Protocol: a,,b\n", "\0",
      ]
    for seed in UInt64(1)...3000 {
      var dice = SplitMix64(seed: seed)
      var bytes = dice.next(through: 1) == 0 ? Array(Self.lines[0].utf8) + [0x0D, 0x0A] : []
      for _ in 0..<dice.next(through: 14) {
        bytes += words[Int(dice.next(through: UInt64(words.count - 1)))].utf8
      }
      if dice.next(through: 2) == 0, !bytes.isEmpty {
        bytes[Int(dice.next(through: UInt64(bytes.count - 1)))] = UInt8(dice.next(through: 255))
      }
      let whole = ask([bytes[...]])
      #expect(ask(bytes.pieces(&dice, longest: 9)) == whole, "seed \(seed)")
      #expect(ask(bytes.indices.map { bytes[$0...$0] }) == whole, "seed \(seed)")
    }
  }
}
