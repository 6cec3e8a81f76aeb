// Blocks of the article “Choosing a transport”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import Testing
import Transports

/// A WebSocket with the system's certificates.
func feed(_ policy: Policy) throws -> Connection {
  try Connection(
    .webSocket("wss://feed.example.com/v1", subprotocols: ["feed.v1"]), policy: policy)
}

/// Lines of text over TLS.
func lines(_ policy: Policy) throws -> Connection {
  let lines = try DelimiterFraming(delimiter: .lf, pingLine: Array("ping".utf8))
  return try Connection(.stream("tls://chat.example.com:7000", lines), policy: policy)
}

/// Binary messages behind a length of four bytes, to a program on the same machine.
func local(_ policy: Policy) throws -> Connection {
  try Connection(.stream("unix:///run/agent.socket", LengthFraming()), policy: policy)
}

#if os(Linux)
  /// TLS through a proxy: streams stand on each other, and a protocol on them.
  func proxied(
    _ options: WebSocketOptions, by proxy: Proxy, _ policy: Policy
  ) throws -> Connection {
    let loop = try SocketEventLoop.shared()
    let dialer = SchemeDialer(
      ProxyDialer(TCPDialer(loop: loop), through: proxy), configuration: try TLSConfiguration())
    return try Connection(
      StreamTransport(dialer, home: options.url.endpoint) { WebSocketEngine(options) },
      policy: policy)
  }
#endif

@Suite("Article: Choosing a transport")
struct ChoosingATransportTests {
  @Test("each transport of the article can be had, and rests until it is told to connect")
  func rests() async throws {
    let quiet = try Policy(heartbeat: nil)
    var connections = [
      try feed(Policy(heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)))),
      try lines(quiet), try local(quiet),
    ]
    #if os(Linux)
      let options = try WebSocketOptions(WebSocketURL("wss://feed.example.com/v1"))
      connections.append(try proxied(options, by: Proxy("http://127.0.0.1:8080"), quiet))
    #endif
    for connection in connections { #expect(await connection.explain()?.phase == .idle) }
  }

  @Test("a framing without a ping and a policy with a heartbeat do not fit, and the error says so")
  func fit() throws {
    #expect(throws: ConnectionError.heartbeatNeedsPing) {
      try local(Policy(heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5))))
    }
  }
}
