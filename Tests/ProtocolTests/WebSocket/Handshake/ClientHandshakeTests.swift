import ConnectionFSM
import Testing
import Transports

@Suite("F20: the request and the answer of 101")
struct ClientHandshakeTests {
  @Test("RFC 6455 section 1.3: the accept value of the sample key")
  func vector() {
    #expect(
      ServerHandshake.acceptValue(for: "dGhlIHNhbXBsZSBub25jZQ==") == HandshakeTrial.accept)
    // And of another key, from `openssl dgst -sha1 -binary | base64`.
    #expect(
      ServerHandshake.acceptValue(for: "x3JJHMbDL1EzLkh9GBhXDw==") == "HSmrc0sMlYUkAGmm5OPpG2HaGWk="
    )
  }

  @Test("the request holds what RFC 6455 section 4.1 asks for, and then the caller's headers")
  func request() throws {
    let trial = try HandshakeTrial(
      "ws://Server.Example.com/chat?room=1",
      headers: [
        HTTPField("Origin", "http://example.com"), HTTPField("Cookie", "a=b"),
        HTTPField("X-One", "1"), HTTPField("x-one", "2"),
      ], subprotocols: ["chat", "superchat"])
    #expect(
      trial.request == """
        GET /chat?room=1 HTTP/1.1\r
        Host: server.example.com\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Protocol: chat, superchat\r
        Origin: http://example.com\r
        Cookie: a=b\r
        X-One: 1\r
        x-one: 2\r
        \r

        """)
  }

  @Test("Host has the port where it is not the usual one, brackets for version 6, and no zone")
  func host() throws {
    let table = [
      ("ws://a", "a"), ("ws://a:80", "a"), ("ws://a:443", "a:443"), ("wss://a:443", "a"),
      ("wss://a:80", "a:80"), ("ws://192.0.2.7:8080", "192.0.2.7:8080"), ("ws://[::1]", "[::1]"),
      ("ws://[2001:DB8::1]:8080", "[2001:db8::1]:8080"), ("ws://[fe80::1%25eth0]:1", "[fe80::1]:1"),
    ]
    for (url, host) in table {
      let request = try HandshakeTrial(url).request
      #expect(request.hasPrefix("GET / HTTP/1.1\r\nHost: \(host)\r\n"), "\(url)")
    }
  }

  @Test("compression is offered where it is wanted, and nothing is offered otherwise")
  func offer() throws {
    let compression = try WebSocketCompression()
    let offering = try HandshakeTrial(compression: compression).request
    #expect(offering.contains("\r\nSec-WebSocket-Extensions: \(compression.offer)\r\n"))
    let plain = try HandshakeTrial().request
    #expect(!plain.contains("Extensions") && !plain.contains("Protocol:"))
  }

  @Test("what servers write differently and mean alike is accepted")
  func accepted() throws {
    let accept = "Sec-WebSocket-Accept: \(HandshakeTrial.accept)"
    let variants = [
      HandshakeTrial.fields,
      ["upgrade: WebSocket", "CONNECTION: upgrade", accept],
      ["Upgrade: h2c, websocket", "Connection: keep-alive, Upgrade", accept],
      ["Upgrade:websocket", "Connection: keep-alive", "Connection:UPGRADE", accept],
      ["Upgrade: ,websocket ,", "Connection:\tupgrade\t,close", accept + " \t"],
      ["Upgrade: websocket", "Connection:", " Upgrade", accept],
      HandshakeTrial.fields + ["Set-Cookie: a=b", "Set-Cookie: c=d", "Content-Length: 5"],
    ]
    for fields in variants {
      for end in ["\r\n", "\n"] {
        let answer = HandshakeTrial.answer(fields, end: end)
        var trial = try HandshakeTrial()
        let progress = trial.receive(answer)
        #expect(progress == HandshakeTrial.plain(answer), "\(fields)")
      }
    }
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n"
    let answer = interim + HandshakeTrial.answer()
    var trial = try HandshakeTrial("wss://a/b?c")
    let progress = trial.receive(answer)
    #expect(progress == HandshakeTrial.plain(answer))
    #expect(trial.agreement?.response.status == 101)
    #expect(trial.agreement?.response.values(of: "link") == [])
    #expect(try trial.agreement?.url == WebSocketURL("wss://a/b?c"))
  }

  @Test("every field that is missing, wrong or there twice fails the handshake, with its name")
  func fields() throws {
    let (upgrade, connection, accept) = ("Upgrade", "Connection", "Sec-WebSocket-Accept")
    let good = HandshakeTrial.fields
    let table: [([String], String, WebSocketHandshakeError.FieldFault)] = [
      ([good[1], good[2]], upgrade, .missing),
      (["Upgrade: websockets", good[1], good[2]], upgrade, .value("websockets")),
      (["Upgrade: websocket/13", good[1], good[2]], upgrade, .value("websocket/13")),
      (["Upgrade: web socket", good[1], good[2]], upgrade, .value("web socket")),
      (["Upgrade:", good[1], good[2]], upgrade, .value("")),
      ([good[0], good[2]], connection, .missing),
      ([good[0], "Connection: keep-alive", good[2]], connection, .value("keep-alive")),
      (
        [good[0], "Connection: a", "Connection: no-upgrade", good[2]], connection,
        .value("a, no-upgrade")
      ),
      ([good[0], good[1]], accept, .missing),
      ([good[0], good[1], "\(accept):"], accept, .value("")),
      (
        [good[0], good[1], good[2].lowercased()], accept, .value(HandshakeTrial.accept.lowercased())
      ),
      ([good[0], good[1], good[2] + "="], accept, .value(HandshakeTrial.accept + "=")),
      (good + [good[2]], accept, .repeated),
      (good + ["sec-websocket-accept: x"], accept, .repeated),
      (
        good + ["Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol: a"], "Sec-WebSocket-Protocol",
        .repeated
      ),
    ]
    for (fields, name, fault) in table {
      var trial = try HandshakeTrial(subprotocols: ["a"])
      let progress = trial.receive(HandshakeTrial.answer(fields))
      #expect(progress == .failed(.protocolError, .field(name, fault)))
      #expect(trial.error?.response?.status == 101)
      #expect(trial.error.map { "\($0)".contains(name) } == true)
    }
    #expect(Cause.protocolError.verdict() == .terminal.capped(1))
  }

  @Test("F28: the chosen subprotocol is told; none is fine; one that was not offered is refused")
  func subprotocols() throws {
    let table: [([String], String?, Bool)] = [
      (["a", "b"], "a", true), (["a", "b"], "b", true), (["a", "b"], nil, true), ([], nil, true),
      (["a"], "A", false), (["a"], "b", false), ([], "a", false), (["a", "b"], "a, b", false),
      (["a"], "", false),
    ]
    for (offered, chosen, isGood) in table {
      var trial = try HandshakeTrial(subprotocols: offered)
      let fields = HandshakeTrial.fields + (chosen.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? [])
      let answer = HandshakeTrial.answer(fields)
      let progress = trial.receive(answer)
      let expected: HandshakeTrial.End =
        isGood
        ? .agreed(subprotocol: chosen, isCompressed: false, taken: answer.utf8.count)
        : .failed(.protocolError, .subprotocolNotOffered(chosen ?? ""))
      #expect(progress == expected)
    }
  }

  @Test("an extension is accepted where it was offered, and nowhere else")
  func extensions() throws {
    let chosen = "Sec-WebSocket-Extensions: permessage-deflate"
    let answer = HandshakeTrial.answer(HandshakeTrial.fields + [chosen])
    var plain = try HandshakeTrial()
    let refused = plain.receive(answer)
    #expect(refused == .failed(.protocolError, .extensionNotOffered("permessage-deflate")))
    var offering = try HandshakeTrial(compression: WebSocketCompression())
    let agreed = offering.receive(answer)
    #expect(
      agreed == .agreed(subprotocol: nil, isCompressed: true, taken: answer.utf8.count))
    var ignored = try HandshakeTrial(compression: WebSocketCompression())
    let without = ignored.receive(HandshakeTrial.answer())
    #expect(without == HandshakeTrial.plain(HandshakeTrial.answer()))
    for wrong in ["x-foo", "permessage-deflate; what=1", ""] {
      var trial = try HandshakeTrial(compression: WebSocketCompression())
      let progress = trial.receive(
        HandshakeTrial.answer(HandshakeTrial.fields + ["Sec-WebSocket-Extensions: \(wrong)"]))
      guard case .failed(.protocolError, .extensionAnswer) = progress else {
        Issue.record("\(wrong): \(progress)")
        continue
      }
    }
  }

  @Test("what stands behind the blank line is frames, in every split of the answer")
  func splits() throws {
    let answer = Array(HandshakeTrial.answer().utf8)
    let bytes = answer + [0x81, 2, 0x48, 0x69, 0x0A, 0x0D]
    for pieces in bytes.cuts {
      var trial = try HandshakeTrial()
      let progress = trial.receive(pieces)
      #expect(
        progress == .agreed(subprotocol: nil, isCompressed: false, taken: answer.count))
    }
  }
}
