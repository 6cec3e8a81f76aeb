public import ConnectionFSM

/// A published connection manager's whole way of life over a stream: policy, framing, login and
/// heartbeat.
///
/// ```swift
/// let preset = try Preset.lineHeartbeat(interval: .seconds(30))
/// let connection = try Connection(preset, over: TCPDialer(loop: loop))
/// ```
///
/// Each preset says what differs from its article, and which bug that ends.
public struct Preset<Framing: ProtocolEngine & Sendable>: Sendable {
  /// When to dial, to beat and to give up.
  public var policy: Policy
  /// What is spoken on a link, the login in it where there is one; each link gets a fresh copy.
  public var framing: Framing
  /// The words of the policy's beat.
  public var beat: BeatMessage?

  /// Makes a preset of an application's own.
  public init(policy: Policy, framing: Framing, beat: BeatMessage? = nil) {
    self.policy = policy
    self.framing = framing
    self.beat = beat
  }

  /// A transport that speaks the preset's framing.
  /// - Parameters:
  ///   - dialer: Makes the streams.
  ///   - home: Where a connection dials that is not told where.
  public func transport<Dialer: ByteStreamDialer>(
    over dialer: sending Dialer, home: Endpoint? = nil
  ) -> sending StreamTransport<Dialer, Framing> {
    let framing = framing
    return StreamTransport(dialer, home: home, engine: { framing })
  }
}

extension Connection {
  /// Makes a connection at rest that lives as a preset says.
  /// - Parameters:
  ///   - preset: Policy, framing and beat.
  ///   - dialer: Makes the streams.
  ///   - home: Where it dials when it is not told where.
  ///   - seed: What random waits are drawn from; nil draws one from the system.
  ///   - credentials: Who is asked for credentials before each dial; needed where the policy has a
  ///     `credentialsDeadline`, and only there.
  ///   - monitors: Who hears every step.
  ///   - trace: Called on the loop with every step of the machine.
  /// - Throws: ``ConnectionError`` if the policy asks for what the framing cannot do.
  public convenience init<Framing: ProtocolEngine & Sendable, Dialer: ByteStreamDialer>(
    _ preset: Preset<Framing>, over dialer: sending Dialer, home: Endpoint? = nil,
    seed: UInt64? = nil, credentials: CredentialsProvider? = nil,
    monitors: [any ConnectionMonitor] = [],
    trace: (@Sendable (TraceRecord) -> Void)? = nil
  ) throws(ConnectionError) {
    try self.init(
      preset.transport(over: dialer, home: home), policy: preset.policy, seed: seed,
      beat: preset.beat, credentials: credentials, monitors: monitors, trace: trace)
  }
}
