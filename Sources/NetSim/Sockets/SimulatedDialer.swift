public import ConnectionFSM

/// Makes streams over a ``SimulatedInternet``, from one host.
///
/// A name is asked of the resolver, and its addresses race as those of the socket transports do; an
/// address is of version 6 if it holds a colon. `tcp` endpoints are plain; for `tls` the handshake
/// is played, see ``PlayedTLS``.
public final class SimulatedDialer: ByteStreamDialer {
  private let internet: SimulatedInternet
  private let host: HostID
  private let loop: any EventLoop
  private let timing: DialTiming

  public var eventLoop: any EventLoop { loop }

  init(internet: SimulatedInternet, host: HostID, loop: any EventLoop, timing: DialTiming) {
    self.internet = internet
    self.host = host
    self.loop = loop
    self.timing = timing
  }

  public func dial(
    _ endpoint: Endpoint, observer: any ByteStreamObserver
  ) -> SimulatedStream {
    let stream = SimulatedStream(internet: internet, loop: loop, observer: observer)
    stream.start(endpoint, from: host, timing)
    return stream
  }
}

/// A transport over a ``SimulatedInternet`` that speaks ``SimulatedProtocol``.
public typealias SimulatedTransport = StreamTransport<SimulatedDialer, SimulatedProtocol>

extension SimulatedInternet {
  /// Carries the messages of a connection from a host in a protocol of which there is an engine, as
  /// it will run over sockets.
  /// - Parameters:
  ///   - host: From where.
  ///   - engine: Makes a fresh engine for each link.
  public func transport<Engine: ProtocolEngine>(
    from host: HostID, engine: @escaping @Sendable () -> Engine
  ) -> sending StreamTransport<SimulatedDialer, Engine> {
    StreamTransport(dialer(from: host), engine: engine)
  }

  /// Carries them where bytes and framings do not matter: with pings, acknowledgements and an
  /// orderly end.
  public func transport(from host: HostID) -> sending SimulatedTransport {
    transport(from: host) { SimulatedProtocol() }
  }
}
