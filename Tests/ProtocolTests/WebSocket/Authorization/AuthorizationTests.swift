import ConnectionFSM
import Synchronization
import Testing
import Transports
import WireSupport

/// A client's and a server's engine whose bytes meet in memory.
private struct Meeting {
  var client: EngineTrial<WebSocketEngine>
  var server: EngineTrial<WebSocketServerEngine>
  private let requests = Requests()

  /// What servers were asked.
  private final class Requests: Sendable {
    let all = Mutex<[ServerHandshake.Request]>([])
  }

  init(_ options: WebSocketOptions, _ token: String?) {
    client = EngineTrial(WebSocketEngine(options))
    server = EngineTrial(
      WebSocketServerEngine(
        WebSocketServerOptions(decide: { [requests] request in
          requests.all.withLock { $0.append(request) }
          return .accept(subprotocol: nil)
        })))
    if let token { client.engine.authenticate(with: Credentials(token)) }
    client.start()
    server.start()
  }

  /// Carries bytes to and fro until there are none.
  mutating func meet() {
    while !client.output.bytes.isEmpty || !server.output.bytes.isEmpty {
      let (asked, said) = (client.output.bytes, server.output.bytes)
      client.output.bytes = []
      server.output.bytes = []
      if !asked.isEmpty { server.receive(asked) }
      if !said.isEmpty { client.receive(said) }
    }
  }

  var request: ServerHandshake.Request? { requests.all.withLock { $0.last } }

  func field(_ name: String) -> [String] {
    request?.fields.filter { $0.name == name }.map(\.value) ?? []
  }
}

private func url(_ text: String = "ws://home.example:8080/feed") throws -> WebSocketURL {
  try WebSocketURL(text)
}

private func meeting(
  _ place: WebSocketAuthorization, _ token: String?, at text: String = "ws://home.example/feed",
  login: Message? = nil
) throws -> Meeting {
  var meeting = Meeting(
    try WebSocketOptions(url(text), login: login, authorization: place, random: .seeded(1)), token)
  meeting.meet()
  return meeting
}

@Suite("WebSocket: where credentials stand")
struct AuthorizationTests {
  @Test("F21: in a field of the request, Authorization: Bearer unless another is named")
  func header() throws {
    let usual = try meeting(.header(), "t0k.en==")
    #expect(usual.field("Authorization") == ["Bearer t0k.en=="])
    let named = try meeting(.header(name: "X-Api-Key", prefix: ""), "k")
    #expect(named.field("X-Api-Key") == ["k"] && named.field("Authorization") == [])
    #expect(named.client.output.events == [.opened])
  }

  @Test(
    "F21: in the query, percent-encoded, behind what is there",
    arguments: [
      ("ws://h/feed", "/feed?token=a%20%26%2B%2F%3D%C3%A9~-._9Z"),
      ("ws://h/feed?v=2", "/feed?v=2&token=a%20%26%2B%2F%3D%C3%A9~-._9Z"),
      ("ws://h", "/?token=a%20%26%2B%2F%3D%C3%A9~-._9Z"),
    ])
  func query(text: String, resource: String) throws {
    let meeting = try meeting(.query(name: "token"), "a &+/=é~-._9Z", at: text)
    #expect(meeting.request?.resource == resource)
  }

  @Test("F21, I14: in a message right after the handshake, before the login and all others")
  func message() throws {
    var meeting = try meeting(
      .message { Message("auth \($0.token)") }, "s3cret", login: Message("sid"))
    meeting.client.send(Message("hello"))
    meeting.meet()
    #expect(meeting.server.messages.map(\.text) == ["auth s3cret", "sid", "hello"])
    #expect(meeting.request?.fields.contains { $0.value.contains("s3cret") } == false)
  }

  @Test("F21: without a provider nothing is written, and without a place nobody can authenticate")
  func none() throws {
    for place in [
      WebSocketAuthorization.header(), .query(name: "t"), .message { Message($0.token) },
    ] {
      let meeting = try meeting(place, nil)
      #expect(meeting.field("Authorization") == [] && meeting.request?.resource == "/feed")
      #expect(meeting.server.messages.isEmpty)
      #expect(meeting.client.engine.canAuthenticate)
    }
    #expect(try !WebSocketEngine(WebSocketOptions(url())).canAuthenticate)
  }

  @Test("F21, I13: a token that would break the head is never written, and does not show")
  func brokenToken() throws {
    var meeting = Meeting(
      try WebSocketOptions(url(), authorization: .header()), "good\r\nX-Admin: yes")
    #expect(meeting.client.output.bytes.isEmpty)
    #expect(meeting.client.output.events == [.failed(.protocolError)])
    let diagnosis = try #require(meeting.client.engine.diagnosis)
    #expect("\(diagnosis)".contains("Authorization") && !"\(diagnosis)".contains("good"))
    meeting.meet()
    #expect(meeting.request == nil)
  }

  @Test("F21, I16: a message that cannot be sent ends the link before it opens")
  func unsendable() throws {
    let meeting = try meeting(
      .message { _ in Message(bytes: [0xFF], kind: .text) }, "t", login: Message("sid"))
    #expect(meeting.client.output.events == [.failed(.protocolError)])
    #expect(meeting.client.engine.diagnosis is FramingError)
    #expect(meeting.server.messages.isEmpty)
  }

