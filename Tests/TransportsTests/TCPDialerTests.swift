import ConnectionFSM
import Synchronization
import Testing
import Transports

extension RealSockets {
  @Suite("The TCP dialer")
  struct TCPDialerTests {
    let loop: SocketEventLoop
    let client: TestClient

    init() throws {
      loop = try SocketEventLoop()
      client = TestClient(loop)
    }

    @Test("a port without a listener is refused", arguments: ["127.0.0.1", "::1"])
    func refused(host: String) async {
      let port = RefusedPort(host)
      await client.dialled(port.endpoint)
      #expect(client.events == [.failed(.system(.connectionRefused))])
      let after = await loop.run { [client] in client.stream?.write([1].span.bytes) }
      #expect(after == .failed(.system(.notConnected)))
      loop.stop()
      port.close()
    }

    @Test("F15: a connect that hangs is closed at will, and nothing is heard of it")
    func hanging() async {
      let port = FullBacklog()
      await loop.run { [client] in client.dial(port.endpoint) }
      await loop.until { [client] in client.stream?.descriptor != nil }
      await loop.pause(.milliseconds(2))
      let before = await loop.run { [client] in
        defer { client.close() }
        return client.stream?.write([1].span.bytes)
      }
      #expect(before == .wouldBlock)
      await loop.pause(.milliseconds(2))
      #expect(client.events.isEmpty)
      #expect(client.stream?.descriptor == nil)
      loop.stop()
      port.close()
    }

    @Test("an endpoint that is none of TCP's fails terminally, and its name is not looked up")
    func unsupported() async {
      let names = StubNames([:])
      let endpoints = [
        Endpoint(scheme: "ws", host: "127.0.0.1", port: 1),
        Endpoint(host: "127.0.0.1", port: 0),
        Endpoint(host: "", port: 1),
        Endpoint(host: "127.0.0.1\0.invalid", port: 1),
      ]
      for endpoint in endpoints {
        let client = TestClient(loop, resolver: names.resolver())
        await client.dialled(endpoint)
        #expect(client.events == [.failed(.unsupportedEndpoint)])
      }
      #expect(Cause.unsupportedEndpoint.failureClass == .terminal)
      #expect(names.asked.withLock { $0 }.isEmpty)
      loop.stop()
    }

    @Test("the observer hears nothing inside dial, nor of a dial that is closed at once")
    func neverInside() async {
      let port = RefusedPort()
      let closed = TestClient(loop)
      let during = await loop.run { [client] in
        client.dial(port.endpoint)
        closed.dial(port.endpoint)
        closed.close()
        return client.events
      }
      #expect(during.isEmpty)
      await loop.until { [client] in !client.events.isEmpty }
      await loop.pause(.milliseconds(1))
      #expect(closed.events.isEmpty)
      loop.stop()
      port.close()
    }

    // MARK: Names

    @Test("F16: a name that does not exist is EAI_NONAME, or EAI_AGAIN where no resolver answers")
    func unknownName() async {
      await client.dialled(Endpoint(host: "no-such-host.invalid", port: 80))
      #expect(
        client.events == [.failed(.resolution(.unknownName))]
          || client.events == [.failed(.resolution(.temporaryFailure))])
      loop.stop()
    }

    @Test("F16: localhost is found, and the loop goes on while the name is looked up")
    func localhost() async throws {
      let server = try TestServer { $0.echo() }
      await client.dialled(Endpoint(host: "localhost", port: server.port))
      #expect(client.events == [.opened])
      loop.stop()
      server.stop()
    }

    @Test("I2: the answer of a look-up that was closed meanwhile is dropped, and nothing is kept")
    func lateAnswer() async throws {
      let server = try TestServer { $0.echo() }
      let names = StubNames(["slow": .of(server.endpoint)], isOpen: false)
      let resolver = names.resolver(threads: 1)
      var closed: TestClient? = TestClient(loop, resolver: resolver)
      var skipped: TestClient? = TestClient(loop, resolver: resolver)
      weak let stream = await loop.run { [closed, skipped] in
        closed?.dial(Endpoint(host: "slow", port: 1))
        skipped?.dial(Endpoint(host: "never asked", port: 1))
        return closed?.stream
      }
      await loop.until { names.asked.withLock { $0 } == ["slow"] }
      await loop.run { [closed, skipped] in
        closed?.close()
        skipped?.close()
      }
      #expect(closed?.events == [])
      (closed, skipped) = (nil, nil)
      await loop.pause(.milliseconds(1))
      #expect(stream == nil)
      names.open()
      // The same single thread serves this one, family by family, only after it has skipped the
      // others.
      let last = TestClient(loop, resolver: resolver)
      await last.dialled(Endpoint(host: "slow", port: 1))
      #expect(last.events == [.opened])
      #expect(names.asked.withLock { $0 } == ["slow", "slow", "slow"])
      loop.stop()
      server.stop()
    }

