#if canImport(Network)
  public import ConnectionFSM
  import Dispatch
  import Foundation
  public import Network
  import Security

  /// Makes byte streams by Network.framework: TCP and TLS as the platform does them, its happy
  /// eyeballs and proxies included.
  ///
  /// `StreamTransport(NWDialer(loop: loop)) { engine }` is the transport. It dials `tcp`, `tls` and
  /// `unix` endpoints. Not yet verified on Apple platforms.
  public final class NWDialer: ByteStreamDialer {
    private let loop: SocketEventLoop
    private let parameters: (Endpoint) -> NWParameters?
    private let queue = DispatchQueue(label: "network-streams")

    public var eventLoop: any EventLoop { loop }

    /// Makes a dialer whose streams live on the loop.
    /// - Parameter parameters: The parameters of the dial to an endpoint, nil if it cannot be
    ///   dialled: for pinned or client certificates, ALPN, an interface. Begin with
    ///   ``parameters(for:)``, which is the default. Called on the loop.
    public init(
      loop: SocketEventLoop,
      parameters: @escaping (Endpoint) -> NWParameters? = NWDialer.parameters(for:)
    ) {
      self.loop = loop
      self.parameters = parameters
    }

    /// TCP without Nagle's algorithm; for `tls` also TLS 1.2 or later, with the host's name and the
    /// system's trust. Nil for other schemes.
    public static func parameters(for endpoint: Endpoint) -> NWParameters? {
      let tcp = NWProtocolTCP.Options()
      tcp.noDelay = true
      switch endpoint.scheme {
      case "tcp", "unix": return NWParameters(tls: nil, tcp: tcp)
      case "tls":
        let tls = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(tls.securityProtocolOptions, .TLSv12)
        return NWParameters(tls: tls, tcp: tcp)
      default: return nil
      }
    }

    /// Starts to connect. To be called on the loop.
    ///
    /// A dial that finds no way just now (`waiting`) has failed: whether and when to try again is
    /// the machine's decision. There is no time limit here.
    public func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> NWStream {
      loop.expectLoop()
      var connection: NWConnection?
      if let target = Self.target(endpoint), let parameters = parameters(endpoint) {
        connection = NWConnection(to: target, using: parameters)
      }
      let stream = NWStream(loop: loop, connection, observer: observer)
      stream.start(on: queue)
      return stream
    }

    private static func target(_ endpoint: Endpoint) -> NWEndpoint? {
      guard !endpoint.host.isEmpty, !endpoint.host.utf8.contains(0) else { return nil }
      if endpoint.scheme == "unix" { return .unix(path: endpoint.host) }
      guard endpoint.port > 0, let port = NWEndpoint.Port(rawValue: endpoint.port) else {
        return nil
      }
      return .hostPort(host: NWEndpoint.Host(endpoint.host), port: port)
    }
  }

  extension Cause {
    /// The cause behind an error of Network.framework; total.
    init(_ error: NWError) {
      self =
        switch error {
        case .posix(let code): .system(SystemError(errno: code.rawValue))
        case .dns(let code): Cause(dnsServiceError: code)
        case .tls(let status): Cause(secureTransportStatus: status)
        // Of a later system: transient, with a bounded budget (I15).
        default: .system(.other)
        }
    }
  }
#endif
