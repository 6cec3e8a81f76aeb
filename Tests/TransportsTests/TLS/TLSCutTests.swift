#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  @Suite("A TLS handshake that is cut")
  struct TLSCutTests {
    private typealias Place = WritableKeyPath<Trick, (count: Int, Trick.Cut)?>

    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    /// Cuts after every byte and gives how that was told, with the bytes it was told of.
    private func sweep(_ place: Place, _ cut: Trick.Cut) throws -> [Talker<SimulatedTLS>.Event: Int]
    {
      let configuration = try certificates.trusting(handshakeDeadline: .seconds(20))
      return try VirtualTime.run(limit: .seconds(2000)) { loop in
        let world = try TLSWorld(loop)
        let dialer = world.dialer(configuration)
        var told: [Talker<SimulatedTLS>.Event: Int] = [:]
        var count = 0
        // Until the cut comes too late for the handshake and for all that follows it by itself.
        while true {
          var trick = Trick()
          trick[keyPath: place] = (count, cut)
          world.trick = trick
          let talker = await world.dial(dialer)
          if talker.isOpen { await loop.until(.milliseconds(50)) { talker.isOver } }
          let isWhole = talker.events == [.opened]
          if let last = talker.events.last { told[last, default: 0] += 1 }
          await world.close(talker)
          #expect(world.internet.liveSockets == 0, "after \(count)")
          if isWhole { return told }
          count += 1
        }
      }
    }

    @Test(
      "F19, I15: by a FIN or a reset at any byte of either side, is transient and leaves nothing",
      arguments: [Trick.Cut.fin, .reset])
    func everywhere(cut: Trick.Cut) throws {
      let causes: [Cause] =
        cut == .fin ? [.tls(.closed)] : [.tls(.reset), .system(.connectionReset)]
      for place in [\Trick.cutAfterWriting, \Trick.cutAfterReading] {
        let told = try sweep(place, cut)
        // The last one was whole.
        #expect(told[.opened] == 1)
        typealias Event = Talker<SimulatedTLS>.Event
        let allowed = [.opened] + causes.flatMap { [Event.failed($0), .readFailed($0)] }
        #expect(told.keys.allSatisfy(allowed.contains), "\(told)")
        #expect(causes.allSatisfy { $0.failureClass == .transient })
        // A server's flight has some 1,000 bytes, a client's more than 300.
        #expect(told[.failed(cut == .fin ? .tls(.closed) : .tls(.reset))] ?? 0 > 200, "\(told)")
      }
    }
  }

  extension EventLoop {
    /// Asks every millisecond until the condition holds, or so much time has passed.
    func until(_ limit: TimeSpan, _ condition: @escaping @Sendable () -> Bool) async {
      let end = now + limit
      await until { condition() || self.now >= end }
    }
  }
#endif
