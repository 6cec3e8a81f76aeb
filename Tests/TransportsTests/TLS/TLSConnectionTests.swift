#if os(Linux)
  import ConnectionFSM
  import NetSim
  import Testing
  import Transports

  @Suite("A connection over TLS")
  struct TLSConnectionTests {
    private final class Complaints: ConnectionMonitor, @unchecked Sendable {
      var all: [TLSError] = []

      func connection(linkOf epoch: Epoch, failedWith error: any Error) {
        if let error = error as? TLSError { all.append(error) }
      }
    }

    /// Lives through a fault, and gives the causes of its links and what was diagnosed.
    private func live(
      _ identity: TLSIdentity
    ) throws -> (dials: Int, causes: [Cause], complaints: [TLSError], outcome: Outcome?) {
      let certificates = try Certificates.shared.get()
      let configuration = try certificates.trusting()
      let context = try TLSServerContext(identity: identity)
      let framing = try DelimiterFraming(delimiter: .lf, acknowledgement: .echo)
      let policy = try Policy(
        backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
        heartbeat: nil)
      return try VirtualTime.run(limit: .seconds(600)) { loop in
        let world = try TLSWorld(loop, context)
        let notes = Confined((dials: 0, causes: [Cause]()))
        let complaints = Complaints()
        let transport = StreamTransport(world.dialer(configuration)) { framing }
        let connection = try Connection(
          transport, policy: policy, seed: 1, monitors: [complaints]
        ) { record in
          for effect in record.effects {
            if case .openTransport = effect { notes.value.dials += 1 }
            if case .ended(_, let cause) = effect { notes.value.causes.append(cause) }
          }
        }
        connection.connect(
          to: Endpoint(scheme: "tls", host: world.address, port: TLSWorld.port))
        let outcome = Confined<Outcome?>(nil)
        connection.post(Message("hello")) { outcome.value = try? $0.get() }
        await loop.pause(.seconds(60))
        await connection.close()
        await world.close()
        #expect(world.internet.liveSockets == 0)
        let (dials, causes) = notes.value
        return (dials, causes, complaints.all, outcome.value)
      }
    }

    @Test("B0.14: a bad certificate is dialled once and explained; a good one carries messages")
    func once() throws {
      let certificates = try Certificates.shared.get()
      let bad = try live(certificates.authority.issue(names: ["good.test"], validity: .over))
      #expect(bad.dials == 1)
      #expect(bad.causes.first == .tls(.expired))
      #expect(bad.complaints.count == 1)
      #expect(bad.complaints.first?.verifyCode == 10)
      let good = try live(certificates.good)
      #expect(good.dials == 1)
      #expect(good.complaints.isEmpty)
      #expect(good.outcome == .written)
    }
  }
#endif
