import ConnectionFSM
import Testing
import Transports

@Suite("F20: addresses and options")
struct WebSocketURLTests {
  @Test("RFC 6455 section 3: scheme, host, port and resource")
  func parts() throws {
    let table: [(String, Bool, String, UInt16, String)] = [
      ("ws://a", false, "a", 80, "/"), ("wss://a", true, "a", 443, "/"),
      ("WS://Example.COM:8080/Chat?Q=1", false, "example.com", 8080, "/Chat?Q=1"),
      ("wss://a?q", true, "a", 443, "/?q"), ("ws://a:/x", false, "a", 80, "/x"),
      ("ws://a:65535//x/../y", false, "a", 65535, "//x/../y"),
      ("ws://192.0.2.7/", false, "192.0.2.7", 80, "/"),
      ("ws://[2001:DB8::1]", false, "2001:db8::1", 80, "/"),
      ("wss://[::ffff:192.0.2.7]:9/x", true, "::ffff:192.0.2.7", 9, "/x"),
      ("ws://[fe80::1%25eth0]:9", false, "fe80::1%eth0", 9, "/"),
      ("ws://[fe80::1%eth0]:9", false, "fe80::1%eth0", 9, "/"),
      ("ws://a_b-c.d~!$&'()*+,;=:1/%20%7C|{}", false, "a_b-c.d~!$&'()*+,;=", 1, "/%20%7C|{}"),
      ("ws://a/?a:b@c?d", false, "a", 80, "/?a:b@c?d"), ("ws://a/x@y:z", false, "a", 80, "/x@y:z"),
    ]
    for (text, isSecure, host, port, resource) in table {
      let url = try WebSocketURL(text)
      #expect(url.isSecure == isSecure && url.port == port, "\(text)")
      #expect(url.host == host && url.resource == resource, "\(text)")
      #expect(
        url.endpoint == Endpoint(scheme: isSecure ? "tls" : "tcp", host: host, port: port))
    }
    #expect(try "\(WebSocketURL("WSS://A:443"))" == "wss://a/")
    #expect(try "\(WebSocketURL("ws://[::1]:443/x?y"))" == "ws://[::1]:443/x?y")
    #expect(try "\(WebSocketURL("ws://[fe80::1%lo]/?y"))" == "ws://[fe80::1%25lo]/?y")
    #expect(try WebSocketURL("ws://a:80") == WebSocketURL("WS://A/"))
  }

  @Test("B0.19: what names no WebSocket is a typed error with the mend")
  func errors() throws {
    let table: [(String, WebSocketURLError.Problem)] = [
      ("", .noScheme), ("a", .noScheme), ("a:80", .noScheme), ("ws:a", .noScheme),
      ("://a", .noScheme), ("ws:/a", .noScheme), ("http://a", .otherScheme("http")),
      ("HTTPS://a", .otherScheme("https")), ("tcp://a:1", .otherScheme("tcp")),
      ("ws://", .noHost), ("ws:///x", .noHost), ("ws://?q", .noHost), ("ws://:80", .noHost),
      ("ws://a#", .fragment), ("ws://a/x#y", .fragment), ("ws://#", .fragment),
      ("ws://u@a", .userInfo), ("ws://u:p@a:1/x", .userInfo), ("ws://@a", .userInfo),
      ("ws://a b", .character), ("ws://a/x y", .character), (" ws://a", .character),
      ("ws://a\r\nHost: b", .character), ("ws://a/\0", .character), ("ws://a/\u{7F}", .character),
      ("ws://b\u{FC}cher.example", .character), ("ws://a/\u{E4}", .character),
      ("ws://a%20b", .host), ("ws://a\\b", .host), ("ws://a<b", .host), ("ws://[::1", .host),
      ("ws://[]", .host), ("ws://[a]", .host), ("ws://[1.2.3.4]", .host), ("ws://[::1%25]", .host),
      ("ws://[::1%25a/b]", .host), ("ws://[v1.a:b]", .host), ("ws://a]", .host),
      ("ws://[::1]x", .port), ("ws://a:0", .port), ("ws://a:65536", .port), ("ws://a:+1", .port),
      ("ws://a:-1", .port), ("ws://a:1x", .port), ("ws://a:99999999999999999999", .port),
      ("ws://::1", .noHost), ("ws://fe80::1", .port),
    ]
    for (text, problem) in table {
      let error = #expect(throws: WebSocketURLError.self, "\(text)") { try WebSocketURL(text) }
      #expect(error?.problem == problem, "\(text)")
      #expect(error.map { "\($0)".hasPrefix("WebSocket URL") } == true)
    }
  }

  @Test("no error shows a user, a password or a query")
  func secrets() throws {
    for text in [
      "ws://u:s3cret@a", "ws://u:s3cret?@a", "ws://u:s3cret@b@a?s3cret", "http://a?s3cret",
      "ws://a:0?s3cret", "ws://u:s3cret@a/x y", "wss://s3cret@#", "u:s3cret@b://x",
    ] {
      let error = #expect(throws: WebSocketURLError.self) { try WebSocketURL(text) }
      #expect(error.map { !"\($0)".contains("s3cret") && !$0.text.contains("s3cret") } == true)
    }
    let error = #expect(throws: WebSocketURLError.self) { try WebSocketURL("http://a/b?c") }
    #expect(error?.text == "http://a/b?…")
  }

  @Test("I13: 5000 drawn texts are read or refused, and what is read is read alike again")
  func drawn() throws {
    let words = [
      "ws://", "wss://", "http:", "//", "/", "..", ".", "?", "#", "@", ":", "80", "[", "]", "::1",
      "%25", "a", "B.c", " ", "\u{E4}", "%", "0",
    ]
    let base = try WebSocketURL("ws://a/b/c?d")
    for seed in UInt64(1)...5000 {
      var dice = SplitMix64(seed: seed)
      var text = dice.next(through: 1) == 0 ? "ws://" : ""
      for _ in 0..<(1 + dice.next(through: 8)) {
        text += words[Int(dice.next(through: UInt64(words.count - 1)))]
      }
      if let url = try? WebSocketURL(text) {
        #expect(try WebSocketURL("\(url)") == url, "seed \(seed)")
        #expect(url.resource.hasPrefix("/"), "seed \(seed)")
      }
      if let url = try? base.following(text) {
        #expect(try WebSocketURL("\(url)") == url, "seed \(seed)")
        #expect(try url.following("").resource == url.resource, "seed \(seed)")
      }
    }
  }

  // MARK: Options

  private func parameter(
    headers: [HTTPField] = [], subprotocols: [String] = [], redirectLimit: Int = 0,
    login: Message? = nil, limits: WebSocketLimits = .standard
  ) throws -> String? {
    let url = try WebSocketURL("ws://a")
    do throws(WebSocketOptionError) {
      _ = try WebSocketOptions(
        url, headers: headers, subprotocols: subprotocols, limits: limits,
        redirectLimit: redirectLimit, login: login)
      return nil
    } catch {
      #expect("\(error)".hasPrefix(error.parameter))
      return error.parameter
    }
  }

  @Test("the protocol's own headers cannot be overridden, whatever their case")
  func ownHeaders() throws {
    for name in [
      "Host", "upgrade", "CONNECTION", "Sec-WebSocket-Key", "sec-websocket-version",
      "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", "Sec-WebSocket-Accept",
      "Content-Length", "Transfer-Encoding",
    ] {
      #expect(try parameter(headers: [HTTPField("A", "b"), HTTPField(name, "x")]) == "headers")
    }
    let free = try ["Origin", "Authorization", "Cookie", "User-Agent"].map {
      try HTTPField($0, "x")
    }
    #expect(try parameter(headers: free) == nil)
  }

  @Test("F28: subprotocols are tokens, each once; redirections and the login have their bounds")
  func bounds() throws {
    #expect(try parameter(subprotocols: ["a", "A", "graphql-transport-ws", "v1.x"]) == nil)
    for names in [[""], ["a b"], ["a", "b", "a"], ["a,b"], ["\u{E4}"], ["a\r\n"]] {
      #expect(try parameter(subprotocols: names) == "subprotocols")
    }
    for (limit, expected) in [
      (0, nil), (5, nil), (20, nil), (-1, "redirectLimit"), (21, "redirectLimit"),
    ] {
      #expect(try parameter(redirectLimit: limit) == expected)
    }
    let limits = try WebSocketLimits(maximumOutgoingLength: 4)
    #expect(try parameter(login: Message("four"), limits: limits) == nil)
    #expect(try parameter(login: Message("fives"), limits: limits) == "login")
    #expect(try parameter(login: Message(bytes: [0xFF], kind: .text)) == "login")
    #expect(try parameter(login: Message(bytes: [0xFF])) == nil)
  }

  @Test("a client sends the codes that RFC 6455 section 7.4 leaves it, and 123 bytes of reason")
  func close() throws {
    #expect(try WebSocketClose() == .normal)
    #expect(WebSocketClose.normal.code == 1000 && WebSocketClose.normal.reason.isEmpty)
    for code: UInt16 in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 3000, 3999, 4000, 4999] {
      #expect(try WebSocketClose(code: code, reason: "x").code == code)
    }
    for code: UInt16 in [0, 999, 1004, 1005, 1006, 1011, 1012, 1014, 1015, 1016, 2999, 5000, .max] {
      let error = #expect(throws: WebSocketOptionError.self) { try WebSocketClose(code: code) }
      #expect(error?.parameter == "code")
    }
    let longest = String(repeating: "\u{E4}", count: 61) + "x"
    #expect(try WebSocketClose(reason: longest).reason == longest)
    let error = #expect(throws: WebSocketOptionError.self) {
      try WebSocketClose(reason: longest + "x")
    }
    #expect(error?.parameter == "reason")
  }
}
