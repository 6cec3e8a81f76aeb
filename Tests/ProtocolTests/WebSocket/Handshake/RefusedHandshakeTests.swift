import ConnectionFSM
import Testing
import Transports

@Suite("F20: answers that open nothing")
struct RefusedHandshakeTests {
  @Test("every status but 101 is its cause, and each class of them has its verdict")
  func statuses() throws {
    let table: [([UInt16], Verdict)] = [
      ([200, 201, 204, 299], .terminal),
      ([300, 301, 302, 303, 304, 307, 308, 399], .terminal),
      ([400, 402, 403, 404, 405, 406, 409, 410] + Array(411...417), .terminal),
      ([401, 407], .terminal.refreshing),
      ([408, 425], .transient), ([421], .transient.capped(1)),
      ([426, 428, 431, 451, 499], .terminal), ([429], .transient.slow),
      ([500, 507, 508, 599], .transient.capped(10)), ([501, 505, 506, 510], .terminal),
      ([502, 503, 504], .transient), ([511], .network),
    ]
    for (statuses, verdict) in table {
      for status in statuses {
        var trial = try HandshakeTrial()
        let progress = trial.receive(Int(status), "Location: ws://b/")
        let cause = Cause.http(status: status)
        #expect(progress == .failed(cause, .status(status)))
        #expect(cause.verdict() == verdict, "\(status)")
        #expect(trial.error?.response?.status == status)
        #expect(trial.error.map { "\($0)".contains("HTTP \(status)") } == true)
      }
    }
  }

  @Test("F13: Retry-After is part of the cause, as seconds or as a date")
  func retryAfter() throws {
    for status: UInt16 in [429, 503] {
      var seconds = try HandshakeTrial()
      let first = seconds.receive(Int(status), "Retry-After: 17")
      #expect(first == .failed(.http(status: status, retryAfter: 17), .status(status)))
      #expect(seconds.error.map { "\($0)".contains("again in 17 s") } == true)
      var date = try HandshakeTrial()
      let second = date.receive(
        Int(status), "Date: Sun, 06 Nov 1994 08:49:37 GMT",
        "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT")
      #expect(second == .failed(.http(status: status, retryAfter: 60), .status(status)))
    }
  }

  @Test("an error tells the mend: credentials, versions, the place; a server's words are cut")
  func words() throws {
    let long = String(repeating: "x", count: 8000)
    let table: [(Int, [String], String)] = [
      (200, [], "portal"), (302, ["Location: /b?token=1"], "points to ws://server.example.com/b:"),
      (302, ["Location: mailto:a"], "elsewhere"), (302, [], "HTTP 302"),
      (401, ["WWW-Authenticate: Basic realm=\"x\""], "(Basic realm=\"x\")"), (401, [], "headers"),
      (401, ["WWW-Authenticate: \(long)"], "xxx…)"),
      (407, ["Proxy-Authenticate: Digest"], "(Digest)"), (403, [], "Origin"), (404, [], "path"),
      (426, ["Sec-WebSocket-Version: 8, 7"], "version 8, 7 of the protocol, and not 13"),
      (
        426, ["Sec-WebSocket-Version: 8", "Sec-WebSocket-Version: 13"],
        "though it speaks version 13"
      ),
      (426, ["Upgrade: h2c"], "another protocol"), (599, [], "HTTP 599"),
    ]
    for (status, fields, expected) in table {
      var trial = try HandshakeTrial()
      let lines = (["HTTP/1.1 \(status)"] + fields + ["", ""]).joined(separator: "\r\n")
      _ = trial.receive(lines)
      let text = try #require(trial.error).description
      #expect(text.contains(expected), "\(text)")
      #expect(text.count < 400)
    }
  }

  @Test("no error shows a header of the request, a cookie, or a query")
  func secrets() throws {
    var trial = try HandshakeTrial(
      "ws://a/b?key=hunter2",
      headers: [HTTPField("Authorization", "hunter2"), HTTPField("X-Key", "hunter2")])
    _ = trial.receive(401, "Set-Cookie: hunter2", "WWW-Authenticate: Bearer")
    let error = try #require(trial.error)
    let shown = "\(error)\(error.response?.fields ?? [])"
    #expect(!shown.contains("hunter2"))
    #expect(error.response?.values(of: "set-cookie") == ["hunter2"])
    #expect(error.response?.values(of: "WWW-Authenticate") == ["Bearer"])
  }

