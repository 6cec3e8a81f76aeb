/// Why a link ended, or why the machine stopped trying.
///
/// The first cause of an epoch is kept as given and never changed by what follows (I8). More cases
/// come with more transports: switch over ``failureClass`` where you can, and give a `switch` over
/// causes a `@unknown`-like last resort of your own.
public enum Cause: Hashable, BitwiseCopyable, Sendable {
  /// The application called close.
  case closedByUser
  /// The application asked for another endpoint, or for a fresh link.
  case replaced
  /// Nobody may use the link just now, or needs it: background, no demand, a device going to sleep.
  case suspended
  /// The interface under the link is not the one in use any more, and the policy redials.
  case pathChanged
  /// The local address or interface that the transport was told to dial from does not exist just
  /// now.
  case localAddressLost
  /// The path went away and the policy closes links at once when it does.
  case pathLost
  /// The peer ended the link in an orderly way, with a code where the protocol has one.
  case closedByPeer(CloseCode?)
  /// A deadline of our own passed.
  case timedOut(Timeout)
  /// The operating system reported an error on the socket.
  case system(SystemError)
  /// The host name was not resolved.
  case resolution(ResolutionError)
  /// The transport cannot dial such an endpoint: it is of another scheme, or its host or port
  /// cannot be.
  case unsupportedEndpoint
  /// The peer, or our own side, broke the protocol's rules.
  case protocolError
  /// The stream ended inside a message: the peer died while it wrote.
  case truncated
  /// TLS was not established, or did not end in order.
  case tls(TLSFailure)
  /// The peer answered an upgrade with this status, and perhaps with a Retry-After of so many
  /// seconds (an HTTP-date turned into a span, one that is past into 0; what is invalid into nil).
  case http(status: UInt16, retryAfter: UInt16? = nil)
  /// Apple's URL loading system failed.
  case loading(LoadingError)
  /// Whoever takes the inbound messages does not keep up, and a bound of ours was met.
  case slowConsumer
  /// The session stage ended with a refusal.
  case sessionRefused(Refusal)
  /// The credentials provider has none to give, or they were refused.
  case credentialsRefused
  /// The credentials provider failed this time.
  case credentialsUnavailable
}

/// A close code of the peer's protocol; for WebSocket, RFC 6455 section 7.4.
public struct CloseCode: Hashable, BitwiseCopyable, Sendable {
  /// The number as received.
  public let rawValue: UInt16

  /// Makes a code from its number.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// Which deadline of ours passed.
public enum Timeout: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// The transport did not open in time.
  case connect
  /// The session was not ready in time.
  case login
  /// A ping stayed without an answer, and nothing else arrived.
  case pong
  /// The credentials provider did not answer in time.
  case credentials
  /// The host name was not resolved within the limit that the dialer has for it.
  case resolution
  /// A handshake below the protocol (TLS, a proxy's) took longer than the limit that it has.
  case handshake
  /// A read that was asked for was not done in time.
  case read
  /// What was to be written was not taken in time.
  case write
}

/// What the retry rule makes of a cause.
public enum FailureClass: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// Worth another try after a backoff.
  case transient
  /// The network's fault: another try too, but forgotten once the path is back.
  case network
  /// Another try would fail alike: stop until the application acts.
  case terminal
}
