import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("The application's heartbeat, over loopback")
  struct BeatStory {
    private static let interval = TimeSpan.milliseconds(20)

    @Test(
      "F42: 5 reconnects leave one beat an interval, a close none (B0.9, B0.10, B3.6, B3.7)")
    func beats() async throws {
      let server = try KillableServer()
      let beat = Beat(interval: Self.interval, isImmediate: true)
      let rig = try EndRig(EndPolicy(beat: beat), beat: BeatMessage("heart"))
      let endpoint = try await server.start()
      rig.connection.connect(to: endpoint)
      var before = 0
      for link in 1...5 {
        await rig.until { $0.opened.count == link && $0.beatsOfLastLink.count >= 2 }
        await server.kill()
        // Now, while nobody listens: the next link beats as soon as it is there.
        before = server.lines.value
        _ = try await server.start(port: endpoint.port)
      }
      await rig.until { $0.opened.count == 6 && $0.beatsOfLastLink.count >= 10 }
      await rig.connection.close()

      let trace = rig.trace
      let openedAt = try #require(
        trace.all.last { $0.openAfter != nil && $0.openBefore == nil }?.instant)
      // However late some were, there are never more than one timer makes.
      for (count, instant) in trace.beatsOfLastLink.enumerated() {
        let elapsed = (instant - openedAt).nanoseconds
        #expect(elapsed >= Int64(count) * Self.interval.nanoseconds)
      }
      // No older link beats beside the last.
      let epochs = trace.beats.map(\.epoch)
      #expect(epochs == epochs.sorted { $0 < $1 })
      #expect(trace.last?.nextDeadline == nil)
      // The server read what this link sent, and then its end.
      while await server.connectionCount > 0, !Task.isCancelled {
        await rig.loop.pause(.milliseconds(1))
      }
      #expect(server.lines.value - before == trace.beatsOfLastLink.count)
      await rig.close()
      server.end()
    }

    @Test("F42: without the immediate one, the first beat comes after an interval")
    func patientBeat() async throws {
      let server = try KillableServer()
      let rig = try EndRig(
        EndPolicy(beat: Beat(interval: Self.interval)), beat: BeatMessage("longConnect"))
      rig.connection.connect(to: try await server.start())
      await rig.until { !$0.beats.isEmpty }
      let openedAt = try #require(rig.trace.all.first { $0.openAfter != nil }?.instant)
      #expect(try #require(rig.trace.beats.first?.at) >= openedAt + Self.interval)
      await rig.close()
      server.end()
    }
  }
}

extension RecordedTrace {
  /// When beats were sent on the link that opened last.
  fileprivate var beatsOfLastLink: [Instant] {
    let last = opened.last
    return beats.filter { $0.epoch == last }.map(\.at)
  }
}
