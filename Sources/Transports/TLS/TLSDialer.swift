#if os(Linux)
  public import ConnectionFSM

  /// Makes TLS streams over those of another dialer: sockets, a proxy's tunnels, simulated links.
  ///
  /// ```swift
  /// let dialer = TLSDialer(TCPDialer(loop: loop), configuration: try TLSConfiguration())
  /// ```
  ///
  /// It remembers sessions for a while, so that a redial of the same server costs less.
  public final class TLSDialer<Base: ByteStreamDialer>: ByteStreamDialer {
    private let base: Base
    private let configuration: TLSConfiguration
    private let sessions: SessionCache

    /// The loop of the dialer below.
    public var eventLoop: any EventLoop { base.eventLoop }

    /// Makes a dialer.
    /// - Parameters:
    ///   - base: Makes the streams below, from endpoints of the scheme `tcp`.
    ///   - configuration: Whom to trust.
    public convenience init(_ base: Base, configuration: TLSConfiguration) {
      self.init(base, configuration: configuration, sessions: SessionCache())
    }

    package init(_ base: Base, configuration: TLSConfiguration, sessions: SessionCache) {
      self.base = base
      self.configuration = configuration
      self.sessions = sessions
    }

    /// Starts to connect to a `tls` endpoint. To be called on the loop.
    ///
    /// The observer hears `streamOpened` when the peer has proved who it is, or `streamFailed` with
    /// the cause of the stream below, `Cause.tls`, `Cause.protocolError` from a peer that does not
    /// speak TLS, `Cause.timedOut(.handshake)`, or `Cause.unsupportedEndpoint` for another scheme
    /// or a host that no certificate can name. ``TLSStream/diagnosis`` tells more.
    public func dial(
      _ endpoint: Endpoint, observer: any ByteStreamObserver
    ) -> TLSStream<Base.Stream> {
      let name = Result { () throws(TLSError) -> PeerName in
        try PeerName(configuration.serverName ?? endpoint.host, for: "host")
      }
      let stream = TLSStream<Base.Stream>(
        loop: eventLoop, handshakeLimit: configuration.handshakeDeadline
      ) { [configuration, sessions] () throws(TLSError) -> TLSSession in
        let session = try TLSSession(configuration.context)
        try session.expect(
          SessionCache.Server(host: endpoint.host, port: endpoint.port, name: name.get()),
          sessions: sessions)
        return session
      }
      switch name {
      case .success where endpoint.scheme == "tls":
        stream.dial(observer: observer) {
          base.dial(Endpoint(host: endpoint.host, port: endpoint.port), observer: $0)
        }
      case .success: stream.refuse(nil, observer: observer)
      case .failure(let error): stream.refuse(error, observer: observer)
      }
      return stream
    }
  }
#endif
