import ConnectionFSM
import Foundation
import Transports

/// How the bytes of `connect` travel: through which proxy, and whom TLS trusts.
struct Route: Sendable {
  private let proxy: Proxy?
  private let environment: ProxyEnvironment?
  #if os(Linux)
    private let tls: TLSConfiguration
    /// Of a proxy over TLS: pins, certificate and name are for the peer alone.
    private let proxyTLS: TLSConfiguration
  #endif

  /// Reads `--proxy`, `--ca`, `--pin`, `--cert` and `--server-name`.
  init(_ arguments: inout ArgumentList) throws(Failure) {
    (proxy, environment) = try Self.proxies(&arguments)
    #if os(Linux)
      (tls, proxyTLS) = try Self.configurations(&arguments)
    #endif
  }

  private static func proxies(
    _ arguments: inout ArgumentList
  ) throws(Failure) -> (Proxy?, ProxyEnvironment?) {
    guard let word = try arguments.value(of: "--proxy") else { return (nil, nil) }
    do throws(ProxySettingError) {
      if word == "env" {
        return (nil, try ProxyEnvironment(ProcessInfo.processInfo.environment))
      }
      return (try Proxy(word), nil)
    } catch {
      throw arguments.usage("--proxy: \(error)")
    }
  }

  #if os(Linux)
    private static func configurations(
      _ arguments: inout ArgumentList
    ) throws(Failure) -> (TLSConfiguration, ofProxy: TLSConfiguration) {
      let authorities = try arguments.value(of: "--ca").map { file in
        TLSConfiguration.Trust.authorities(.file(file))
      }
      let pins = try arguments.values(of: "--pin")
      let identity = try arguments.value(of: "--cert").map { file in
        TLSIdentity(certificates: .file(file), key: .file(file))
      }
      let name = try arguments.value(of: "--server-name")
      do throws(TLSError) {
        var keys: Set<PublicKeyPin> = []
        for pin in pins { keys.insert(try PublicKeyPin(pin)) }
        let trust = authorities ?? (keys.isEmpty ? .system : .pinsAlone)
        return (
          try TLSConfiguration(trust: trust, pins: keys, identity: identity, serverName: name),
          try TLSConfiguration(trust: authorities ?? .system)
        )
      } catch {
        throw arguments.usage("\(error)")
      }
    }
  #endif

  /// A connection at rest that goes this way.
  func connection<Framing: ProtocolEngine & Sendable>(
    _ preset: Preset<Framing>, on loop: SocketEventLoop, seed: UInt64,
    monitor: any ConnectionMonitor
  ) throws(ConnectionError) -> Connection {
    let (proxy, environment) = (proxy, environment)
    let choose = { (endpoint: Endpoint) in proxy ?? environment?.proxy(for: endpoint) }
    #if os(Linux)
      // TLS to the proxy, if that wants it, and TLS through it to the peer.
      let streams = SchemeDialer(TCPDialer(loop: loop), configuration: proxyTLS)
      let dialer = SchemeDialer(ProxyDialer(streams, choosing: choose), configuration: tls)
    #else
      let dialer = ProxyDialer(TCPDialer(loop: loop), choosing: choose)
    #endif
    return try Connection(
      preset, over: dialer, seed: seed, monitors: [monitor])
  }
}
