#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  @Suite("What a TLS client verifies")
  struct TLSVerificationTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private struct Outcome {
      let event: Talker<SimulatedTLS>.Event?
      let complaint: TLSError?
      /// What the server heard.
      let answer: Talker<SimulatedTLS>.Event?

      var isOpen: Bool { event == .opened }
      var failure: TLSFailure? {
        if case .failed(.tls(let failure)) = event { return failure }
        return nil
      }
    }

    private func dial(
      _ configuration: TLSConfiguration, _ identity: TLSIdentity,
      version: TLSVersion = .v13, host: String? = nil
    ) throws -> Outcome {
      let context = try TLSServerContext(identity: identity, maximumVersion: version)
      return try VirtualTime.run(limit: .seconds(100)) { loop in
        let world = try TLSWorld(loop, context)
        if let host {
          let address = world.address
          world.internet.inject(.moveName(host, to: [address], staleFor: .zero))
        }
        let talker = await world.dial(world.dialer(configuration), host: host)
        await loop.until(.milliseconds(50)) { false }
        let outcome = Outcome(
          event: talker.events.first, complaint: talker.stream?.complaint,
          answer: world.accepted.first?.events.first)
        await world.close(talker)
        #expect(world.internet.liveSockets == 0)
        return outcome
      }
    }

    private func pin(_ identity: TLSIdentity) throws -> PublicKeyPin {
      try PublicKeyPin(certificate: identity.certificates)
    }

    @Test(
      "F19, B0.14, I15: each failure of a certificate has its cause, is terminal, and is explained",
      arguments: [TLSVersion.v12, .v13])
    func failures(version: TLSVersion) throws {
      let names = ["good.test"]
      let rows: [(TLSIdentity, TLSFailure, Int32, String)] = [
        (try certificates.stranger.issue(names: names), .untrusted, 20, "authorities"),
        (try ThrowawayAuthority.selfSigned(names: names), .untrusted, 18, "signed itself"),
        (try certificates.authority.issue(names: names, validity: .over), .expired, 10, "renew"),
        (try certificates.authority.issue(names: names, validity: .notBegun), .expired, 9, "clock"),
        (
          try certificates.authority.issue(names: ["other.test"]), .hostMismatch, 62,
          "DNS:other.test"
        ),
        (try certificates.authority.issue(names: names, for: .client), .untrusted, 26, "replace"),
      ]
      for (identity, failure, code, word) in rows {
        let outcome = try dial(certificates.trusting(), identity, version: version)
        #expect(outcome.failure == failure)
        #expect(Cause.tls(failure).failureClass == .terminal)
        let complaint = try #require(outcome.complaint)
        #expect(complaint.kind == .failure(.tls(failure)))
        #expect(complaint.verifyCode == code)
        #expect(complaint.subject?.hasPrefix("CN=") == true)
        #expect(complaint.reason?.isEmpty == false)
        #expect("\(complaint)".contains(word), "\(complaint)")
        // The server is told, and never believes that all is well.
        #expect(outcome.answer != .opened)
      }
    }

    @Test("F19: the name that was dialled must be in the certificate; SNI or not, no exceptions")
    func names() throws {
      let identity = certificates.good
      let rows: [(host: String, serverName: String?, isGood: Bool)] = [
        ("good.test", nil, true), ("GOOD.test", nil, true), ("good.test.", nil, true),
        ("bad.test", nil, false), ("bad.test", "good.test", true), ("good.test", "bad.test", false),
        ("a.wild.test", nil, true), ("a.b.wild.test", nil, false), ("wild.test", nil, false),
        ("foo.part.test", nil, false), ("10.0.0.2", nil, true), ("10.0.0.2", "10.0.0.3", false),
        ("10.0.0.2", "::1", true), ("10.0.0.2", "fe80::1%eth0", false), ("10.0.0.2", "::2", false),
      ]
      for row in rows {
        let configuration = try certificates.trusting(serverName: row.serverName)
        let isNumeric = row.host.first?.isNumber == true
        let host = isNumeric ? nil : row.host
        let outcome = try dial(configuration, identity, host: host)
        #expect(outcome.isOpen == row.isGood, "\(row) \(outcome)")
        if !row.isGood { #expect(outcome.failure == .hostMismatch, "\(row)") }
      }
    }

    @Test("F19: a name that stands in the subject alone is no name, as RFC 9525 has it")
    func subjectAlone() throws {
      // Its common name is good.test; its names are none.
      let identity = try certificates.authority.issue(commonName: "good.test")
      #expect(try dial(certificates.trusting(), identity).failure == .hostMismatch)
    }

    @Test("F19: pins beside authorities: one of the chain must match, a backup pin does no harm")
    func pins() throws {
      let backup = try pin(ThrowawayAuthority.selfSigned(names: ["spare"]))
      let leaf = try pin(certificates.good)
      let root = try PublicKeyPin(certificate: certificates.authority.certificate)
      for pins: Set<PublicKeyPin> in [[leaf], [leaf, backup], [root, backup]] {
        let configuration = try certificates.trusting(pins: pins)
        #expect(try dial(configuration, certificates.good).isOpen)
      }
      let outcome = try dial(certificates.trusting(pins: [backup]), certificates.good)
      #expect(outcome.failure == .pinMismatch)
      #expect(outcome.complaint?.problem.contains("\(leaf)") == true)
      #expect(outcome.answer != .opened)
      #expect(Cause.tls(.pinMismatch).failureClass == .terminal)
      // A pin is no trust: what nobody has signed stays untrusted.
      let stranger = try certificates.stranger.issue(names: ["good.test"])
      let pinned = try certificates.trusting(pins: [pin(stranger)])
      #expect(try dial(pinned, stranger).failure == .untrusted)
    }

    @Test("F19: pinsAlone takes a self-signed certificate, and still demands its name and dates")
    func pinsAlone() throws {
      let good = try ThrowawayAuthority.selfSigned(names: ["good.test"])
      let late = try ThrowawayAuthority.selfSigned(names: ["good.test"], validity: .over)
      let other = try ThrowawayAuthority.selfSigned(names: ["other.test"])
      let pins = Set([try pin(good), try pin(late), try pin(other)])
      let configuration = try TLSConfiguration(
        trust: .pinsAlone, pins: pins, serverName: "good.test")
      #expect(try dial(configuration, good).isOpen)
      #expect(try dial(configuration, late).failure == .expired)
      #expect(try dial(configuration, other).failure == .hostMismatch)
      let stranger = try ThrowawayAuthority.selfSigned(names: ["good.test"])
      #expect(try dial(configuration, stranger).failure == .pinMismatch)
    }

    @Test("F19: pinsAlone believes what a pinned authority has signed, through others as well")
    func pinnedAuthority() throws {
      let middle = try certificates.authority.intermediate("Middle")
      let identity = try middle.issue(names: ["good.test"])
      for authority in [middle, certificates.authority] {
        let configuration = try TLSConfiguration(
          trust: .pinsAlone, pins: [PublicKeyPin(certificate: authority.certificate)],
          serverName: "good.test")
        // The root is not sent along, so its pin can match nothing.
        let isSent = authority.certificate == middle.certificate
        let outcome = try dial(configuration, identity)
        #expect(outcome.isOpen == isSent)
        if !isSent { #expect(outcome.failure == .pinMismatch) }
      }
      #expect(try dial(certificates.trusting(), identity).isOpen)
      let leafPinned = try certificates.trusting(
        pins: [PublicKeyPin(certificate: middle.certificate)])
      #expect(try dial(leafPinned, identity).isOpen)
    }

    @Test("F19: a pinned certificate that an impostor sends along does not make it trusted")
    func impostor() throws {
      let good = try ThrowawayAuthority.selfSigned(names: ["good.test"])
      let root = certificates.authority.certificate
      // The impostor's own certificate first, then one whose key is pinned.
      func chain(_ own: TLSIdentity, _ other: PEM) -> TLSIdentity {
        guard case .text(let first) = own.certificates, case .text(let second) = other else {
          return own
        }
        return TLSIdentity(certificates: .text(first + second), key: own.key)
      }
      let own = try certificates.stranger.issue(names: ["good.test"])
      let alone = try TLSConfiguration(
        trust: .pinsAlone,
        pins: [pin(good), PublicKeyPin(certificate: root)], serverName: "good.test")
      #expect(try dial(alone, chain(own, good.certificates)).failure == .untrusted)
      #expect(try dial(alone, chain(own, root)).failure == .untrusted)
      // Beside authorities: the chain is good, but the pinned certificate is no part of it.
      let signed = try certificates.authority.issue(names: ["good.test"])
      let beside = try certificates.trusting(pins: [pin(good)])
      #expect(try dial(beside, chain(signed, good.certificates)).failure == .pinMismatch)
    }

    @Test(
      "F19: an authority that is not its own issuer is believed, and so is a leaf that is given")
    func partialChains() throws {
      let middle = try certificates.authority.intermediate("Middle")
      let identity = try middle.issue(names: ["good.test"])
      for authority in [middle.certificate, identity.certificates] {
        let configuration = try TLSConfiguration(
          trust: .authorities(authority), serverName: "good.test")
        #expect(try dial(configuration, identity).isOpen)
      }
    }

    @Test("F19: the system's authorities do not know ours")
    func system() throws {
      let configuration = try TLSConfiguration(serverName: "good.test")
      #expect(try dial(configuration, certificates.good).failure == .untrusted)
    }
  }
#endif
