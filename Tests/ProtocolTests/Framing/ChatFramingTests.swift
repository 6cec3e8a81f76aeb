import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F41: the iam/msg chat")
struct ChatFramingTests {
  private func client(
    _ name: String = "ann", password: String? = nil, isBare: Bool = false,
    maximumLength: Int = 1000
  ) throws -> ChatFraming {
    try ChatFraming(
      ChatLogin(name: name, password: password), isBare: isBare, maximumLength: maximumLength)
  }

  private func written(_ engine: ChatFraming, _ texts: [String]) -> String {
    var trial = EngineTrial(engine)
    trial.start()
    for text in texts { trial.send(Message(text)) }
    return String(decoding: trial.output.bytes, as: UTF8.self)
  }

  private func problem(_ engine: ChatFraming, _ message: Message) -> ChatError? {
    do throws(ChatError) { try engine.validate(message) } catch { return error }
    return nil
  }

  // MARK: The client

  @Test(
    "F41, I14, B2.6: the login is written before anything else, with its password if it has one")
  func login() throws {
    #expect(written(try client(), ["hi"]) == "iam:ann\nmsg:hi\n")
    #expect(written(try client(password: "a:b"), ["x: y"]) == "iam:ann:a:b\nmsg:x: y\n")
    #expect(written(try client(isBare: true), ["hi", ""]) == "iam:annmsg:himsg:")
    var trial = EngineTrial(try client())
    trial.start()
    #expect(trial.output.events == [.opened])
    #expect(!trial.engine.canPing && trial.engine.nextDeadline == nil)
  }

  @Test("F41: no description of a login shows its password")
  func redacted() throws {
    let login = try ChatLogin(name: "ann", password: "secret")
    let engine = try ChatFraming(login, maximumLength: 100)
    var dumped = ""
    dump(login, to: &dumped)
    dump(engine, to: &dumped)
    dumped += "\(login) \(engine) \(String(reflecting: login)) \(String(reflecting: engine))"
    #expect(dumped.contains("ann") && !dumped.contains("secret"))
  }

  @Test("B2.1, B2.3, I13: lines arrive whole as text, however the stream is cut")
  func lines() throws {
    let stream = Array("ann has joined\nbob: schöner Tag: 10:30\n\nann: \n".utf8)
    let expected = ["ann has joined", "bob: schöner Tag: 10:30", "", "ann: "]
    for isBare in [false, true] {
      for cut in stream.cuts {
        #expect(
          Reading(try client(isBare: isBare), cut).events
            == expected.map { .message(Message($0)) } + [.closed(nil)])
      }
    }
  }

  @Test("I21, F34: an endless line breaks the protocol, the end inside a line is truncation")
  func broken() throws {
    let engine = try client(maximumLength: 8)
    #expect(
      Reading(engine, [Array("123456789".utf8)[...]]).events == [.failed(.protocolError)])
    #expect(Reading(engine, [Array("1".utf8)[...]]).events == [.failed(.truncated)])
    var trial = EngineTrial(engine)
    trial.receive("123456789".utf8)
    trial.send(Message("a"))
    trial.close()
    #expect(trial.output.events == [.failed(.protocolError)] && trial.output.bytes.isEmpty)
  }

  @Test("B2.2, F41: a text that the server would not read as one, and whole, is refused")
  func refused() throws {
    let engine = try client(maximumLength: 20)
    let bare = try client(isBare: true, maximumLength: 20)
    #expect(problem(engine, Message("a:b: c")) == nil)
    #expect(problem(bare, Message("a:b")) == .messageHoldsColon)
    #expect(problem(engine, Message("a\nb")) == .messageHoldsNewline)
    #expect(problem(bare, Message("a\n")) == .messageHoldsNewline)
    #expect(problem(engine, Message(bytes: [65], kind: .binary)) == .messageIsNoText)
    // The server makes “ann: …” of it.
    #expect(problem(engine, Message(String(repeating: "x", count: 15))) == nil)
    #expect(
      problem(engine, Message(String(repeating: "x", count: 16)))
        == .messageTooLong(count: 21, limit: 20))
    for message in [Message("a\nb"), Message(bytes: [65], kind: .object)] {
      #expect(!engine.admits(message))
      var trial = EngineTrial(engine)
      trial.start()
      trial.send(message)
      trial.send(Message("late"))
      trial.receive("bob: late\n".utf8)
      trial.receiveEnd()
      trial.close()
      #expect(trial.output.bytes == Array("iam:ann\n".utf8))
      #expect(trial.output.events == [.opened, .failed(.protocolError)])
      #expect(trial.engine.diagnosis is ChatError)
    }
  }

  @Test("F41: a login that would be read as another is refused by the part at fault")
  func badLogins() {
    #expect(throws: ChatError.emptyName) { try ChatLogin(name: "") }
    #expect(throws: ChatError.nameHoldsColon) { try ChatLogin(name: "a:b") }
    #expect(throws: ChatError.nameHoldsNewline) { try ChatLogin(name: "a\nb") }
    #expect(throws: ChatError.nameHoldsNewline) { try ChatLogin(name: "a\r\n") }
    #expect(throws: ChatError.passwordHoldsNewline) {
      try ChatLogin(name: "a", password: "b\nmsg:c")
    }
    #expect(throws: ChatError.passwordHoldsColon) { try client(password: "a:b", isBare: true) }
    #expect(throws: Never.self) { try client(password: "ab", isBare: true) }
    #expect(throws: ChatError.maximumLengthTooSmall(6, least: 7)) {
      try client("ann", maximumLength: 6)
    }
    #expect(throws: Never.self) { try client("ann", maximumLength: 7) }
    let errors: [ChatError] = [
      .emptyName, .nameHoldsColon, .nameHoldsNewline, .passwordHoldsNewline,
      .passwordHoldsColon, .maximumLengthTooSmall(1, least: 2), .messageIsNoText,
      .messageHoldsNewline,
      .messageHoldsColon, .messageTooLong(count: 2, limit: 1),
    ]
    for error in errors { #expect(error.description.contains(":")) }
  }

  @Test("after close nothing is written, and lines still arrive")
  func close() throws {
    var trial = EngineTrial(try client())
    trial.start()
    trial.close()
    trial.close()
    trial.send(Message("late"))
    trial.receive("bob: hi\n".utf8)
    trial.receiveEnd()
    #expect(trial.output.bytes == Array("iam:ann\n".utf8))
    #expect(
      trial.output.events == [.opened, .finished, .message(Message("bob: hi")), .closed(nil)])
  }

  @Test("I22, B2.7: a line is told apart by what it says and of whom, an echo from another's words")
  func lineView() {
    let cases: [(String, ChatLine)] = [
      ("ann has joined", .joined(name: "ann")), ("a b has joined", .joined(name: "a b")),
      ("ann: hi", .said(name: "ann", text: "hi")), ("ann: ", .said(name: "ann", text: "")),
      ("ann: 10:30: now", .said(name: "ann", text: "10:30: now")),
      ("bob: ann has joined", .said(name: "bob", text: "ann has joined")),
      (" has joined", .other(" has joined")), (": hi", .other(": hi")), ("", .other("")),
      ("ann:hi", .other("ann:hi")), ("x:y: z", .other("x:y: z")), ("hello", .other("hello")),
      ("ann: \u{301}", .said(name: "ann", text: "\u{301}")),
    ]
    for (text, line) in cases { #expect(ChatLine(Message(text)) == line) }
    #expect(ChatLine(Message("ann: hi")).isFrom("ann"))
    #expect(!ChatLine(Message("bob: ann: hi")).isFrom("ann"))
    #expect(ChatLine(Message("ann has joined")).isFrom("ann"))
    #expect(!ChatLine(Message("ann")).isFrom("ann"))
  }
}

