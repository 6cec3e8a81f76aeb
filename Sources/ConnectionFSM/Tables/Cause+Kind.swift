extension Cause {
  /// A cause without its particulars, for policies by reason (F05): “a lost path stops”.
  public enum Kind: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    // Each is the case of ``Cause`` of that name.
    case closedByUser, replaced, suspended, pathChanged, localAddressLost, pathLost
    case closedByPeer, timedOut, system, resolution, unsupportedEndpoint, protocolError
    case truncated, tls, http, loading, slowConsumer, sessionRefused, credentialsRefused
    case credentialsUnavailable
  }

  /// The cause without its particulars.
  public var kind: Kind {
    switch self {
    case .closedByUser: .closedByUser
    case .replaced: .replaced
    case .suspended: .suspended
    case .pathChanged: .pathChanged
    case .localAddressLost: .localAddressLost
    case .pathLost: .pathLost
    case .closedByPeer: .closedByPeer
    case .timedOut: .timedOut
    case .system: .system
    case .resolution: .resolution
    case .unsupportedEndpoint: .unsupportedEndpoint
    case .protocolError: .protocolError
    case .truncated: .truncated
    case .tls: .tls
    case .http: .http
    case .loading: .loading
    case .slowConsumer: .slowConsumer
    case .sessionRefused: .sessionRefused
    case .credentialsRefused: .credentialsRefused
    case .credentialsUnavailable: .credentialsUnavailable
    }
  }
}
