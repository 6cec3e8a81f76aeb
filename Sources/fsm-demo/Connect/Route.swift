import ConnectionFSM
import Foundation
import Transports

/// How the bytes of `connect` travel: through which proxy, and whom TLS trusts.
struct Route: Sendable {
  private let proxy: Proxy?
  private let environment: ProxyEnvironment?
  #if os(Linux)
    private let tls: TLSConfiguration
  #endif

  /// Reads `--proxy`, `--ca`, `--pin`, `--cert` and `--server-name`.
  init(_ arguments: inout ArgumentList) throws(Failure) {
    (proxy, environment) = try Self.proxies(&arguments)
    #if os(Linux)
      tls = try Self.configuration(&arguments)
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
    private static func configuration(
      _ arguments: inout ArgumentList
    ) throws(Failure) -> TLSConfiguration {
      let authorities = try arguments.value(of: "--ca")
      let pins = try arguments.values(of: "--pin")
      let identity = try arguments.value(of: "--cert").map { file in
        TLSIdentity(certificates: .file(file), key: .file(file))
      }
      let name = try arguments.value(of: "--server-name")
      do throws(TLSError) {
        var keys: Set<PublicKeyPin> = []
        for pin in pins { keys.insert(try PublicKeyPin(pin)) }
        let trust: TLSConfiguration.Trust =
          authorities.map { .authorities(.file($0)) } ?? (keys.isEmpty ? .system : .pinsAlone)
        return try TLSConfiguration(
          trust: trust, pins: keys, identity: identity, serverName: name)
      } catch {
        throw arguments.usage("\(error)")
      }
    }
  #endif

  /// A connection at rest that goes this way.
  func connection<Framing: ProtocolEngine & Sendable>(
    _ preset: Preset<Framing>, to endpoint: Endpoint, on loop: SocketEventLoop, seed: UInt64,
    diagnosed: @escaping @Sendable (Epoch, any Error) -> Void,
    trace: @escaping @Sendable (TraceRecord) -> Void
  ) throws(ConnectionError) -> Connection {
    let (proxy, environment) = (proxy, environment)
    let streams = ProxyDialer(TCPDialer(loop: loop)) { endpoint in
      proxy ?? environment?.proxy(for: endpoint)
    }
    #if os(Linux)
      if endpoint.scheme == "tls" {
        return try Connection(
          preset, over: TLSDialer(streams, configuration: tls), seed: seed, diagnosed: diagnosed,
          trace: trace)
      }
    #endif
    return try Connection(
      preset, over: streams, seed: seed, diagnosed: diagnosed, trace: trace)
  }
}
