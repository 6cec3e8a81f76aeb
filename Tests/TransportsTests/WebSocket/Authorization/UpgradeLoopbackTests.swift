import ConnectionFSM
import Testing
import Transports

private func policy(
  credentialsDeadline: TimeSpan? = nil, overrides: [VerdictOverride] = []
) throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(5),
    backoff: Backoff(
      first: .milliseconds(10), base: .milliseconds(20), cap: .seconds(60), jitter: .none,
      stability: .seconds(10)),
    minimumDialSpacing: .zero, heartbeat: nil, credentialsDeadline: credentialsDeadline,
    lanes: [Lane(.atMostOnce, timeToLive: nil)], overrides: overrides)
}

extension RealSockets {
  @Suite("WebSocket: what servers answer, over loopback")
  struct UpgradeLoopbackTests {
    @Test("F12, B0.6: a server that accepts and then closes with 4403 is dialled ever more rarely")
    func acceptThenClose() async throws {
      try await UpgradeWorld.run(
        policy(), decide: { request, _ in UpgradeWorld.closed(request, 4403) },
        life: { world in
          await world.passes(.open, .closed)
          #expect(world.waits.all == [10, 40, 80, 160, 320].map { .milliseconds($0) })
          // The sixth is the end: of the application's own codes five are tried again.
          #expect(
            world.journal.causes == Array(repeating: .closedByPeer(CloseCode(4403)), count: 6))
          #expect(world.journal.phases.count { $0 == .open } == 6)
        })
    }

    @Test("F12: a code that the application knows to be final ends the connection at once")
    func finalCode() async throws {
      try await UpgradeWorld.run(
        policy(overrides: VerdictOverride.httpLike),
        decide: { request, _ in UpgradeWorld.closed(request, 4403) },
        life: { world in
          await world.passes(.open, .closed)
          #expect(world.waits.all == [] && world.requests.all.count == 1)
        })
    }

