import ConnectionFSM
import Synchronization
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

    // MARK: Coming back

    private static func returning() throws -> Policy {
      try Policy(
        connectDeadline: .seconds(60),
        backoff: Backoff(
          first: .milliseconds(20), base: .milliseconds(20), cap: .seconds(1), jitter: .none,
          stability: .seconds(60)),
        minimumDialSpacing: .milliseconds(1), heartbeat: nil,
        lanes: [Lane(.atMostOnce, timeToLive: nil)])
    }

    @Test("F13: a server that is busy for once is dialled again after its Retry-After")
    func busyOnce() async throws {
      let requests = Atomic(0)
      let options = WebSocketServerOptions { _ in
        guard requests.add(1, ordering: .relaxed).oldValue == 0,
          let field = try? HTTPField("Retry-After", "1")
        else { return .accept(subprotocol: nil) }
        return .answer(WebSocketServerOptions.answer(503, [field]))
      }
      let rig = try await WebSocketRig(options, policy: Self.returning())
      rig.connection.connect(to: rig.endpoint)
      let journal = rig.journal
      await rig.clientLoop.until { journal.wasOpen }
      #expect(journal.cause == .http(status: 503, retryAfter: 1))
      #expect(journal.dials == 2 && journal.waits[0] >= .seconds(1), "\(journal.waits)")
      await rig.stop()
    }

    @Test("F12: a server that opens and closes with 4403 is dialled ever later, and then no more")
    func openAndClose() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .close(4403, reason: "banned", atMessage: 0)),
        policy: Self.returning())
      rig.connection.connect(to: rig.endpoint)
      let journal = rig.journal
      await rig.clientLoop.until { journal.isAtRest }
      #expect(journal.wasOpen && journal.cause == .closedByPeer(CloseCode(4403)))
      // The first and five more: applications' codes are tried five times without a stable link.
      let least = [20, 20, 40, 80, 160].map { TimeSpan.milliseconds($0) }
      #expect(journal.waits.count == least.count)
      for (wait, least) in zip(journal.waits, least) { #expect(wait >= least, "\(journal.waits)") }
      await rig.stop()
    }
  }
}
