import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("F17: the race over loopback")
  struct TCPRaceTests {
    let loop: SocketEventLoop

    init() throws { loop = try SocketEventLoop() }

    private func timing(
      _ attemptDelay: TimeSpan = .milliseconds(250), resolutionDelay: TimeSpan = .milliseconds(50),
      resolution: TimeSpan? = nil, connect: TimeSpan? = nil
    ) throws -> DialTiming {
      try DialTiming(
        attemptDelay: attemptDelay, resolutionDelay: resolutionDelay, resolutionLimit: resolution,
        connectLimit: connect)
    }

    private func client(_ names: StubNames, _ timing: DialTiming) -> TestClient {
      TestClient(loop, resolver: names.resolver(), timing: timing)
    }

    /// Dials `host`; how long that took.
    private func dial(_ client: TestClient) async -> TimeSpan {
      let start = loop.now
      await client.dialled(Endpoint(host: "host", port: 1))
      return loop.now - start
    }

    @Test("a version 6 that hangs holds up version 4 for 250 ms, and is closed when that has won")
    func blackHole() async throws {
      let server = try TestServer { $0.echo() }
      let hole = FullBacklog("::1")
      let client = client(
        StubNames(["host": .of(hole.endpoint, server.endpoint)]), try timing())
      let before = ProcessCounts.sockets
      await loop.run { client.dial(Endpoint(host: "host", port: 1)) }
      let start = loop.now
      await loop.until { client.stream?.socketCount == 1 }
      #expect(client.events.isEmpty)
      await loop.until { client.isOpen }
      #expect(loop.now - start >= .milliseconds(240))
      #expect(client.stream?.socketCount == 1)
      await loop.run { client.write("over version 4") }
      await loop.until { client.received.count == 14 }
      await loop.run { client.close() }
      await loop.until { ProcessCounts.sockets <= before }
      loop.stop()
      server.stop()
      hole.close()
    }

    @Test("a version 6 that refuses holds up version 4 not at all")
    func refused() async throws {
      let server = try TestServer { $0.echo() }
      let refused = RefusedPort("::1")
      let client = client(
        StubNames(["host": .of(refused.endpoint, server.endpoint)]), try timing(.seconds(2)))
      let took = await dial(client)
      #expect(client.events == [.opened])
      #expect(took < .seconds(2))
      loop.stop()
      server.stop()
      refused.close()
    }

    @Test("of 5 addresses the one that lives is found among those that hang and those that refuse")
    func fiveAddresses() async throws {
      let server = try TestServer { $0.echo() }
      let (hole6, hole4) = (FullBacklog("::1"), FullBacklog())
      let (refused6, refused4) = (RefusedPort("::1"), RefusedPort())
      let names = StubNames([
        "host": .of(
          hole6.endpoint, refused6.endpoint, hole4.endpoint, refused4.endpoint, server.endpoint)
      ])
      let client = client(names, try timing(.milliseconds(100)))
      _ = await dial(client)
      #expect(client.events == [.opened])
      #expect(client.stream?.socketCount == 1)
      loop.stop()
      server.stop()
      for hole in [hole6, hole4] { hole.close() }
      for port in [refused6, refused4] { port.close() }
    }

    @Test("F16: a resolver that is slow for version 6 holds up version 4 for the resolution delay")
    func slowVersion6() async throws {
      let server = try TestServer { $0.echo() }
      let names = StubNames(["host": .of(server.endpoint)])
      names.shut(.version6)
      let client = client(names, try timing(resolutionDelay: .milliseconds(50)))
      let took = await dial(client)
      #expect(client.events == [.opened])
      #expect(took >= .milliseconds(50))
      names.open()
      loop.stop()
      server.stop()
    }

    @Test("F16: one that is slow for version 4 holds up version 6 not at all")
    func slowVersion4() async throws {
      let server = try TestServer("::1") { $0.echo() }
      let names = StubNames(["host": .of(server.endpoint)])
      names.shut(.version4)
      let client = client(names, try timing(resolutionDelay: .seconds(2)))
      let took = await dial(client)
      #expect(client.events == [.opened])
      #expect(took < .seconds(2))
      names.open()
      loop.stop()
      server.stop()
    }

    @Test("F15: a look-up beyond its limit is a time-out of the resolution")
    func resolutionLimit() async throws {
      let names = StubNames([:], isOpen: false)
      let client = client(names, try timing(resolution: .milliseconds(20)))
      _ = await dial(client)
      #expect(client.events == [.failed(.timedOut(.resolution))])
      names.open()
      loop.stop()
    }

    @Test("F15: attempts beyond their limit are a time-out, and none is left")
    func connectLimit() async throws {
      let (first, second) = (FullBacklog("::1"), FullBacklog())
      let before = ProcessCounts.sockets
      let client = client(
        StubNames(["host": .of(first.endpoint, second.endpoint)]),
        try timing(.milliseconds(100), connect: .milliseconds(150)))
      _ = await dial(client)
      #expect(client.events == [.failed(.timedOut(.connect))])
      #expect(client.stream?.socketCount == 0)
      await loop.until { ProcessCounts.sockets <= before }
      loop.stop()
      first.close()
      second.close()
    }

    @Test("F15, F16, RC096: the attempt's deadline cuts what hangs, and the next one asks anew")
    func deadline() async throws {
      let hole = FullBacklog()
      let names = StubNames([:], isOpen: false)
      let (sockets, loop) = (ProcessCounts.sockets, loop)
      let policy = try Policy(
        connectDeadline: .milliseconds(30),
        backoff: Backoff(
          first: .milliseconds(10), base: .milliseconds(10), cap: .milliseconds(20),
          jitter: .none), minimumDialSpacing: .milliseconds(10), heartbeat: nil)
      for endpoint in [hole.endpoint, Endpoint(host: "silent", port: 1)] {
        let causes = Confined<[Cause]>([])
        let connection = try Connection(
          StreamTransport(TCPDialer(loop: loop, resolver: names.resolver())) {
            try! DelimiterFraming(delimiter: .lf)
          }, policy: policy, seed: 1
        ) { record in
          for case .ended(_, let cause) in record.effects { causes.value.append(cause) }
        }
        connection.connect(to: endpoint)
        await loop.until { causes.value.count >= 3 }
        await connection.close()
        await loop.run {
          #expect(causes.value.prefix(3).allSatisfy { $0 == .timedOut(.connect) })
        }
      }
      names.open()
      await loop.until { ProcessCounts.sockets <= sockets }
      loop.stop()
      hole.close()
    }

    @Test(
      "I3, I18: 60 races that are won, lost, closed or dropped on the way leave no socket",
      arguments: [0, 1, 2])
    func nothingLeft(way: Int) async throws {
      let server = try TestServer { $0.echo() }
      let (hole6, hole4, refused) = (FullBacklog("::1"), FullBacklog(), RefusedPort("::1"))
      let names = StubNames([
        "host": .of(hole6.endpoint, server.endpoint),
        "dead": .of(hole6.endpoint, hole4.endpoint, refused.endpoint),
      ])
      let timing = try timing(.milliseconds(100))
      let before = ProcessCounts.sockets
      var clients: [TestClient] = []
      for _ in 0..<20 {
        let new = [0, 1, 2].map { _ in client(names, timing) }
        await loop.run {
          new[0].dial(Endpoint(host: "host", port: 1))
          new[1].dial(Endpoint(host: "dead", port: 1))
          new[2].dial(hole6.endpoint)
        }
        clients += new
      }
      let all = clients
      switch way {
      case 0:
        await loop.until { stride(from: 0, to: 60, by: 3).allSatisfy { all[$0].isOpen } }
        await loop.run { for client in all { client.close() } }
      case 1:
        await loop.pause(.milliseconds(30))
        await loop.run { for client in all { client.close() } }
      default: await loop.pause(.milliseconds(150))
      }
      if way == 2 {
        // Dropped by a thread that is not the loop's.
        for client in all { client.stream = nil }
      }
      await loop.until { ProcessCounts.sockets <= before }
      loop.stop()
      server.stop()
      for hole in [hole6, hole4] { hole.close() }
      refused.close()
    }
  }
}
