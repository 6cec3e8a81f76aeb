#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  @Suite("What TLS's two sides agree on")
  struct TLSNegotiationTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private func play(
      _ context: TLSServerContext, _ body: @escaping (TLSWorld) async throws -> Void
    ) throws {
      try VirtualTime.run(limit: .seconds(300)) { loop in
        let world = try TLSWorld(loop, context)
        try await body(world)
        await world.close()
        #expect(world.internet.liveSockets == 0)
      }
    }

    private func context(
      _ version: TLSVersion = .v13, protocols: [String] = [], clientAuthorities: PEM? = nil
    ) throws -> TLSServerContext {
      try TLSServerContext(
        identity: certificates.good, clientAuthorities: clientAuthorities,
        applicationProtocols: protocols, maximumVersion: version)
    }

    @Test(
      "F19: the newest version that both have; TLS 1.2 will do", arguments: [TLSVersion.v12, .v13])
    func versions(version: TLSVersion) throws {
      let configuration = try certificates.trusting()
      try play(context(version)) { world in
        let talker = await world.dial(world.dialer(configuration))
        #expect(talker.stream?.version == version)
        await world.exchange("hello", talker)
        talker.stream?.finishWriting()
        await world.loop.until { talker.isOver }
        #expect(talker.text == "hello" && talker.events == [.opened, .end])
        await world.close(talker)
      }
    }

    @Test("F19: ALPN takes the server's first choice among ours; none in common is told")
    func applicationProtocols() throws {
      let rows: [(server: [String], client: [String], chosen: String?, isOpen: Bool)] = [
        (["b", "c"], ["a", "c", "b"], "b", true), (["bb"], ["b", "bb"], "bb", true),
        ([], ["a"], nil, true), (["a"], [], nil, true), (["a"], ["b"], nil, false),
      ]
      for row in rows {
        let configuration = try certificates.trusting(applicationProtocols: row.client)
        try play(context(protocols: row.server)) { world in
          let talker = await world.dial(world.dialer(configuration))
          #expect(talker.stream?.applicationProtocol == row.chosen)
          let event: Talker<SimulatedTLS>.Event =
            row.isOpen ? .opened : .failed(.tls(.noCommonVersion))
          #expect(talker.events == [event])
          if !row.isOpen {
            #expect(talker.stream?.complaint?.problem.contains("application protocols") == true)
          }
          await world.close(talker)
        }
      }
    }

    @Test(
      "F19, B0.14: a client certificate is shown; a missing or strange one is a terminal failure",
      arguments: [TLSVersion.v12, .v13])
    func clientCertificates(version: TLSVersion) throws {
      let good = try certificates.authority.issue(for: .client)
      let strange = try certificates.stranger.issue(for: .client)
      let late = try certificates.authority.issue(for: .client, validity: .over)
      let demanding = try context(
        version, clientAuthorities: certificates.authority.certificate)
      for (identity, isGood) in [(nil, false), (good, true), (strange, false), (late, false)] {
        let configuration = try certificates.trusting(identity: identity)
        try play(demanding) { world in
          let talker = await world.dial(world.dialer(configuration))
          if talker.isOpen { await world.exchange("hello", talker) }
          if isGood {
            #expect(talker.text == "hello")
          } else {
            // With TLS 1.3 a client is done before the server has looked at its certificate.
            let cause = Cause.tls(.certificateRequired)
            #expect(
              talker.events
                == (version == .v12 ? [.failed(cause)] : [.opened, .readFailed(cause)]))
            #expect(cause.failureClass == .terminal)
            #expect(talker.stream?.complaint?.kind == .failure(cause))
          }
          await world.close(talker)
        }
      }
    }

    @Test(
      "F19: a dialer resumes sessions, also with pins alone", arguments: [TLSVersion.v12, .v13])
    func resumption(version: TLSVersion) throws {
      let pin = try PublicKeyPin(certificate: certificates.good.certificates)
      for configuration in [
        try certificates.trusting(pins: [pin]),
        try TLSConfiguration(trust: .pinsAlone, pins: [pin], serverName: "good.test"),
      ] {
        try play(context(version)) { world in
          let dialer = world.dialer(configuration)
          for round in 0..<5 {
            let talker = await world.dial(dialer)
            await world.exchange("hello", talker)
            #expect(talker.text == "hello")
            #expect(talker.stream?.isResumed == (round > 0), "round \(round)")
            talker.stream?.finishWriting()
            await world.loop.until { talker.isOver }
            #expect(talker.events == [.opened, .end])
            await world.close(talker)
          }
          // Another name of the same server is another server.
          let address = world.address
          world.internet.inject(.moveName("other.test", to: [address], staleFor: .zero))
          let stranger = await world.dial(dialer, host: "other.test")
          #expect(stranger.events == [.opened])
          #expect(stranger.stream?.isResumed == false)
          await world.close(stranger)
        }
      }
    }

    @Test("F19: a session of TLS 1.3 is used once, and one that was made by other pins never")
    func sessionsAreJudged() throws {
      let good = try PublicKeyPin(certificate: certificates.good.certificates)
      let other = try PublicKeyPin(certificate: certificates.authority.certificate)
      let spare = try PublicKeyPin(
        certificate: ThrowawayAuthority.selfSigned(names: ["spare"]).certificates)
      let first = try certificates.trusting(pins: [good])
      let second = try certificates.trusting(pins: [other])
      let third = try certificates.trusting(pins: [spare])
      try play(context()) { world in
        let sessions = SessionCache()
        func dialer(_ configuration: TLSConfiguration) -> TLSDialer<TrickDialer> {
          TLSDialer(world.base, configuration: configuration, sessions: sessions)
        }
        let talker = await world.dial(dialer(first))
        await world.exchange("hello", talker)
        #expect(sessions.count == 2)
        // Both are taken before a server's answer could bring new ones.
        let talkers = (0..<3).map { _ in Talker<SimulatedTLS>() }
        let together = dialer(first)
        for talker in talkers {
          talker.stream = together.dial(
            Endpoint(scheme: "tls", host: world.address, port: TLSWorld.port), observer: talker)
        }
        await world.loop.until { talkers.allSatisfy { $0.isOpen } }
        #expect(talkers.filter { $0.stream?.isResumed == true }.count == 2)
        for talker in talkers { await world.exchange("more", talker) }
        #expect(sessions.count == 2)
        // Good by these pins as well: resumed. By those not: neither resumed nor opened.
        let pinned = await world.dial(dialer(second))
        #expect(pinned.stream?.isResumed == true)
        await world.exchange("more", pinned)
        #expect(sessions.count == 2)
        let refused = await world.dial(dialer(third))
        #expect(refused.events == [.failed(.tls(.pinMismatch))])
        #expect(sessions.count == 0)
        await world.close(talker, talkers[0], talkers[1])
        await world.close(talkers[2], pinned, refused)
      }
    }

    @Test("F19, I18: the cache of sessions is bounded, by server and in all")
    func boundedCache() throws {
      let configuration = try certificates.trusting()
      try play(context()) { world in
        let sessions = SessionCache()
        let dialer = TLSDialer(world.base, configuration: configuration, sessions: sessions)
        for number in 1...70 {
          let host = "host\(number).test"
          let address = world.address
          world.internet.inject(.moveName(host, to: [address], staleFor: .zero))
          let talker = await world.dial(dialer, host: host)
          await world.exchange("hello", talker)
          #expect(sessions.count == min(2 * number, 64))
          await world.close(talker)
        }
      }
    }
  }
#endif
