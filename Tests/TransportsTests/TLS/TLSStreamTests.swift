#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  @Suite("A TLS stream")
  struct TLSStreamTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    /// Plays in a world of its own, and demands that nothing is left.
    private func play<Value>(
      _ context: TLSServerContext? = nil, chunking: Chunking = .whole, readSize: Int = 16_384,
      _ body: @escaping (TLSWorld, TLSDialer<TrickDialer>) async throws -> Value
    ) throws -> Value {
      let configuration = try certificates.trusting(handshakeDeadline: .seconds(20))
      return try VirtualTime.run(limit: .seconds(600)) { loop in
        let world = try TLSWorld(loop, context, chunking: chunking, readSize: readSize)
        let value = try await body(world, world.dialer(configuration))
        await world.close()
        #expect(world.internet.liveSockets == 0)
        return value
      }
    }

    @Test("F19: opens by TLS 1.3 and carries bytes both ways; the ends of both sides are told")
    func echo() throws {
      try play { world, dialer in
        let talker = await world.dial(dialer)
        #expect(talker.events == [.opened])
        #expect(talker.stream?.version == .v13)
        #expect(talker.stream?.applicationProtocol == nil)
        #expect(talker.stream?.isResumed == false)
        await world.exchange("hello", talker)
        await world.exchange(", world", talker)
        #expect(talker.text == "hello, world")
        talker.stream?.finishWriting()
        await world.loop.until { talker.isOver }
        #expect(talker.events == [.opened, .end])
        #expect(world.accepted[0].events == [.opened, .end])
        #expect(talker.vainReads == 0 && world.accepted[0].vainReads == 0)
        await world.close(talker)
      }
    }

    @Test("F19, I13: the network may cut everything into single bytes", arguments: [1, 7, 100])
    func chunks(size: Int) throws {
      try play(chunking: size == 1 ? .single : .atMost(size)) { world, dialer in
        let talker = await world.dial(dialer)
        await world.exchange(String(repeating: "twenty characters...", count: 20), talker)
        #expect(talker.received.count == 400)
        talker.stream?.finishWriting()
        await world.loop.until { talker.isOver }
        #expect(talker.events == [.opened, .end])
        await world.close(talker)
      }
    }

    @Test("F19, I13: reads and writes below may be of any size")
    func sizes() throws {
      try play { world, dialer in
        for size in [Int](1...40) + [63, 64, 65, 127, 255, 511, 1000, 1399, 1400, 1401] {
          world.base.trick = Trick(size: size)
          world.trick = Trick(size: size)
          let talker = await world.dial(dialer)
          await world.exchange("some words of some length", talker)
          #expect(talker.text == "some words of some length", "size \(size)")
          await world.close(talker)
        }
      }
    }

    @Test("F19, I13: what the server sends may pause before any byte of it", arguments: 0..<4)
    func pausesOfServer(part: Int) throws {
      try play { world, dialer in
        // Tickets and the answer behind the handshake included.
        for place in stride(from: part, to: 1800, by: 4) {
          world.base.trick = Trick(pause: place)
          let talker = await world.dial(dialer)
          await world.exchange("some words", talker)
          #expect(talker.text == "some words", "pause before \(place)")
          await world.close(talker)
        }
      }
    }

    @Test("F19, I13: what the client sends may pause before any byte of it")
    func pausesOfClient() throws {
      try play { world, dialer in
        for place in 0..<700 {
          world.trick = Trick(pause: place)
          let talker = await world.dial(dialer)
          await world.exchange("some words", talker)
          #expect(talker.text == "some words", "pause before \(place)")
          await world.close(talker)
        }
      }
    }

    @Test("F19: 1 MiB goes both ways at once through small buffers and in small reads")
    func large() throws {
      try play(readSize: 1000) { world, dialer in
        let talker = await world.dial(dialer, readSize: 700)
        var random = SplitMix64(seed: 1)
        let payload = (0..<1 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        talker.write(payload)
        await world.loop.until { talker.received.count == payload.count || talker.isOver }
        #expect(talker.received == payload)
        #expect(talker.blockedWrites > 0)
        #expect(talker.events == [.opened])
        talker.finishWhenWritten()
        await world.loop.until { talker.isOver }
        #expect(talker.events == [.opened, .end])
        await world.close(talker)
      }
    }

    @Test("F19: a handshake may be larger than the room that is kept for it")
    func largeHandshake() throws {
      // Certificates that nobody needs: more than 25 KB of them.
      var identity = certificates.good
      let ballast = String(repeating: certificates.stranger.certificate.content, count: 80)
      identity.certificates = .text(identity.certificates.content + ballast)
      for size in [Int.max, 1000] {
        try play(TLSServerContext(identity: identity)) { world, dialer in
          world.trick = Trick(size: size)
          let talker = await world.dial(dialer)
          #expect(world.acceptedBases[0].bytesWritten > 25_000)
          await world.exchange("hello", talker)
          #expect(talker.text == "hello")
          await world.close(talker)
        }
      }
    }

    @Test("what is left of a record is announced although nothing more arrives")
    func leftOver() throws {
      try play { world, dialer in
        let talker = await world.dial(dialer, readSize: 3)
        talker.write("0123456789")
        await world.loop.until { talker.received.count == 10 || talker.isOver }
        #expect(talker.text == "0123456789")
        #expect(talker.announcements == 4)
        #expect(talker.vainReads == 0)
        await world.close(talker)
      }
    }

    @Test("F19, F40: after the server's close_notify the client may still write, and is heard")
    func serverFinishes() throws {
      try play { world, dialer in
        let talker = await world.dial(dialer)
        await world.exchange("a", talker)
        let server = world.accepted[0]
        server.stream?.finishWriting()
        await world.loop.until { talker.isOver }
        #expect(talker.events == [.opened, .end])
        talker.write("b")
        talker.stream?.finishWriting()
        // What it would echo finds its own side finished.
        await world.loop.until { server.isOver }
        #expect(server.text == "ab")
        #expect(server.events == [.opened, .writeFailed(.system(.brokenPipe))])
        let refused = talker.stream?.write([1].span.bytes)
        #expect(refused == .failed(.system(.brokenPipe)))
        await world.close(talker)
      }
    }

    @Test("F19: an end without close_notify is a truncation, as a reset is a reset")
    func truncation() throws {
      try play { world, dialer in
        for (cut, cause) in [
          (Trick.Cut.fin, Cause.tls(.closed)), (.reset, .system(.connectionReset)),
        ] {
          let talker = await world.dial(dialer)
          await world.exchange("a", talker)
          let base = world.acceptedBases[0]
          cut == .fin ? base.finishWriting() : base.base.reset()
          await world.loop.until { talker.isOver }
          #expect(talker.events == [.opened, .readFailed(cause)])
          #expect(cause.failureClass == .transient)
          #expect((talker.stream?.complaint == nil) == (cut == .reset))
          await world.close(talker)
        }
      }
    }

    @Test("F19, I18: close says goodbye, and a stream that is dropped closes itself")
    func closing() throws {
      try play { world, dialer in
        let talker = await world.dial(dialer)
        await world.exchange("a", talker)
        talker.stream?.close()
        talker.stream?.close()
        let server = world.accepted[0]
        await world.loop.until { server.isOver }
        #expect(server.events == [.opened, .end])
        #expect(talker.events == [.opened])
        let results = talker.stream?.write([1].span.bytes)
        #expect(results == .failed(.system(.notConnected)))
        await world.close(talker)

        var dropped: Talker<SimulatedTLS>? = await world.dial(dialer)
        weak let stream = dropped?.stream
        dropped = nil
        #expect(stream == nil)
        await world.loop.until { world.accepted.last?.isOver == true }
        #expect(world.accepted.last?.events == [.opened, .readFailed(.tls(.closed))])
      }
    }

    @Test("F15, F19: a server that is silent in the handshake is given up at its deadline")
    func silence() throws {
      let configuration = try certificates.trusting(handshakeDeadline: .seconds(3))
      try VirtualTime.run(limit: .seconds(100)) { loop in
        let world = try TLSWorld(loop)
        world.internet.change {
          $0.listen(world.host, port: 9, Service(script: [.hang]))
        }
        let talker = Talker<SimulatedTLS>()
        let stream = world.dialer(configuration).dial(
          Endpoint(scheme: "tls", host: world.address, port: 9), observer: talker)
        talker.stream = stream
        await loop.until { !talker.events.isEmpty }
        #expect(talker.events == [.failed(.timedOut(.handshake))])
        #expect(loop.now >= .origin + .seconds(3))
        #expect(loop.now < .origin + .milliseconds(3100))
        await world.close()
      }
    }

    @Test("F19: a peer that does not speak TLS has broken the protocol, and the error says so")
    func plainPeer() throws {
      let configuration = try certificates.trusting()
      try VirtualTime.run(limit: .seconds(100)) { loop in
        let world = try TLSWorld(loop)
        for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "\0\0\0\0\0\0"] {
          world.internet.change {
            $0.listen(
              world.host, port: 9, Service(script: [.receive(10), .send(Array(answer.utf8))]))
          }
          let talker = Talker<SimulatedTLS>()
          talker.stream = world.dialer(configuration).dial(
            Endpoint(scheme: "tls", host: world.address, port: 9), observer: talker)
          await loop.until { !talker.events.isEmpty }
          #expect(talker.events == [.failed(.protocolError)])
          #expect(talker.stream?.complaint?.problem.contains("does not speak TLS") == true)
        }
        await world.close()
      }
    }

    @Test("F19: what is no tls endpoint, or names what no certificate can name, is not dialled")
    func unsupported() throws {
      let configuration = try certificates.trusting(serverName: nil)
      try VirtualTime.run(limit: .seconds(100)) { loop in
        let world = try TLSWorld(loop)
        let dialer = world.dialer(configuration)
        for (endpoint, hasComplaint) in [
          (Endpoint(scheme: "tcp", host: world.address, port: 443), false),
          (Endpoint(scheme: "tls", host: ".good.test", port: 443), true),
          (Endpoint(scheme: "tls", host: "gööd.test", port: 443), true),
          (Endpoint(scheme: "tls", host: "a b", port: 443), true),
          (Endpoint(scheme: "tls", host: "", port: 443), true),
          (Endpoint(scheme: "tls", host: world.address, port: 0), false),
        ] {
          let talker = Talker<SimulatedTLS>()
          talker.stream = dialer.dial(endpoint, observer: talker)
          #expect(talker.events.isEmpty)
          await loop.until { !talker.events.isEmpty }
          #expect(talker.events == [.failed(.unsupportedEndpoint)])
          #expect((talker.stream?.complaint != nil) == hasComplaint)
        }
        #expect(world.internet.liveSockets == 0)
      }
    }
  }
#endif
