import ConnectionFSM
import NetSim
import Testing

/// Every ping interval against every box that forgets idle streams: a connection that ships, over
/// simulated bytes.
@Suite struct IdleReaperTableTests {
  static let intervals: [Int64] = [10, 25, 30, 45, 55, 60, 240, 270, 300]
  private static let timeout = TimeSpan.seconds(10)
  private static let latency = TimeSpan.milliseconds(20)

  /// How the first link went.
  private struct Life {
    var openedAt: Instant?
    var endedAt: Instant?
    var cause: Cause?
    var pings = 0

    var span: TimeSpan? {
      guard let openedAt, let endedAt else { return nil }
      return endedAt - openedAt
    }

    mutating func add(_ record: TraceRecord) {
      if case .transport(Epoch(1), .opened) = record.input { openedAt = record.instant }
      for effect in record.effects {
        switch effect {
        case .sendPing(Epoch(1), _): pings += 1
        case .ended(Epoch(1), let cause):
          endedAt = record.instant
          self.cause = cause
        default: break
        }
      }
    }
  }

  private final class Watch: @unchecked Sendable {
    var life = Life()
  }

  /// Lives for so long behind the box, and says how the first link ended, if it has by then.
  private static func life(
    interval: Int64, behind reaper: IdleReaper, for span: TimeSpan, seed: UInt64
  ) throws -> Life {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(5), base: .seconds(2), cap: .seconds(60), jitter: .full),
      heartbeat: Heartbeat(interval: .seconds(interval), timeout: timeout, misses: 1))
    return try VirtualTime.run(limit: span + .seconds(60)) { loop in
      var internet = Internet(seed: seed)
      let client = internet.addHost("client", link: .constant(latency))
      let server = internet.addHost("server")
      internet.addReaper(reaper, to: server)
      let world = SimulatedInternet(internet, on: loop)
      let serving = SimulatedServer(
        world, host: server, port: 1, engine: { SimulatedProtocol() }, respond: { _, _ in })
      let watch = Watch()
      let connection = try Connection(
        world.transport(from: client), policy: policy, seed: seed
      ) { watch.life.add($0) }
      connection.connect(to: Endpoint(host: "server", port: 1))
      try await loop.clock.sleep(for: Duration(span))
      let life = watch.life
      await connection.close()
      withExtendedLifetime(serving) {}
      return life
    }
  }

  @Test(
    "I19: pings more often than a box forgets keep the link, less often lose it the box's own way",
    arguments: IdleReaper.all, intervals)
  func table(reaper: IdleReaper, interval: Int64) throws {
    let ping = TimeSpan.seconds(interval)
    let span = TimeSpan.seconds(max(12 * interval, reaper.idle.nanoseconds / 1_000_000_000 * 6 / 5))
    if ping < reaper.idle - reaper.sweep {
      let life = try Self.life(interval: interval, behind: reaper, for: span, seed: 1)
      #expect(life.openedAt != nil)
      #expect(life.cause == nil)
      #expect(life.pings >= 11)
    } else if ping > reaper.idle + reaper.sweep {
      let life = try Self.life(interval: interval, behind: reaper, for: span, seed: 1)
      try Self.expectDeath(life, behind: reaper, interval: ping)
    } else {
      // A race: with some dice the first ping comes in time, with others it does not.
      let lives = try (0..<40).map {
        try Self.life(interval: interval, behind: reaper, for: ping + .seconds(20), seed: $0)
      }
      let dead = lives.count { $0.cause != nil }
      #expect((5...35).contains(dead), "\(dead) of 40 links died of the first silence")
    }
  }

  private static func expectDeath(
    _ life: Life, behind reaper: IdleReaper, interval: TimeSpan
  ) throws {
    let span = try #require(life.span)
    let roundTrip = latency + latency
    switch reaper.aftermath {
    case .silence:
      #expect(life.cause == .timedOut(.pong))
      #expect(life.pings == 1)
      #expect(span == interval + timeout)
    case .resetOnNextPacket:
      #expect(life.cause == .system(.connectionReset))
      #expect(life.pings == 1)
      #expect(span > interval && span <= interval + roundTrip)
    case .finish:
      // Before the first ping: the box acts by itself.
      #expect(life.cause == .closedByPeer(nil))
      #expect(life.pings == 0)
      #expect(span >= reaper.idle - reaper.sweep)
      #expect(span <= reaper.idle + reaper.sweep + roundTrip)
    case .reset:
      #expect(life.cause == .system(.connectionReset))
      #expect(life.pings == 0)
    }
  }

  @Test("the table has a box of each kind of aftermath but the reset at once, and each case of it")
  func coverage() {
    let cases = IdleReaper.all.flatMap { reaper in
      Self.intervals.map { interval -> Int in
        let ping = TimeSpan.seconds(interval)
        if ping < reaper.idle - reaper.sweep { return 0 }
        return ping > reaper.idle + reaper.sweep ? 2 : 1
      }
    }
    #expect(Set(cases) == [0, 1, 2])
    for aftermath in [IdleReaper.Aftermath.silence, .resetOnNextPacket, .finish] {
      #expect(IdleReaper.all.contains { $0.aftermath == aftermath })
    }
  }
}