    @Test("RC195: the addresses of a name are tried in their order until one connects")
    func severalAddresses() async throws {
      let server = try TestServer { $0.echo() }
      let (first, second) = (RefusedPort("::1"), RefusedPort())
      let names = StubNames([
        "host": .of(first.endpoint, second.endpoint, server.endpoint),
        "dead": .of(first.endpoint, second.endpoint),
      ])
      let client = TestClient(loop, resolver: names.resolver())
      await client.dialled(Endpoint(host: "host", port: 1))
      #expect(client.events == [.opened])
      let unlucky = TestClient(loop, resolver: names.resolver())
      await unlucky.dialled(Endpoint(host: "dead", port: 1))
      #expect(unlucky.events == [.failed(.system(.connectionRefused))])
      loop.stop()
      server.stop()
      first.close()
      second.close()
    }

    // MARK: Nothing left

    @Test("a stream that is dropped, or whose observer is gone, closes itself")
    func dropped() async throws {
      let ended = Atomic(0)
      let server = try TestServer { peer in
        peer.write("unread")
        _ = peer.readToEnd()
        ended.add(1, ordering: .relaxed)
      }
      var first: TestClient? = TestClient(loop)
      await first?.dialled(server.endpoint)
      first = nil
      await loop.until { ended.load(ordering: .relaxed) == 1 }
      let kept = Confined<TCPStream?>(nil)
      var second: TestClient? = TestClient(loop)
      second?.isStalled = true
      await second?.dialled(server.endpoint)
      kept.value = second?.stream
      second = nil
      await loop.until { ended.load(ordering: .relaxed) == 2 }
      #expect(kept.value?.descriptor == nil)
      loop.stop()
      server.stop()
    }

    @Test("stopping the loop closes what is open on it, of which nothing is heard")
    func loopStops() async throws {
      let server = try TestServer { _ = $0.readToEnd() }
      let port = FullBacklog()
      let hanging = TestClient(loop)
      await client.dialled(server.endpoint)
      await loop.run { hanging.dial(port.endpoint) }
      await loop.until { hanging.stream?.descriptor != nil }
      loop.stop()
      // Ends only when the peer has read the end.
      server.stop()
      port.close()
      #expect(client.events == [.opened] && hanging.events.isEmpty)
      #expect(client.stream?.descriptor == nil && hanging.stream?.descriptor == nil)
      client.close()
    }

    @Test(
      "I18, B1.16: 200 rounds, with dials in flight, leave descriptors and threads as they were"
    )
    func nothingLeft() async throws {
      // The loop's thread has a name, by which it is counted, only once it runs.
      await loop.run {}
      let timers = ProcessCounts.timers
      let sockets = ProcessCounts.sockets
      let threads = ProcessCounts.threads
      let server = try TestServer { $0.echo() }
      let (hanging, refused) = (FullBacklog(), RefusedPort())
      let names = StubNames(["name": .of(server.endpoint)])
      let resolver = names.resolver()
      for round in 0..<200 {
        // A loop of its own now and then: making and stopping one must not leave anything either.
        let loop = round % 10 == 0 ? try SocketEventLoop() : loop
        let clients = (0..<5).map { _ in TestClient(loop, resolver: resolver) }
        await loop.run {
          clients[0].dial(server.endpoint)
          clients[1].dial(hanging.endpoint)
          clients[2].dial(refused.endpoint)
          clients[3].dial(Endpoint(host: "name", port: 1))
          clients[4].dial(Endpoint(host: "unknown", port: 1))
        }
        // Some rounds end while everything is in flight, in others what can open is open.
        if round % 2 == 0 { await loop.until { clients[0].isOpen && clients[3].isOpen } }
        if round % 3 == 0 {
          await loop.run { for client in clients { client.close() } }
        }
        if round % 10 == 0 { loop.stop() }
      }
      loop.stop()
      server.stop()
      hanging.close()
      refused.close()
      // Threads of the resolver end on their own, and other tests may hold something for a moment.
      // The runtime's own thread pool opens three descriptors at a time of its choosing; one left
      // by each loop or each round would be twenty or more.
      let watch = try SocketEventLoop()
      await watch.until {
        ProcessCounts.sockets <= sockets && ProcessCounts.threads <= threads
          && ProcessCounts.timers <= timers + 3
      }
      watch.stop()
    }
  }
}
