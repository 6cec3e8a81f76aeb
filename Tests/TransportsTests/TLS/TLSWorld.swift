#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  /// Certificates of the tests, made once.
  struct Certificates: Sendable {
    static let shared = Result { try Certificates() }

    let authority: ThrowawayAuthority
    let stranger: ThrowawayAuthority
    /// For `good.test`, `*.wild.test`, `f*.part.test`, 10.0.0.2, 127.0.0.1 and ::1.
    let good: TLSIdentity

    init() throws {
      authority = try ThrowawayAuthority()
      stranger = try ThrowawayAuthority(name: "Stranger")
      good = try authority.issue(
        names: ["good.test", "*.wild.test", "f*.part.test"],
        addresses: ["10.0.0.2", "127.0.0.1", "::1"])
    }

    /// A client's configuration that trusts the authority.
    func trusting(
      pins: Set<PublicKeyPin> = [], applicationProtocols: [String] = [],
      identity: TLSIdentity? = nil, serverName: String? = "good.test",
      handshakeDeadline: TimeSpan? = nil
    ) throws -> TLSConfiguration {
      try TLSConfiguration(
        trust: .authorities(authority.certificate), pins: pins,
        applicationProtocols: applicationProtocols, identity: identity, serverName: serverName,
        handshakeDeadline: handshakeDeadline)
    }
  }

  typealias SimulatedTLS = TLSStream<TrickStream>

  /// A TLS server on a simulated internet that echoes, and a host to dial it from.
  final class TLSWorld: @unchecked Sendable {
    let internet: SimulatedInternet
    let loop: SimulatedEventLoop
    let host: HostID
    let base: TrickDialer
    /// What the server's side of the connections accepted from now on does to its bytes.
    var trick = Trick()
    private(set) var accepted: [Talker<SimulatedTLS>] = []
    private(set) var acceptedBases: [TrickStream] = []

    static let port: UInt16 = 443

    init(
      _ loop: SimulatedEventLoop, _ context: TLSServerContext? = nil,
      chunking: Chunking = .whole, readSize: Int = 16_384
    ) throws {
      self.loop = loop
      var world = Internet(seed: 1)
      world.chunking = chunking
      let client = world.addHost("client", link: .constant(.milliseconds(5)))
      host = world.addHost("server")
      internet = SimulatedInternet(world, on: loop)
      base = TrickDialer(internet.dialer(from: client))
      let context = try context ?? TLSServerContext(identity: Certificates.shared.get().good)
      let serverLoop = internet.loop(of: host)
      internet.listen(host, port: Self.port) { [unowned self] simulated in
        let base = TrickStream(simulated, trick)
        let talker = Talker<SimulatedTLS>(isEcho: true, readSize: readSize)
        let stream = context.accept(base, on: serverLoop)
        talker.stream = stream
        talker.onEvent = { [unowned talker] event in
          if event != .opened, event != .end { talker.stream?.close() }
        }
        accepted.append(talker)
        acceptedBases.append(base)
        simulated.start(observer: stream.start(observer: talker))
      }
    }

    /// The server's address, which its certificate is for.
    var address: String { internet.snapshot.addresses(of: host)[0] }

    func dialer(_ configuration: TLSConfiguration) -> TLSDialer<TrickDialer> {
      TLSDialer(base, configuration: configuration)
    }

    /// Dials and comes back when it is known how that went.
    func dial(
      _ dialer: TLSDialer<TrickDialer>, host: String? = nil, readSize: Int = 16_384
    ) async -> Talker<SimulatedTLS> {
      let talker = Talker<SimulatedTLS>(readSize: readSize)
      let endpoint = Endpoint(scheme: "tls", host: host ?? address, port: Self.port)
      talker.stream = dialer.dial(endpoint, observer: talker)
      await loop.until { !talker.events.isEmpty }
      return talker
    }

    /// Says something and comes back when it was echoed, or all is over.
    func exchange(_ text: String, _ talker: Talker<SimulatedTLS>) async {
      let goal = talker.received.count + text.utf8.count
      talker.write(text)
      await loop.until { talker.received.count >= goal || talker.isOver }
    }

    /// Closes all that is open, and comes back when nothing is under way any more.
    func close(_ talkers: Talker<SimulatedTLS>...) async {
      for talker in talkers { talker.stream?.close() }
      await loop.pause(.milliseconds(100))
      for talker in accepted { talker.stream?.close() }
      accepted = []
      acceptedBases = []
      await loop.pause(.milliseconds(100))
    }
  }

  extension TLSStream {
    /// What its failure says of itself.
    var complaint: TLSError? { diagnosis as? TLSError }
  }
#endif
