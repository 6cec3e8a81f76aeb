#if os(Linux)
  public import ConnectionFSM

  /// Whom a TLS client trusts, and what it says of itself.
  ///
  /// The versions are TLS 1.3 and 1.2. The chain of certificates, its dates, and the host name or
  /// address are always verified, in each handshake and for each session that is resumed; there is
  /// no way to trust everybody. Whether a certificate was revoked is not asked: that takes a
  /// connection of its own, to whom the certificate names.
  ///
  /// Everything is read and checked once, when it is made. Share one between dialers.
  public struct TLSConfiguration: Sendable {
    /// Whose signature on a certificate is believed.
    public enum Trust: Hashable, Sendable {
      /// The authorities that the system trusts (Debian: package `ca-certificates`).
      case system
      /// These authorities and no others. Any of the given certificates is believed, also one that
      /// another authority has signed.
      case authorities(PEM)
      /// No authority at all: the pins alone decide, for a server whose certificate nobody or only
      /// itself has signed. A certificate is believed if its own key is pinned, or if it is signed,
      /// perhaps through others that the server sends along, by a key that is. Host name and dates
      /// are verified all the same.
      case pinsAlone
    }

    /// Whose signature is believed.
    public let trust: Trust
    /// What else must hold: one certificate of the verified chain has one of these keys. Empty
    /// demands nothing.
    public let pins: Set<PublicKeyPin>
    /// What protocols this side speaks above TLS, the preferred one first (ALPN, RFC 7301).
    public let applicationProtocols: [String]
    /// What is verified and asked for in place of the endpoint's host; nil is that host.
    public let serverName: String?
    /// How long the handshake may take once the stream below is open; nil leaves it to whoever
    /// limits the whole dial.
    public let handshakeDeadline: TimeSpan?

    let context: TLSContext

    /// Reads and checks everything.
    ///
    /// - Parameters:
    ///   - trust: Whose signature is believed.
    ///   - pins: Keys of which one must be in the chain. Give the pin of a backup key, too, which
    ///     the server does not use yet: if the key in use is lost, a client without a backup can
    ///     never connect again (RFC 7469 section 2.5).
    ///   - applicationProtocols: The names for ALPN, each of 1 to 255 bytes. A server that knows
    ///     none of them may go on without; look at ``TLSStream/applicationProtocol``.
    ///   - identity: The certificate that is shown to a server which asks for one.
    ///   - serverName: The host name or address that the certificate must be for, and that is sent
    ///     as SNI (RFC 6066; names only). Nil is the host that is dialled.
    ///   - handshakeDeadline: Longer than zero; `Cause.timedOut(.handshake)` when it passes.
    /// - Throws: ``TLSError``, which names the part and the mend.
    public init(
      trust: Trust = .system, pins: Set<PublicKeyPin> = [], applicationProtocols: [String] = [],
      identity: TLSIdentity? = nil, serverName: String? = nil, handshakeDeadline: TimeSpan? = nil
    ) throws(TLSError) {
      if trust == .pinsAlone, pins.isEmpty {
        throw .configuration("pins", "are empty, and trust is pinsAlone; give at least one")
      }
      if let serverName { _ = try PeerName(serverName, for: "serverName") }
      if let handshakeDeadline, handshakeDeadline <= .zero {
        throw .configuration("handshakeDeadline", "is not longer than zero; nil is no limit")
      }
      self.trust = trust
      self.pins = pins
      self.applicationProtocols = applicationProtocols
      self.serverName = serverName
      self.handshakeDeadline = handshakeDeadline
      let context = try TLSContext(.dialling, judgedBy: VerificationRules(trust, pins))
      switch trust {
      case .system: try context.trustSystem()
      case .authorities(let pem): try context.trust(pem, for: "trust")
      case .pinsAlone: break
      }
      try context.offer(applicationProtocols)
      if let identity { try context.identify(by: identity) }
      self.context = context
    }
  }

  /// Who the peer must be: a host name, or an address.
  struct PeerName: Hashable {
    let text: String
    let isAddress: Bool

    /// - Parameter part: What it is, to be named in an error.
    init(_ host: String, for part: String) throws(TLSError) {
      var host = host[...]
      // The zone of a link-local address means something on this machine only.
      if host.contains(":"), let percent = host.firstIndex(of: "%") { host = host[..<percent] }
      isAddress = TLSContext.isAddress(String(host))
      // The root's dot is not part of a name in SNI (RFC 6066 section 3) or in a certificate.
      if !isAddress, host.last == "." { host = host.dropLast() }
      text = String(host)
      // A dot in front would make OpenSSL take any name below.
      guard !host.isEmpty, host.first != ".", host.utf8.count <= 253,
        host.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else {
        throw .configuration(
          part,
          "“\(host)” is no host name in ASCII and no address; write an international name as xn--"
        )
      }
    }
  }
#endif
