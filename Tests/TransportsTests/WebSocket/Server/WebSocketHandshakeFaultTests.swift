import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("F20, F28: a WebSocket client and handshakes that do not add up, over loopback")
  struct WebSocketHandshakeFaultTests {
    /// A field of the server's answer, and what is wrong with it.
    struct Offence: Sendable, CustomTestStringConvertible {
      let field: HTTPField
      let problem: WebSocketHandshakeError.Problem
      var testDescription: String { "\(field)" }

      static let all: [Offence] = {
        func offence(
          _ name: String, _ value: String, _ problem: WebSocketHandshakeError.Problem
        ) -> Offence {
          guard let field = try? HTTPField(name, value) else { fatalError("the field is good") }
          return Offence(field: field, problem: problem)
        }
        let accept = "Sec-WebSocket-Accept"
        // The value that answers the example of RFC 6455 section 1.3, not this client.
        let other = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        return [
          offence(accept, other, .field(accept, .value(other))),
          offence(accept, "", .field(accept, .missing)),
          offence("Upgrade", "h2c", .field("Upgrade", .value("h2c"))),
          offence("Upgrade", "", .field("Upgrade", .missing)),
          offence("Connection", "keep-alive", .field("Connection", .value("keep-alive"))),
          offence("Connection", "", .field("Connection", .missing)),
          offence("Sec-WebSocket-Protocol", "nobody.v1", .subprotocolNotOffered("nobody.v1")),
          offence(
            "Sec-WebSocket-Extensions", "permessage-deflate",
            .extensionNotOffered("permessage-deflate")),
        ]
      }()
    }

    @Test(
      "F20, F28: a field that is wrong, missing or answers what was not offered opens nothing",
      arguments: Offence.all)
    func field(offence: Offence) async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fields: [offence.field]), subprotocols: ["chat.v1"])
      await rig.open()
      #expect(await rig.ended() == .protocolError)
      #expect(!rig.journal.wasOpen)
      #expect(rig.journal.handshakeError?.problem == offence.problem)
      #expect(rig.journal.handshakeError?.response?.status == 101)
      await rig.stop()
    }

    @Test(
      "F13, F14: an answer's status is the cause, with its Retry-After, and the answer can be read",
      arguments: [
        (401, "WWW-Authenticate: Bearer", nil), (403, "X: y", nil), (404, "X: y", nil),
        (429, "Retry-After: 7", 7), (429, "X: y", nil), (503, "Retry-After: 1", 1),
        (503, "Retry-After: Sun, 06 Nov 1994 08:49:47 GMT", 10), (503, "Retry-After: soon", nil),
        (200, "Content-Type: text/html", nil), (302, "Location: /elsewhere", nil),
      ] as [(UInt16, String, UInt16?)])
    func status(status: UInt16, line: String, seconds: UInt16?) async throws {
      let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
      let rig = try await WebSocketRig(
        WebSocketServerOptions(
          fields: [
            HTTPField(parts[0], parts[1]), HTTPField("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
          ], fault: .status(status)))
      await rig.open()
      #expect(await rig.ended() == .http(status: status, retryAfter: seconds))
      let error = try #require(rig.journal.handshakeError)
      #expect(error.problem == .status(status))
      #expect(error.response?.values(of: parts[0]) == [parts[1]])
      await rig.stop()
    }

    @Test("F20: an answer that comes byte by byte opens the link, and the first frame follows")
    func slowAnswer() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .slowAnswer(.milliseconds(1))))
      await rig.open()
      var heard = rig.connection.messages(bufferingUpTo: 8).makeAsyncIterator()
      rig.connection.post(Message("hello"))
      #expect(try await heard.next() == Message("hello"))
      await rig.stop()
    }

    @Test("F15, F20: an answer that takes too long is given up at the connect deadline")
    func slowerAnswer() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .slowAnswer(.seconds(1))),
        policy: Policy(
          connectDeadline: .milliseconds(300), heartbeat: nil, overrides: VerdictOverride.never))
      await rig.open()
      #expect(await rig.ended() == .timedOut(.connect))
      await rig.stop()
    }

    @Test("F20, I21: an answer whose head never ends is given up after 16 KiB")
    func endlessAnswer() async throws {
      let rig = try await WebSocketRig(WebSocketServerOptions(fault: .endlessAnswer))
      await rig.open()
      #expect(await rig.ended() == .protocolError)
      #expect(rig.journal.handshakeError?.problem == .headTooLong(limit: 16_384))
      await rig.stop()
    }

    @Test("F20: redirections lead to the server at last, as many as are allowed")
    func redirects() async throws {
      let options = WebSocketServerOptions { request in
        let steps = ["/one": "/two", "/two": "/three?a=b"]
        guard let next = steps[request.resource], let location = try? HTTPField("Location", next)
        else { return .accept(subprotocol: nil) }
        return .answer(WebSocketServerOptions.answer(307, [location]))
      }
      for limit in 0...2 {
        let rig = try await WebSocketRig(options, redirectLimit: limit) {
          "ws://127.0.0.1:\($0)/one"
        }
        await rig.open()
        #expect(rig.journal.dials == 1)
        if limit == 2 {
          #expect(rig.journal.agreement?.url.resource == "/three?a=b")
          await rig.stop()
        } else {
          #expect(await rig.ended() == .http(status: 307))
          let problem = rig.journal.handshakeError?.problem
          #expect(problem == (limit == 0 ? .status(307) : .tooManyRedirects(limit: 1)))
          await rig.stop()
        }
      }
    }

    @Test("F28: the server's choice among what was offered is shown")
    func subprotocol() async throws {
      let options = WebSocketServerOptions { request in
        .accept(subprotocol: request.subprotocols.last)
      }
      let rig = try await WebSocketRig(options, subprotocols: ["chat.v2", "chat.v1"])
      await rig.open()
      #expect(rig.journal.agreement?.subprotocol == "chat.v1")
      #expect(rig.journal.agreement?.compression == nil)
      await rig.stop()
    }
  }
}
