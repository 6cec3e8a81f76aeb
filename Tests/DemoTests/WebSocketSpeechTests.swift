import Testing

@Suite("fsm-demo speaks WebSocket with itself", .serialized, .timeLimit(.minutes(2)))
struct WebSocketSpeechTests {
  /// Serves, then connects as the server says one should, with more words and the input.
  private func talk(
    _ serve: [String], _ more: [String] = [], input: String = "one\n"
  ) throws -> Demo.Outcome {
    let server = try Demo(["serve"] + serve)
    defer { server.end() }
    let hint = try #require(server.firstLines(2).last)
    let words = try #require(hint.split(separator: " connect ").last).split(separator: " ")
    return try Demo(["connect"] + words.map(String.init) + more, input: input).finish()
  }

  /// The same for lines that are answered; the last answer comes before the end.
  private func talk(
    _ serve: [String], _ more: [String] = [], input: String = "one\n", until answer: String
  ) throws -> Demo.Outcome {
    let server = try Demo(["serve"] + serve)
    defer { server.end() }
    let hint = try #require(server.firstLines(2).last)
    let words = try #require(hint.split(separator: " connect ").last).split(separator: " ")
    var client = try Demo(["connect"] + words.map(String.init) + more, input: nil)
    client.say(input)
    client.hear(answer)
    return try client.hangUp()
  }

  @Test("F20, F22: lines go as messages and come back, in clear and over TLS trusted by its pin")
  func echo() throws {
    for scheme in ["ws", "wss"] {
      let run = try talk(["\(scheme)://127.0.0.1:0"], input: "one\ntwo\n", until: "← two")
      #expect(run.status == 0, "\(run.output) \(run.errors)")
      #expect(run.output.contains("no subprotocol, not compressed"))
      #expect(run.output.contains("← one") && run.output.contains("← two"))
      #expect(run.output.contains("Messages: 2 written."))
      #expect(run.output.contains("the peer sent its close: 1000"))
    }
  }

  @Test("F26, F28: what was agreed is shown")
  func agreed() throws {
    let run = try talk(
      ["ws://127.0.0.1:0", "--protocol", "v1", "--protocol", "v2", "--compress"],
      ["--protocol", "v3"])
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("subprotocol v1, compressed"))
  }

  @Test("F24: the code and reason of the peer's close are shown")
  func close() throws {
    let run = try talk(["ws://127.0.0.1:0", "--close", "4403:banned: go", "--at", "1"])
    #expect(run.output.contains("the peer sent its close: 4403, “banned: go”"), "\(run.output)")
  }

  @Test(
    "F22, F27: a frame that may not be is told with its place",
    arguments: [
      ("masked", "byte 1 behind the handshake: the frame is masked by a server"),
      ("reserved", "reserved bits 0x30 are set"),
      ("bad-text", "text is not UTF-8"),
      ("oversized", "a frame declares 1099511627776 bytes, more than 1048576"),
      ("endless-message", "a message has more than 1048576 bytes"),
      ("bomb", "a message has more than 1048576 bytes"),
    ])
  func frame(fault: String, words: String) throws {
    let run = try talk(["ws://127.0.0.1:0", "--fault", fault])
    #expect(run.output.contains(words), "\(run.output) \(run.errors)")
  }

  @Test(
    "F20: a handshake that opens nothing is told, and so that all is over",
    arguments: [
      (["--fault", "endless-answer"], "the head of the answer has more than 16384 bytes"),
      (["--answer", "403"], "the server answered HTTP 403"),
      (["--header", "Sec-WebSocket-Accept: x"], "the wrong Sec-WebSocket-Accept, “x”"),
      (["--header", "Upgrade:"], "the answer has no Upgrade"),
    ])
  func handshake(options: [String], words: String) throws {
    let run = try talk(["ws://127.0.0.1:0"] + options)
    #expect(run.output.contains(words), "\(run.output) \(run.errors)")
    #expect(run.errors.contains("is closed for good"), "\(run.output) \(run.errors)")
    #expect(run.status == 1)
  }

  @Test("F20: a slow answer opens, and a silent server is let go after the close deadline")
  func slow() throws {
    for fault in ["slow-answer", "silent-close"] {
      let run = try talk(["ws://127.0.0.1:0", "--fault", fault], until: "← one")
      #expect(run.status == 0, "\(run.output) \(run.errors)")
      #expect(run.output.contains("← one"))
    }
  }

  @Test("F20: a redirection from ws to wss is followed if it is allowed")
  func redirected() throws {
    let target = try Demo(["serve", "wss://127.0.0.1:0"])
    defer { target.end() }
    let lines = target.firstLines(2)
    let url = try #require(lines[0].split(separator: " ").first)
    let pin = try #require(lines[1].split(separator: " ").last)
    let serve = ["ws://127.0.0.1:0", "--answer", "302", "--header", "Location: \(url)/new?a=b"]
    let run = try talk(serve, ["--redirects", "1", "--pin", String(pin)], until: "← one")
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("open at \(url)/new?a=b"))
    #expect(run.output.contains("← one"))
    let strict = try talk(serve)
    #expect(strict.status == 1)
    #expect(strict.output.contains("points to \(url)/new: connect there, or raise redirectLimit"))
  }

  @Test(
    "options that mean nothing there are refused, and bad words are told with the mend",
    arguments: [
      (["connect", "ws://h", "--lane", "at-most-once"], "--lane is for tcp, tls and unix"),
      (["connect", "tcp://h:1", "--compress"], "--compress is for ws and wss"),
      (["connect", "tcp://h:1", "--xor", "k"], "--xor is for wg"),
      (["connect", "wg://h:1", "--bare"], "--bare is for chat"),
      (["connect", "ws://h", "--pin", "sha256/x"], "--pin is for TLS"),
      (["connect", "unix:///a", "--proxy", "http://h"], "--proxy is for endpoints with a host"),
      (["connect", "ws://h", "--tls"], "write wss://"),
      (["connect", "ws://h/#x"], "write %23 for a #"),
      (["connect", "ws://h", "--header", "Secret-Token"], "--header has no colon"),
      (["connect", "ws://h", "--header", "Host: x"], "Host, which the protocol itself sends"),
      (["connect", "ws://h", "--protocol", "a b"], "subprotocols hold “a b”"),
      (["connect", "ws://h", "--redirects", "21"], "from 0 to 20"),
      (["serve", "tcp://127.0.0.1:0", "--xor", "k"], "--xor is for wg"),
      (["serve", "tcp://127.0.0.1:0", "--gzip"], "--gzip is for wg"),
      (["serve", "wg://127.0.0.1:0", "--bare"], "--bare is for chat"),
      (["serve", "tcp://127.0.0.1:0", "--fault", "masked"], "--fault is for ws and wss"),
      (["serve", "ws://127.0.0.1:0/x"], "every path is served there"),
      (["serve", "ws://127.0.0.1:0", "--fault", "x"], "there are slow-answer, endless-answer"),
      (["serve", "ws://127.0.0.1:0", "--close", "x"], "is no CODE or CODE:REASON"),
      (["serve", "ws://127.0.0.1:0", "--at", "1"], "--at is for --close"),
      (["serve", "ws://127.0.0.1:0", "--mute", "--answer", "403"], "one way to misbehave"),
    ])
  func usage(words: [String], mend: String) throws {
    let run = try Demo(words).finish()
    #expect(run.status == 64)
    #expect(run.errors.contains(mend), "\(run.errors)")
    #expect(!run.errors.contains("Secret"))
  }
}