  @Test("F21, I16: a place that cannot be is refused with its mend")
  func refused() throws {
    func words(_ place: WebSocketAuthorization, _ text: String = "ws://h/?v=1&t=2") -> String {
      do throws(WebSocketOptionError) {
        let header = HTTPField(name: "x-key", safe: "1")
        _ = try WebSocketOptions(url(safe: text), headers: [header], authorization: place)
        return "none"
      } catch { return "\(error)" }
    }
    #expect(words(.header()) == "none")
    #expect(words(.header(name: "no name")).hasPrefix("authorization field “no name”"))
    #expect(words(.header(prefix: "a\nb")).contains("control character"))
    #expect(words(.header(name: "host")).contains("which the protocol itself sends"))
    #expect(words(.header(name: "Sec-WebSocket-Key")).contains("which the protocol itself sends"))
    #expect(words(.header(name: "X-Key")).contains("which the headers hold, too"))
    #expect(words(.query(name: "")).contains("empty name"))
    #expect(words(.query(name: "t")).contains("which the URL's query holds, too"))
    #expect(words(.query(name: "v2")) == "none")
  }
}

private func url(safe text: String) -> WebSocketURL {
  do { return try url(text) } catch { fatalError("\(error)") }
}

extension HTTPField {
  fileprivate init(name: String, safe value: String) {
    do { try self.init(name, value) } catch { fatalError("\(error)") }
  }
}

@Suite("WebSocket: credentials and redirections")
struct AuthorizationRedirectTests {
  /// What the second request says, after a redirection from the first.
  private func secondRequest(
    _ place: WebSocketAuthorization, to location: String
  ) throws -> (text: String, trial: EngineTrial<WebSocketEngine>) {
    let options = try WebSocketOptions(
      url("ws://home.example/feed"), redirectLimit: 5, authorization: place, random: .seeded(1))
    var trial = EngineTrial(WebSocketEngine(options))
    trial.engine.authenticate(with: Credentials("s3cret"))
    trial.start()
    trial.output = EngineOutput()
    trial.receive("HTTP/1.1 307 Temporary Redirect\r\nLocation: \(location)\r\n\r\n".utf8)
    #expect(trial.output.events.count == 1)
    trial.output = EngineOutput()
    trial.start()
    return (String(decoding: trial.output.bytes, as: UTF8.self), trial)
  }

  @Test("F21: the same host and port still see them, once")
  func sameHost() throws {
    #expect(
      try secondRequest(.header(name: "X-Key", prefix: ""), to: "/v2").text
        .contains("X-Key: s3cret\r\n"))
    let query = try secondRequest(.query(name: "t"), to: "/v2?a=1").text
    #expect(query.hasPrefix("GET /v2?a=1&t=s3cret HTTP/1.1\r\n"))
    let kept = try secondRequest(.query(name: "t"), to: "/v2?t=s3cret").text
    #expect(kept.hasPrefix("GET /v2?t=s3cret HTTP/1.1\r\n"))
  }

  @Test(
    "F21: another host or port sees none, in whatever place",
    arguments: ["ws://other.example/feed", "ws://home.example:81/feed"])
  func otherHost(location: String) throws {
    for place in [WebSocketAuthorization.header(name: "X-Key", prefix: ""), .query(name: "t")] {
      #expect(try !secondRequest(place, to: location).text.contains("s3cret"))
    }
    var (text, trial) = try secondRequest(.message { Message($0.token) }, to: location)
    var server = EngineTrial(WebSocketServerEngine())
    server.receive(text.utf8)
    trial.output = EngineOutput()
    trial.receive(server.output.bytes)
    #expect(trial.output.events == [.opened] && trial.output.bytes.isEmpty)
  }
}

@Suite("WebSocket: binary that is text")
struct BinaryAsTextTests {
  private func read(_ readsBinaryAsText: Bool, _ messages: [Message]) throws -> [Message] {
    var meeting = Meeting(
      try WebSocketOptions(url(), readsBinaryAsText: readsBinaryAsText, random: .seeded(1)), nil)
    meeting.meet()
    for message in messages { meeting.server.send(message) }
    meeting.meet()
    return meeting.client.messages
  }

  @Test("F48, B4.11: binary that is UTF-8 arrives as text where that is asked for, the rest as is")
  func kinds() throws {
    let messages = [
      Message("text"), Message(bytes: Array("é".utf8)), Message(bytes: [0xC3]), Message(bytes: []),
    ]
    #expect(try read(false, messages) == messages)
    #expect(
      try read(true, messages) == [
        Message("text"), Message("é"), Message(bytes: [0xC3]), Message(""),
      ])
  }

  @Test("I16: not together with pieces, which may end inside a character")
  func pieces() throws {
    let limits = try WebSocketLimits(deliversPieces: true)
    #expect(throws: WebSocketOptionError.self) {
      try WebSocketOptions(url(), limits: limits, readsBinaryAsText: true)
    }
  }
}
