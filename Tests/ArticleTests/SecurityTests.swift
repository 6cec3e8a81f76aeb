// Blocks of the article “Security”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import Testing
import Transports

/// A token from the app's own session, asked for before each dial; another one after a refusal.
func authorized(
  _ address: String, token: @escaping @Sendable (_ refused: String?) async throws -> String?
) throws -> Connection {
  let options = try WebSocketOptions(
    WebSocketURL(address), authorization: .header(name: "Authorization", prefix: "Bearer "))
  return try Connection(
    .webSocket(options), policy: Policy(credentialsDeadline: .seconds(10)),
    credentials: CredentialsProvider { refused in
      try await token(refused?.token).map { Credentials($0) }
    })
}

/// What a peer may make this side keep.
func limited(_ address: String) throws -> Connection {
  let limits = try WebSocketLimits(
    maximumMessageLength: 64 << 10, maximumOutgoingLength: 64 << 10)
  let options = try WebSocketOptions(WebSocketURL(address), limits: limits)
  let lane = Lane(.atMostOnce, countLimit: 100, byteLimit: 1 << 20)
  return try Connection(.webSocket(options), policy: Policy(lanes: [lane]))
}

#if os(Linux)
  /// An authority of one's own, and a key that must be in the chain.
  func pinned(_ address: String, authority: String, pins: [String]) throws -> Connection {
    let configuration = try TLSConfiguration(
      trust: .authorities(.file(authority)), pins: Set(pins.map { try PublicKeyPin($0) }),
      handshakeDeadline: .seconds(5))
    let options = try WebSocketOptions(WebSocketURL(address))
    let dialer = SchemeDialer(
      TCPDialer(loop: try .shared()), configuration: configuration)
    return try Connection(
      StreamTransport(dialer, home: options.url.endpoint) { WebSocketEngine(options) },
      policy: Policy())
  }
#endif

@Suite("Article: Security")
struct SecurityTests {
  @Test("credentials do not show, and what cannot be is refused when it is made")
  func hidden() async throws {
    #expect("\(Credentials("secret"))" == "credentials (hidden)")
    let connection = try authorized("wss://feed.example.com") { _ in "secret" }
    #expect(await connection.explain()?.phase == .idle)
    #expect(await (try limited("wss://feed.example.com")).explain()?.phase == .idle)
    #if os(Linux)
      #expect(throws: TLSError.self) {
        try pinned("wss://feed.example.com", authority: "/nowhere.pem", pins: [])
      }
    #endif
  }
}
