#if os(Linux)
  public import ConnectionFSM

  /// Dials with TLS or without it, as the endpoint's scheme says: `tls`, or one that the dialer
  /// below knows.
  ///
  /// For links that do not know beforehand which of both they need, as a WebSocket that is
  /// redirected from `ws` to `wss`.
  public final class SchemeDialer<Base: ByteStreamDialer>: ByteStreamDialer {
    private let plain: Base
    private let secure: TLSDialer<Base>

    /// The loop of the dialer below.
    public var eventLoop: any EventLoop { plain.eventLoop }

    /// Makes a dialer.
    /// - Parameters:
    ///   - base: Makes all streams, also those below TLS, whose endpoints have the scheme `tcp`.
    ///   - configuration: Whom to trust.
    public init(_ base: Base, configuration: TLSConfiguration) {
      plain = base
      secure = TLSDialer(base, configuration: configuration)
    }

    /// Starts to connect. To be called on the loop; the observer hears what it would hear of
    /// ``TLSDialer`` or of the dialer below.
    public func dial(
      _ endpoint: Endpoint, observer: any ByteStreamObserver
    ) -> SchemeStream<Base.Stream> {
      endpoint.scheme == "tls"
        ? SchemeStream(.secure(secure.dial(endpoint, observer: observer)))
        : SchemeStream(.plain(plain.dial(endpoint, observer: observer)))
    }
  }

  /// A stream with TLS or without, made by ``SchemeDialer``.
  public final class SchemeStream<Base: ByteStream>: ByteStream {
    enum Kind {
      case plain(Base)
      case secure(TLSStream<Base>)
    }

    private let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    public func read(into buffer: inout MutableRawSpan) -> ReadResult {
      switch kind {
      case .plain(let stream): stream.read(into: &buffer)
      case .secure(let stream): stream.read(into: &buffer)
      }
    }

    public func write(_ bytes: RawSpan) -> WriteResult {
      switch kind {
      case .plain(let stream): stream.write(bytes)
      case .secure(let stream): stream.write(bytes)
      }
    }

    public func setReading(_ isReading: Bool) {
      switch kind {
      case .plain(let stream): stream.setReading(isReading)
      case .secure(let stream): stream.setReading(isReading)
      }
    }

    public func finishWriting() {
      switch kind {
      case .plain(let stream): stream.finishWriting()
      case .secure(let stream): stream.finishWriting()
      }
    }

    public func close() {
      switch kind {
      case .plain(let stream): stream.close()
      case .secure(let stream): stream.close()
      }
    }

    /// What is behind the cause of its failure.
    public var diagnosis: (any Error)? {
      switch kind {
      case .plain(let stream): stream.diagnosis
      case .secure(let stream): stream.diagnosis
      }
    }
  }
#endif
