public import ConnectionFSM

/// Dials through a proxy: an HTTP proxy by CONNECT, or SOCKS5.
///
/// What comes out is a plain stream to the endpoint, so that it composes both ways:
/// `TLSDialer(ProxyDialer(TCPDialer(…)))` speaks TLS with the endpoint through a proxy, and
/// `ProxyDialer(TLSDialer(…))` speaks TLS with the proxy, whose endpoint is then `tls`.
public final class ProxyDialer<Base: ByteStreamDialer>: ByteStreamDialer {
  public typealias Stream = ProxyStream<Base.Stream>

  private let base: Base
  private let choose: (Endpoint) -> Proxy?
  private let handshakeLimit: TimeSpan?

  public var eventLoop: any EventLoop { base.eventLoop }

  /// Makes a dialer that goes through one proxy always.
  /// - Parameters:
  ///   - base: Makes the streams to the proxy.
  ///   - proxy: Which one.
  ///   - handshakeLimit: From the connection to the proxy until its answer is whole; then the dial
  ///     fails with `Cause.timedOut(.handshake)`. Nil leaves it to whoever dials.
  public convenience init(_ base: Base, through proxy: Proxy, handshakeLimit: TimeSpan? = nil) {
    self.init(base, handshakeLimit: handshakeLimit) { _ in proxy }
  }

  /// Makes a dialer that asks for each endpoint which proxy leads to it, as
  /// ``ProxyEnvironment/proxy(for:)`` knows.
  /// - Parameters:
  ///   - base: Makes the streams to the proxies, and to endpoints that need none.
  ///   - handshakeLimit: As for one proxy.
  ///   - proxy: Called on the loop; nil dials the endpoint itself, with `base`.
  public init(
    _ base: Base, handshakeLimit: TimeSpan? = nil, choosing proxy: @escaping (Endpoint) -> Proxy?
  ) {
    self.base = base
    self.handshakeLimit = handshakeLimit
    choose = proxy
  }

  /// Starts to connect to a `tcp` endpoint through its proxy. To be called on the loop.
  ///
  /// The observer hears `streamOpened` once the tunnel stands, or `streamFailed` with
  /// - what the base says, of the way to the proxy;
  /// - `Cause.http` with the status of an HTTP proxy that gives no tunnel: 407 asks for other
  ///   credentials;
  /// - `Cause.credentialsRefused` of a SOCKS proxy, or what its reply stands for;
  /// - `Cause.protocolError` for an answer that is none, `Cause.truncated` for one that ends early;
  /// - `Cause.timedOut(.handshake)`;
  /// - `Cause.unsupportedEndpoint` if no proxy can be asked for the endpoint.
  ///
  /// The stream's `diagnosis` is then a ``ProxyError``.
  public func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> Stream {
    let tunnel = ProxyTunnel<Base.Stream>(on: eventLoop, observer: observer)
    guard let proxy = choose(endpoint) else {
      tunnel.base = base.dial(endpoint, observer: tunnel)
      return ProxyStream(tunnel)
    }
    tunnel.way = (proxy.endpoint, endpoint)
    guard let handshake = proxy.handshake(for: endpoint) else {
      tunnel.failSoon(.unsupportedEndpoint, .unusableTarget)
      return ProxyStream(tunnel)
    }
    tunnel.handshake = handshake
    tunnel.limit = handshakeLimit
    tunnel.base = base.dial(proxy.endpoint, observer: tunnel)
    return ProxyStream(tunnel)
  }
}

/// A stream through a proxy, made by ``ProxyDialer``.
///
/// Until `streamOpened` reading and writing answer `wouldBlock`. One that is dropped closes itself,
/// if the streams below do.
public final class ProxyStream<Base: ByteStream>: ByteStream {
  private let tunnel: ProxyTunnel<Base>

  init(_ tunnel: ProxyTunnel<Base>) { self.tunnel = tunnel }

  public func read(into buffer: inout MutableRawSpan) -> ReadResult {
    tunnel.read(into: &buffer)
  }

  public func write(_ bytes: RawSpan) -> WriteResult { tunnel.write(bytes) }

  public func setReading(_ isReading: Bool) { tunnel.setReading(isReading) }

  public func finishWriting() { tunnel.finishWriting() }

  public func close() { tunnel.close() }

  public var diagnosis: (any Error)? { tunnel.diagnosis }
}
