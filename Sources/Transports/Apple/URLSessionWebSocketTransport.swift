#if canImport(Darwin)
  public import ConnectionFSM
  public import Foundation

  /// WebSocket by `URLSessionWebSocketTask`, for apps that must go through the URL loading system
  /// (its proxies, its cookies, its certificates).
  ///
  /// What that system keeps to itself is not to be had: a close code that it does not know, the
  /// bytes on the wire, when the last byte of a message was taken. A message above the limit ends
  /// the link. Not yet verified on Apple platforms.
  public final class URLSessionWebSocketTransport: Transport {
    private let loop: SocketEventLoop
    private let configuration: URLSessionConfiguration
    private let maximumMessageSize: Int
    private let request: (Endpoint) -> URLRequest?
    // One; two while a replacement opens beside it.
    private var links: [URLSessionWebSocketLink] = []

    public var eventLoop: any EventLoop { loop }

    public var canPing: Bool { true }

    /// Makes a transport.
    /// - Parameters:
    ///   - loop: Where everything of it is told.
    ///   - configuration: Of the sessions, one a link; copied.
    ///   - maximumMessageSize: The most bytes of a message that arrives, all its fragments
    ///     together. Default 1 MiB, the system's own.
    ///   - request: The request for an endpoint, with path and header fields; nil if it cannot be
    ///     dialled. Called on the loop for each dial. The default has the endpoint's scheme (`ws`
    ///     or `wss`), host and port, and the path `/`.
    public init(
      loop: SocketEventLoop, configuration: URLSessionConfiguration = .ephemeral,
      maximumMessageSize: Int = 1 << 20,
      request: @escaping (Endpoint) -> URLRequest? = URLSessionWebSocketTransport.request(for:)
    ) {
      self.loop = loop
      self.configuration = configuration
      self.maximumMessageSize = maximumMessageSize
      self.request = request
    }

    deinit {
      for link in links { link.abort() }
    }

    /// The request for a `ws` or `wss` endpoint; nil for others.
    public static func request(for endpoint: Endpoint) -> URLRequest? {
      guard endpoint.scheme == "ws" || endpoint.scheme == "wss" else { return nil }
      return URL(string: "\(endpoint)/").map { URLRequest(url: $0) }
    }

    /// Text must be UTF-8; there are no other kinds than text and binary.
    public func admits(_ message: Message) -> Bool {
      switch message.kind {
      case .text: String(validating: message.bytes, as: UTF8.self) != nil
      case .binary: true
      case .object, .unknown: false
      }
    }

    public func open(
      _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
      observer: any TransportObserver
    ) {
      loop.expectLoop()
      guard let request = request(endpoint) else {
        return observer.transport(epoch, reports: .failed(.unsupportedEndpoint))
      }
      let link = URLSessionWebSocketLink(epoch, loop: loop, observer: observer) { [weak self] in
        self?.links.removeAll { $0.epoch == epoch }
      }
      links.append(link)
      link.open(request, configuration, maximumMessageSize: maximumMessageSize)
    }

    public func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
      link(epoch)?.send(message, id: id)
    }

    public func ping(_ number: UInt32, on epoch: Epoch) { link(epoch)?.ping(number) }

    public func close(_ epoch: Epoch) { link(epoch)?.close() }

    public func abort(_ epoch: Epoch) { link(epoch)?.abort() }

    private func link(_ epoch: Epoch) -> URLSessionWebSocketLink? {
      links.first { $0.epoch == epoch }
    }
  }
#endif
