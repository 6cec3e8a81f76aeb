// The example of README.md over a WebSocket, compiled; `BlocksTests` checks that the page shows it.

#if os(Linux)
  import ConnectionFSM
  import Transports

  func first(of address: String) async throws -> Message? {
    let url = try WebSocketURL(address)  // wss://feed.example.com/v1?topic=news
    let options = try WebSocketOptions(
      url, headers: [HTTPField("Origin", "https://example.com")], subprotocols: ["feed.v1"],
      compression: WebSocketCompression())
    let loop = try SocketEventLoop()
    defer { loop.stop() }
    let dialer = SchemeDialer(TCPDialer(loop: loop), configuration: try TLSConfiguration())
    let connection = try Connection(
      StreamTransport(dialer) { WebSocketEngine(options) }, policy: Policy())
    let messages = connection.messages()
    connection.connect(to: url.endpoint)
    for try await message in messages {
      await connection.close()
      return message
    }
    return nil
  }
#endif
