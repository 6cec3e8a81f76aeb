#if os(Linux)
  import ConnectionFSM
  import Testing
  import Transports

  extension RealSockets {
    @Suite("TLS against openssl s_server")
    struct OpenSSLPeerTests {
      private let certificates: Certificates

      init() throws { certificates = try Certificates.shared.get() }

      /// Dials once and gives what was heard, and what it was about.
      private func dial(
        _ configuration: TLSConfiguration, _ peer: OpenSSLPeer, saying text: String = "abc\n"
      ) async throws -> (events: [Talker<TLSCaller.Stream>.Event], text: String, TLSError?) {
        let caller = try TLSCaller(configuration)
        let talker = await caller.dial(peer.port)
        if talker.isOpen { await caller.exchange(text, talker) }
        let complaint = await caller.loop.run { Confined(talker.stream?.complaint) }
        await caller.close(talker)
        caller.stop()
        return (talker.events, talker.text, complaint.value)
      }

      private func expect(
        _ failure: TLSFailure, _ configuration: TLSConfiguration, _ identity: TLSIdentity,
        _ options: [String] = []
      ) async throws {
        let peer = try await OpenSSLPeer(identity, options)
        defer { peer.kill() }
        let (events, _, complaint) = try await dial(configuration, peer)
        #expect(events == [.failed(.tls(failure))])
        #expect(complaint?.kind == .failure(.tls(failure)))
      }

      @Test(
        "F19: a good server is opened, by TLS 1.3 and by 1.2", arguments: ["-tls1_3", "-tls1_2"])
      func good(version: String) async throws {
        let peer = try await OpenSSLPeer(certificates.good, ["-rev", version])
        defer { peer.kill() }
        for serverName in ["good.test", "127.0.0.1", "x.wild.test"] {
          let configuration = try certificates.trusting(serverName: serverName)
          let (events, text, _) = try await dial(configuration, peer)
          #expect(events == [.opened])
          #expect(text == "cba\n")
        }
      }

      @Test("F19, B0.14: expired, of another host, self-signed: each refused by its cause")
      func refused() async throws {
        let trusting = try certificates.trusting()
        try await expect(
          .expired, trusting,
          certificates.authority.issue(names: ["good.test"], validity: .over))
        try await expect(
          .hostMismatch, trusting, certificates.authority.issue(names: ["other.test"]))
        try await expect(
          .untrusted, trusting, ThrowawayAuthority.selfSigned(names: ["good.test"]))
      }

      @Test("F19: a self-signed server is accepted when its key is pinned, with a backup beside it")
      func pinned() async throws {
        let identity = try ThrowawayAuthority.selfSigned(names: ["good.test"])
        let pin = try PublicKeyPin(certificate: identity.certificates)
        let backup = try PublicKeyPin(certificate: certificates.good.certificates)
        let peer = try await OpenSSLPeer(identity, ["-rev"])
        defer { peer.kill() }
        let good = try TLSConfiguration(
          trust: .pinsAlone, pins: [pin, backup], serverName: "good.test")
        #expect(try await dial(good, peer).text == "cba\n")
        let wrong = try TLSConfiguration(
          trust: .pinsAlone, pins: [backup], serverName: "good.test")
        #expect(try await dial(wrong, peer).events == [.failed(.tls(.pinMismatch))])
      }

      @Test("F19: a server with TLS 1.1 alone is refused, since it has no version that is safe")
      func tooOld() async throws {
        try await expect(
          .noCommonVersion, certificates.trusting(), certificates.good,
          ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
      }

      @Test(
        "F19: a server that demands a client certificate gets ours, and says so if there is none",
        arguments: ["-tls1_3", "-tls1_2"])
      func clientCertificate(version: String) async throws {
        let peer = try await OpenSSLPeer(
          certificates.good, authority: certificates.authority.certificate,
          ["-rev", version, "-Verify", "2", "-verify_return_error"])
        defer { peer.kill() }
        let identity = try certificates.authority.issue(for: .client)
        let (_, text, _) = try await dial(certificates.trusting(identity: identity), peer)
        #expect(text == "cba\n")
        let cause = Cause.tls(.certificateRequired)
        let strange = try certificates.stranger.issue(for: .client)
        for identity in [nil, strange] {
          let refused = try await dial(certificates.trusting(identity: identity), peer)
          // With TLS 1.3 a client is done first, and hears of it when it reads or writes.
          let event = try #require(refused.events.first { $0 != .opened })
          #expect([.failed(cause), .readFailed(cause), .writeFailed(cause)].contains(event))
        }
      }

      @Test("F19: ALPN agrees on what both know")
      func applicationProtocol() async throws {
        let peer = try await OpenSSLPeer(certificates.good, ["-rev", "-alpn", "line,chat"])
        defer { peer.kill() }
        let caller = try TLSCaller(
          certificates.trusting(applicationProtocols: ["other", "chat"]))
        let talker = await caller.dial(peer.port)
        #expect(talker.stream?.applicationProtocol == "chat")
        await caller.close(talker)
        caller.stop()
      }

      @Test("F19: a redial resumes the session", arguments: ["-tls1_3", "-tls1_2"])
      func resumption(version: String) async throws {
        let peer = try await OpenSSLPeer(certificates.good, ["-rev", version])
        defer { peer.kill() }
        let caller = try TLSCaller(certificates.trusting())
        for round in 0..<3 {
          let talker = await caller.dial(peer.port)
          await caller.exchange("abc\n", talker)
          #expect(talker.text == "cba\n")
          #expect(talker.stream?.isResumed == (round > 0))
          await caller.close(talker)
        }
        caller.stop()
      }

      @Test("F19: keys are changed on the way, as often as the server likes")
      func keyUpdate() async throws {
        let peer = try await OpenSSLPeer(certificates.good, ["-tls1_3", "-msg"])
        defer { peer.kill() }
        let caller = try TLSCaller(certificates.trusting())
        let talker = await caller.dial(peer.port)
        for round in 1...3 {
          // It asks for new keys of ours, too; what follows is under the new ones.
          peer.program.write("K\n")
          await caller.loop.until { peer.count(">>>", "KeyUpdate") == round || talker.isOver }
          peer.program.write("round \(round)\n")
          await caller.loop.until { talker.text.hasSuffix("round \(round)\n") || talker.isOver }
          await caller.loop.run { talker.write("answer \(round)\n") }
          await caller.loop.until {
            peer.program.output.contains("answer \(round)\n") || talker.isOver
          }
          #expect(peer.count("<<<", "KeyUpdate") == round)
        }
        #expect(talker.events == [.opened])
        await caller.close(talker)
        caller.stop()
      }

      @Test("F19: a server that wants to renegotiate is told no")
      func renegotiation() async throws {
        let peer = try await OpenSSLPeer(certificates.good, ["-tls1_2", "-msg"])
        defer { peer.kill() }
        let caller = try TLSCaller(certificates.trusting())
        let talker = await caller.dial(peer.port)
        peer.program.write("r\n")
        await caller.loop.until { peer.count("<<<", "no_renegotiation") == 1 }
        #expect(peer.count("<<<", "ClientHello") == 1)
        await caller.close(talker)
        caller.stop()
      }

      @Test("F19: an orderly end is the end; a server that breaks off cuts the stream")
      func ends() async throws {
        let web = try await OpenSSLPeer(certificates.good, ["-www"])
        defer { web.kill() }
        let caller = try TLSCaller(certificates.trusting())
        let reader = await caller.dial(web.port)
        await caller.loop.run { reader.write("GET / HTTP/1.0\r\n\r\n") }
        await caller.loop.until { reader.isOver }
        #expect(reader.events == [.opened, .end])
        #expect(reader.text.hasPrefix("HTTP/1.0 200 ok"))
        await caller.close(reader)

        let peer = try await OpenSSLPeer(certificates.good)
        defer { peer.kill() }
        let talker = await caller.dial(peer.port)
        peer.program.write("hello\n")
        await caller.loop.until { talker.text == "hello\n" || talker.isOver }
        peer.kill()
        await caller.loop.until { talker.isOver }
        #expect(talker.events == [.opened, .readFailed(.tls(.closed))])
        await caller.close(talker)
        caller.stop()
      }
    }
  }
#endif