  @Test("a peer that ends before its answer is transient, at every byte of it")
  func ends() throws {
    let answer = Array(HandshakeTrial.answer().utf8)
    for count in 0..<answer.count {
      var trial = try HandshakeTrial()
      let progress = trial.receive([answer[..<count]])
      #expect(progress == .goesOn)
      let (cause, error) = trial.handshake.receiveEnd()
      #expect(cause == (count == 0 ? .closedByPeer(nil) : .truncated))
      #expect(error.problem == (count == 0 ? .endedBeforeAnswer : .endedInside(offset: count)))
      #expect(cause.failureClass == .transient)
    }
  }

  @Test("what is no HTTP is told at once, with its place, and what has no end is cut")
  func garbage() throws {
    let cases = [
      ("SSH-2.0-OpenSSH", 0), ("\u{15}\u{3}\u{3}", 0), ("HTTP/2 101", 5),
      ("HTTP/1.1 101\r\nno colon\r\n", 23), ("HTTP/1.1 600 No\r\n", 16),
    ]
    for (answer, offset) in cases {
      var trial = try HandshakeTrial()
      let progress = trial.receive(answer)
      #expect(progress == .failed(.protocolError, .garbled(offset: offset)))
      #expect(trial.error?.response == nil)
      let mentionsTLS = trial.error.map { "\($0)".contains("wss://") }
      #expect(mentionsTLS == (offset == 0))
    }
    var endless = try HandshakeTrial()
    let progress = endless.receive("HTTP/1.1 101\r\nA: \(String(repeating: "x", count: 17000))")
    #expect(progress == .failed(.protocolError, .headTooLong(limit: 16 << 10)))
    var patient = try HandshakeTrial()
    let tooMany = patient.receive(String(repeating: "HTTP/1.1 102 Wait\r\n\r\n", count: 9))
    #expect(tooMany == .failed(.protocolError, .tooManyInterimAnswers(limit: 8)))
  }

  @Test("I13: 4000 drawn answers end alike in every split, and none traps")
  func drawn() throws {
    let words =
      HandshakeTrial.fields.map { "\($0)\r\n" } + [
        "HTTP/1.1 101 X\r\n", "HTTP/1.1 302 X\r\n", "HTTP/1.1 503\n", "HTTP/1.1 100\n\n", "\r\n",
        "\n",
        "Location: ", "Location: /../x\r\n", "//b/", "ws://c", "?", ":", "\0", "Retry-After: 9\r\n",
        "Sec-WebSocket-Protocol: a\r\n", "Sec-WebSocket-Extensions: permessage-deflate\r\n", ",",
        " ",
      ]
    let options = try WebSocketOptions(
      WebSocketURL("ws://a/b"), subprotocols: ["a"], compression: WebSocketCompression(),
      redirectLimit: 2)
    for seed in UInt64(1)...4000 {
      var dice = SplitMix64(seed: seed)
      var bytes: [UInt8] = []
      if dice.next(through: 1) == 0 { bytes += "HTTP/1.1 101 X\r\n".utf8 }
      for _ in 0..<dice.next(through: 12) {
        bytes += words[Int(dice.next(through: UInt64(words.count - 1)))].utf8
      }
      if dice.next(through: 4) == 0 {
        bytes = bytes.map { dice.next(through: 15) == 0 ? UInt8(dice.next(through: 255)) : $0 }
      }
      var whole = HandshakeTrial(options)
      let expected = whole.receive([bytes[...]])
      for pieces in [bytes.pieces(&dice, longest: 9), bytes.indices.map { bytes[$0...$0] }] {
        var cut = HandshakeTrial(options)
        let progress = cut.receive(pieces)
        #expect(progress == expected, "seed \(seed)")
        #expect(cut.error == whole.error, "seed \(seed)")
      }
      if case .goesOn = expected { _ = whole.handshake.receiveEnd() }
    }
  }
}