    @Test(
      "F13: Retry-After is the least that is waited, as seconds or as a date, if it can be read",
      arguments: [
        (["Retry-After: 1"], TimeSpan.seconds(1)...TimeSpan.milliseconds(1250)),
        (
          [
            "Date: Mon, 30 Nov 2026 10:00:00 GMT", "Retry-After: Mon, 30 Nov 2026 10:00:01 GMT",
          ], .seconds(1)...(.milliseconds(1250))
        ),
        (
          [
            "Date: Mon, 30 Nov 2026 10:00:00 GMT", "Retry-After: Mon, 30 Nov 2026 09:00:00 GMT",
          ], .milliseconds(10)...(.milliseconds(10))
        ),
        (["Retry-After: -1"], .milliseconds(10)...(.milliseconds(10))),
        (["Retry-After: soon"], .milliseconds(10)...(.milliseconds(10))),
        (["Retry-After: 0"], .milliseconds(10)...(.milliseconds(10))),
      ])
    func retryAfter(fields: [String], range: ClosedRange<TimeSpan>) async throws {
      let fields = try fields.map {
        let parts = $0.split(separator: ": ", maxSplits: 1)
        return try HTTPField(String(parts[0]), String(parts[1]))
      }
      try await UpgradeWorld.run(
        policy(),
        decide: { _, count in
          count == 1
            ? .answer(WebSocketServerOptions.answer(503, fields))
            : .accept(subprotocol: nil)
        },
        life: { world in
          await world.passes(.connecting, .backingOff, .connecting, .open)
          #expect(world.waits.all.count == 1 && range.contains(world.waits.all[0]))
          guard case .http(503, _) = world.journal.causes.first else {
            Issue.record("\(world.journal.causes)")
            return
          }
        })
    }
  }

  @Suite("WebSocket: credentials, over loopback")
  struct AuthorizationLoopbackTests {
    private static let unauthorized: WebSocketServerOptions.Decision = .answer(
      Array(
        "HTTP/1.1 401 No\r\nContent-Length: 0\r\nWWW-Authenticate: Bearer realm=\"feed\"\r\n\r\n"
          .utf8))

    /// Gives "first" until that is refused, and writes down what it hears.
    private static func provider(_ heard: Tally) -> CredentialsProvider {
      CredentialsProvider { refused in
        heard.add(refused?.token ?? "-")
        return Credentials(refused == nil ? "first" : "second")
      }
    }

    private static let isSecond: @Sendable (UpgradeWorld.Request) -> Bool = { request in
      request.resource.hasSuffix("token=second")
        || request.fields.contains { $0.value == "Bearer second" }
    }

    @Test(
      "F21: a server that answers 401 to the first token gets a second one, and the link opens",
      arguments: [true, false])
    func unauthorized(isHeader: Bool) async throws {
      let heard = Tally()
      try await UpgradeWorld.run(
        policy(credentialsDeadline: .seconds(5)),
        authorization: isHeader ? .header() : .query(name: "token"),
        credentials: Self.provider(heard),
        decide: { request, _ in
          Self.isSecond(request)
            ? .accept(subprotocol: nil)
            : Self.unauthorized
        },
        life: { world in
          await world.passes(.backingOff, .waitingForCredentials, .connecting, .open)
          #expect(heard.all == ["-", "first"])
          #expect(world.journal.causes == [.http(status: 401)])
          #expect(world.diagnoses.all.count == 1)
          #expect(world.diagnoses.all[0].contains("Bearer realm=\"feed\""))
          if isHeader {
            #expect(world.asked("Authorization") == [["Bearer first"], ["Bearer second"]])
          } else {
            #expect(
              world.requests.all.map(\.resource) == ["/feed?token=first", "/feed?token=second"])
          }
        })
    }

    @Test("F21: a server that closes with 4401 after the open gets a second token, too")
    func closedForCredentials() async throws {
      let heard = Tally()
      try await UpgradeWorld.run(
        policy(credentialsDeadline: .seconds(5), overrides: VerdictOverride.httpLike),
        authorization: .header(), credentials: Self.provider(heard),
        decide: { request, _ in
          Self.isSecond(request)
            ? .accept(subprotocol: nil) : UpgradeWorld.closed(request, 4401)
        },
        life: { world in
          await world.passes(
            .open, .backingOff, .waitingForCredentials, .connecting, .open)
          #expect(heard.all == ["-", "first"])
          #expect(world.journal.causes == [.closedByPeer(CloseCode(4401))])
        })
    }

    @Test("F21: a server that refuses the second token, too, is dialled no third time")
    func refusedTwice() async throws {
      let heard = Tally()
      try await UpgradeWorld.run(
        policy(credentialsDeadline: .seconds(5)), authorization: .header(),
        credentials: Self.provider(heard), decide: { _, _ in Self.unauthorized },
        life: { world in
          await world.passes(.connecting, .closed)
          #expect(heard.all == ["-", "first"] && world.requests.all.count == 2)
          #expect(world.journal.causes == [.http(status: 401), .http(status: 401)])
        })
    }

    @Test(
      "F21, I14: in a message the token precedes what waited; refused there, it is renewed once")
    func message() async throws {
      let heard = Tally()
      let place = WebSocketAuthorization.message { Message("auth \($0.token)") }
      let listener = Listener()
      try await UpgradeWorld.run(
        policy(credentialsDeadline: .seconds(5)), authorization: place,
        credentials: Self.provider(heard), program: listener,
        decide: { _, _ in .accept(subprotocol: nil) },
        life: { world in
          world.connection.post(Message("waited"))
          await world.until { listener.heard.all.count == 2 }
          #expect(listener.heard.all == ["auth first", "waited"])
        })
      try await UpgradeWorld.run(
        policy(credentialsDeadline: .seconds(5), overrides: VerdictOverride.httpLike),
        authorization: place, credentials: Self.provider(heard),
        fault: .poison(ServerBytes.close(4401), atMessage: 1),
        decide: { _, _ in .accept(subprotocol: nil) },
        life: { world in
          await world.passes(.open, .closed)
          #expect(heard.all == ["-", "-", "first"])
          #expect(
            world.journal.causes == Array(repeating: .closedByPeer(CloseCode(4401)), count: 2))
        })
    }
  }
}

/// Writes down what it hears.
private final class Listener: ServerProgram, Sendable {
  let heard = Tally()

  func received(_ message: Message, from client: Int) -> [ServerDeed] {
    heard.add(message.text)
    return []
  }
}
