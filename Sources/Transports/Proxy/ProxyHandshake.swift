package import ConnectionFSM

/// What is said to a proxy until the tunnel stands: a value without a stream.
package protocol ProxyHandshake: Sendable {
  /// The stream to the proxy is open: what to say first.
  mutating func start(into output: inout [UInt8])

  /// Bytes arrived, cut anywhere. Not to be called again once it has ended.
  mutating func receive(_ bytes: RawSpan, into output: inout [UInt8]) -> ProxyProgress

  /// How many bytes of the proxy were taken.
  var offset: Int { get }
}

/// How far a handshake with a proxy has come.
package enum ProxyProgress: Equatable, Sendable {
  /// More is awaited.
  case goesOn
  /// The tunnel stands; so many bytes of the last ones were the proxy's, the rest is the tunnel's.
  case isDone(taken: Int)
  /// There is no tunnel.
  case failed(Cause, ProxyError.Problem)
}

extension Proxy {
  /// The handshake for a target; nil if a proxy cannot be asked for it.
  func handshake(for target: Endpoint) -> (any ProxyHandshake)? {
    switch kind {
    case .http: ConnectHandshake(target: target, credentials: credentials)
    case .socks5: SOCKS5Handshake(target: target, credentials: credentials)
    }
  }
}

extension Endpoint {
  /// Whether it can stand in a proxy's request: nothing that would end a line, and nothing that
  /// means something on this machine alone, as a zone does.
  var isFitForProxy: Bool {
    scheme == "tcp" && port > 0 && (1...255).contains(host.utf8.count)
      && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Self.unfit.contains($0) }
  }

  private static let unfit = Array("/?#@[]%\\\"<>".utf8)
}
