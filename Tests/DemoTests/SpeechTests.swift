import Testing

@Suite("fsm-demo speaks with itself", .serialized, .timeLimit(.minutes(2)))
struct SpeechTests {
  /// Serves, then connects as the server says one should, with more words and the input.
  private func talk(
    _ serve: [String], _ more: [String] = [], input: String
  ) throws -> Demo.Outcome {
    let server = try Demo(["serve"] + serve)
    defer { server.end() }
    let hint = try #require(server.firstLines(2).last)
    let words = try #require(hint.split(separator: " connect ").last).split(separator: " ")
    return try Demo(["connect"] + words.map(String.init) + more, input: input).finish()
  }

  /// The same for lines that are to be answered: each pair is a line, and what must be heard before
  /// the next one, or the end.
  private func talk(
    _ serve: [String], _ turns: (say: String, hear: String)...
  ) throws -> Demo.Outcome {
    let server = try Demo(["serve"] + serve)
    defer { server.end() }
    let hint = try #require(server.firstLines(2).last)
    let words = try #require(hint.split(separator: " connect ").last).split(separator: " ")
    var client = try Demo(["connect"] + words.map(String.init), input: nil)
    for turn in turns {
      client.say(turn.say)
      client.hear(turn.hear)
    }
    return try client.hangUp()
  }

  @Test(
    "F29, F61: objects come back in frames, with their length on the wire",
    arguments: [[], ["--xor", "Veeco"], ["--gzip"], ["--xor", "Veeco", "--gzip"]])
  func frames(options: [String]) throws {
    let object = #"{"name":"Veeco"}"#
    let run = try talk(["wg://127.0.0.1:0"] + options, (object + "\n", "← \(object) ("))
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains(#"← {"name":"Veeco"} ("#))
  }

  @Test("words behind options are no endpoint, wherever they stand")
  func order() throws {
    let server = try Demo(["serve", "chat://127.0.0.1:0"])
    defer { server.end() }
    let endpoint = String(try #require(server.firstLine().split(separator: " ").first))
    let run = try Demo(["connect", "--name", "ann", endpoint], input: "hi\n").finish()
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test("F34: a poisoned frame is told with its place")
  func poison() throws {
    let run = try talk(["wg://127.0.0.1:0", "--poison", "00000003"], input: "[1]\n")
    #expect(run.output.contains("byte 0 of the stream: a frame declares 3 bytes, fewer than 7"))
  }

  @Test("I16: what is no object is turned away, and the exit status says so")
  func noObject() throws {
    let run = try talk(["wg://127.0.0.1:0"], input: "hello\n")
    #expect(run.status == 1)
    #expect(run.output.contains("hello → rejected: notEncodable"))
  }

  @Test("F19, F41: a chat over TLS, trusted by its pin", arguments: [[], ["--bare"]])
  func chat(options: [String]) throws {
    // Bare, without an end of line, a name and a word that arrive together are one.
    let run = try talk(
      ["chat://127.0.0.1:0", "--tls"] + options, ("", "← ann has joined"),
      ("hello\n", "← ann: hello"))
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("← ann has joined"))
    #expect(run.output.contains("← ann: hello"))
  }

  @Test("F19: without the pin, the server's own certificate is refused for good, and why is told")
  func untrusted() throws {
    let server = try Demo(["serve", "tls://127.0.0.1:0"])
    defer { server.end() }
    let endpoint = String(try #require(server.firstLine().split(separator: " ").first))
    let run = try Demo(["connect", endpoint], input: "hello\n").finish()
    #expect(run.status == 1)
    #expect(run.output.contains("tls(untrusted)"))
    #expect(run.output.contains("certificate"))
  }

  @Test("F35, F47: lines over TLS are acknowledged by their echo")
  func lines() throws {
    let run = try talk(["tls://127.0.0.1:0"], input: "one\ntwo\n")
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("Messages: 2 acknowledged."))
  }

  @Test("F42: lines with a heartbeat")
  func heartbeat() throws {
    let run = try talk(["line://127.0.0.1:0"], ["--heartbeat", "3600"], input: "one\n")
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("← one"))
  }

  @Test("over a path of the file system")
  func path() throws {
    let run = try talk(["unix:///tmp/fsm-demo-\(UInt32.random(in: 0 ... .max))"], input: "one\n")
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("Messages: 1 acknowledged."))
  }

  @Test(
    "bad words are told with the mend",
    arguments: [
      (["connect", "chat://h:1"], "say who joins the chat, with --name"),
      (["connect", "wg://h:1", "--xor", ""], "key"),
      (["connect", "tls://h:1", "--pin", "x"], "sha256/"),
      (["connect", "tls://h:1", "--ca", "/nowhere"], "/nowhere"),
      (["connect", "tcp://h:1", "--proxy", "ftp://h"], "none of http, https, socks5"),
      (["connect", "raw://h:1"], "there is no “raw” here"),
      (["serve", "raw://127.0.0.1:0", "--poison", "0"], "is no hexadecimal text"),
    ])
  func usage(words: [String], mend: String) throws {
    let run = try Demo(words).finish()
    #expect(run.status == 64)
    #expect(run.errors.contains(mend), "\(run.errors)")
  }
}