@Suite("F41: the chat's server")
struct ChatServerTests {
  private typealias Effect = ChatRoom<Int>.Effect

  private func commands(_ reads: [String], isBare: Bool) throws -> [ChatCommand] {
    var trial = EngineTrial(try ChatServerFraming(isBare: isBare, maximumLength: 100))
    for read in reads { trial.receive(read.utf8) }
    return trial.messages.map { ChatCommand($0.text, isBare: isBare) }
  }

  @Test("F41: commands are read by line, a name to its colon, a text to the line's end")
  func delimited() throws {
    #expect(
      try commands(
        ["iam:ann\nms", "g:a:b: c\niam:bob:pa:ss\n", "quit\nx:y\nmsg:\n"], isBare: false)
        == [
          .iam(name: "ann", password: nil), .msg("a:b: c"), .iam(name: "bob", password: "pa:ss"),
          .unknown, .unknown, .msg(""),
        ])
  }

  @Test("B2.2, F41: the bare server reads a message a read: of two that merge it loses the second")
  func bare() throws {
    #expect(
      try commands(["iam:ann", "msg:hi"], isBare: true)
        == [.iam(name: "ann", password: nil), .msg("hi")])
    // The limit of the published server: “himsg” is what it made of the first message here.
    #expect(try commands(["msg:himsg:there"], isBare: true) == [.msg("himsg")])
    #expect(try commands(["iam:annmsg:hi"], isBare: true) == [.iam(name: "annmsg", password: "hi")])
    #expect(try commands(["msg:\u{301}"], isBare: true) == [.msg("\u{301}")])
    #expect(try commands(["msg:10:30"], isBare: true) == [.msg("10")])
    #expect(try commands(["ms", "g:hi"], isBare: true) == [.unknown, .unknown])
  }

  @Test("F41, I22: what is said goes to all in order of arrival, the sender among them")
  func room() {
    var room = ChatRoom<Int>(maximumLength: 100)
    var effects: [Effect] = []
    for client in 1...3 { room.arrived(client) }
    room.handle(.iam(name: "ann", password: nil), from: 1, into: &effects)
    room.handle(.unknown, from: 2, into: &effects)
    room.handle(.msg("a: b"), from: 1, into: &effects)
    #expect(
      effects
        == [1, 2, 3].map { .send("ann has joined", to: $0) }
        + [1, 2, 3].map { .send("ann: a: b", to: $0) })
    effects = []
    room.left(2)
    room.handle(.iam(name: "ann2", password: "x"), from: 1, into: &effects)
    room.handle(.msg("late"), from: 2, into: &effects)
    #expect(effects == [.send("ann2 has joined", to: 1), .send("ann2 has joined", to: 3)])
    #expect(room.names == ["ann2"])
  }

  @Test(
    "F41: to speak before the name drops the connection, as does a line too long for the others")
  func drops() {
    var room = ChatRoom<Int>(maximumLength: 20)
    var effects: [Effect] = []
    room.arrived(1)
    room.arrived(2)
    room.handle(.msg("hi"), from: 1, into: &effects)
    room.handle(.iam(name: "bob", password: nil), from: 1, into: &effects)
    #expect(effects == [.drop(1)])
    effects = []
    room.handle(.iam(name: "bob", password: nil), from: 2, into: &effects)
    room.handle(.msg("a\nb"), from: 2, into: &effects)
    #expect(effects == [.send("bob has joined", to: 2), .drop(2)])
    effects = []
    room.arrived(3)
    room.handle(
      .iam(name: String(repeating: "x", count: 20), password: nil), from: 3, into: &effects)
    #expect(effects == [.drop(3)] && room.names.isEmpty)
  }
}
