public import ConnectionFSM

extension Transport where Self == StreamTransport<PlatformDialer, WebSocketEngine> {
  /// A WebSocket to a `ws://` or `wss://` address, with TLS by the system's certificates.
  ///
  /// ```swift
  /// let connection = try Connection(.webSocket("wss://feed.example.com/v1"), policy: Policy())
  /// connection.connect()
  /// ```
  ///
  /// - Parameters:
  ///   - address: The address; where a connection dials that is not told where.
  ///   - headers: Fields of the request beside the protocol's own.
  ///   - subprotocols: Those that are offered, the preferred first.
  ///   - compression: Whether it is offered, and with which parameters.
  ///   - loop: The loop on which it lives; nil takes ``SocketEventLoop/shared()``.
  /// - Throws: ``WebSocketURLError``, ``WebSocketOptionError``, `TLSError` or ``LoopError``, which
  ///   name what is wrong and the mend.
  public static func webSocket(
    _ address: String, headers: [HTTPField] = [], subprotocols: [String] = [],
    compression: WebSocketCompression? = nil, on loop: SocketEventLoop? = nil
  ) throws -> sending Self {
    try webSocket(
      WebSocketOptions(
        WebSocketURL(address), headers: headers, subprotocols: subprotocols,
        compression: compression), on: loop)
  }

  /// A WebSocket with all its options, with TLS by the system's certificates.
  /// - Parameters:
  ///   - options: The address and what is said to it.
  ///   - loop: The loop on which it lives; nil takes ``SocketEventLoop/shared()``.
  /// - Throws: `TLSError` or ``LoopError``.
  public static func webSocket(
    _ options: WebSocketOptions, on loop: SocketEventLoop? = nil
  ) throws -> sending Self {
    let dialer = try Platform.dialer(on: loop ?? .shared())
    return StreamTransport(dialer, home: options.url.endpoint) { WebSocketEngine(options) }
  }
}

extension Transport {
  /// A framing on a `tcp://HOST:PORT`, `tls://HOST:PORT` or `unix:///PATH` stream, with TLS by the
  /// system's certificates.
  ///
  /// ```swift
  /// let lines = try DelimiterFraming(delimiter: .lf)
  /// let connection = try Connection(.stream("tls://chat.example.com:7000", lines), policy: policy)
  /// ```
  ///
  /// - Parameters:
  ///   - address: The address; where a connection dials that is not told where.
  ///   - framing: What is spoken; each link gets a fresh copy.
  ///   - loop: The loop on which it lives; nil takes ``SocketEventLoop/shared()``.
  /// - Throws: `EndpointError`, `TLSError` or ``LoopError``, which name what is wrong and the mend.
  public static func stream<Framing: ProtocolEngine & Sendable>(
    _ address: String, _ framing: Framing, on loop: SocketEventLoop? = nil
  ) throws -> sending Self where Self == StreamTransport<PlatformDialer, Framing> {
    let endpoint = try Endpoint(address)
    let dialer = try Platform.dialer(on: loop ?? .shared())
    return StreamTransport(dialer, home: endpoint) { framing }
  }
}
