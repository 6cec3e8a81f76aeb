public import ConnectionFSM

extension Preset where Framing == WebSocketEngine {
  /// A manager over URLSession: a WebSocket for text that comes back after 2, 4, 8, 16, 30, 30 … s.
  ///
  /// Its two callbacks are two streams, which any number of consumers may ask for:
  ///
  /// ```swift
  /// let connection = try Connection(Preset.doubling(url), over: TCPDialer(loop: loop))
  /// let (messages, states) = (connection.messages(), connection.states())
  /// Task {
  ///   for try await message in messages where message.kind == .text {
  ///     onMessageReceived(message.text)
  ///   }
  /// }
  /// Task {
  ///   var isConnected = false
  ///   for await state in states where (state.phase == .open) != isConnected {
  ///     isConnected.toggle()
  ///     onConnectionStateChanged(isConnected)
  ///   }
  /// }
  /// connection.connect(to: url.endpoint)
  /// ```
  ///
  /// What differs from the article, and the bug that ends: the user's close is followed by no
  /// dial (B4.1); the endpoint is the connection's and outlives the link (B4.2); the end of an
  /// old link changes nothing (B4.3); a second connect makes no second link (B4.4); there is one
  /// wait, and the close ends it (B4.5); all of it happens on one loop, in order (B4.6, B4.9);
  /// the time open forgives failures, and no message is needed for that (B4.7); nothing is left
  /// of a link (B4.8); the state is that of the handshake (B4.10); binary messages arrive as
  /// such, also those that are no text (B4.11); what another try cannot help is not tried for
  /// ever (B4.12). Its clients return in step, as in the article.
  ///
  /// For header fields, compression, other limits or credentials give it options of your own:
  /// `preset.framing = WebSocketEngine(options)`. Credentials need a policy with a deadline for
  /// them, too.
  /// - Parameters:
  ///   - url: Where the server is; connect to its `endpoint`.
  ///   - readsBinaryAsText: Whether binary messages that are UTF-8 arrive as text, as in the
  ///     article.
  ///   - heartbeat: How a silent peer is found out. Nil, as in the article, leaves that to the
  ///     kernel, which can take 15 minutes (B4.12).
  /// - Throws: `PolicyError` for a heartbeat that cannot be.
  public static func doubling(
    _ url: WebSocketURL, readsBinaryAsText: Bool = false, heartbeat: Heartbeat? = nil
  ) throws(PolicyError) -> Preset {
    let policy = try Policy.doubling(heartbeat: heartbeat)
    let options = try! WebSocketOptions(url, readsBinaryAsText: readsBinaryAsText)  // fit any URL
    return Preset(policy: policy, framing: WebSocketEngine(options))
  }
}
