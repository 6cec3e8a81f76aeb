import ConnectionFSM
import NetSim
import Testing

/// Faults between a dial and the first byte of the application. Links are 10 ms one way.
@Suite struct FaultDiallingTests {
  @Test("fault 1 connect-refused: the dial fails after one round trip")
  func connectRefused() {
    var rig = Rig()
    rig.internet.inject(.refuse(rig.server, port: rig.port), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(200))
    #expect(rig.takeLog() == ["failed system(connectionRefused) 1020"])
  }

  @Test(
    "fault 2 black-hole: the dial fails after 127 s on Linux, 131 s on a new one, 75 s on Darwin")
  func blackHole() {
    var recent = OperatingSystem.linux
    recent.dialling = .synLinuxLinear
    for (system, seconds) in [(OperatingSystem.linux, 127), (recent, 131), (.darwin, 75)] {
      var rig = Rig(system: system)
      rig.internet.inject(.deaf(address: rig.address), at: rig.now)
      rig.run(for: .seconds(1))
      _ = rig.dial()
      rig.run(for: .seconds(200))
      #expect(rig.takeLog() == ["failed system(timedOut) \(seconds + 1)000"])
    }
  }

  @Test("fault 3 unreachable: the dial fails at once")
  func unreachable() {
    var rig = Rig()
    for error in [SystemError.hostUnreachable, .networkDown] {
      rig.internet.inject(.failLocally(rig.client, error), at: rig.now)
      rig.run(for: .seconds(1))
      _ = rig.dial()
      rig.run(for: .nanoseconds(1))
      #expect(rig.takeLog().first?.hasPrefix("failed system(\(error))") == true)
    }
    rig.internet.inject(.failLocally(rig.client, nil), at: rig.now)
    rig.internet.inject(.leaveNetwork(rig.client, sockets: .kept), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.takeLog()
    _ = rig.dial()
    rig.run(for: .nanoseconds(1))
    #expect(rig.takeLog() == ["failed system(networkUnreachable) 3000"])
  }

  @Test("fault 4 accept-queue-overflow: 129 dials open with a backlog of 128, the next one waits")
  func acceptQueueOverflow() {
    var rig = Rig(service: Service(backlog: 128, accepts: false))
    for _ in 0..<130 {
      _ = rig.dial()
      rig.run(for: .milliseconds(100))
    }
    #expect(rig.takeLog().count { $0.hasPrefix("opened") } == 129)
    rig.run(for: .seconds(200))
    #expect(rig.takeLog() == ["failed system(timedOut) 139900"])
  }

  @Test("fault 4 accept-queue-overflow: with tcp_abort_on_overflow the next one is refused")
  func acceptQueueAborts() {
    var rig = Rig(service: Service(backlog: 128, overflow: .refused, accepts: false))
    for _ in 0..<200 {
      _ = rig.dial()
      rig.run(for: .milliseconds(100))
    }
    let log = rig.takeLog()
    #expect(log.count { $0.hasPrefix("opened") } == 129)
    #expect(log.count { $0.hasPrefix("failed system(connectionRefused)") } == 71)
  }

  @Test("fault 5 zombie-server: the dial opens, writes are taken, and nothing is ever read")
  func zombieServer() {
    var rig = Rig(service: .zombie)
    let client = rig.dial()
    rig.run(for: .milliseconds(100))
    #expect(rig.takeLog() == ["opened 20"])
    #expect(rig.write("hello", to: client) == .wrote(5))
    rig.run(for: .seconds(24 * 3600))
    #expect(rig.takeLog() == [])
    #expect(rig.read(client) == "(wouldBlock)")
  }

  @Test("fault 6 slow-handshake: at 500 µs a handshake the 2,000th client is served after 1 s")
  func slowHandshake() {
    var rig = Rig(service: Service(script: [.send([1])], handshakeWork: .microseconds(500)))
    for _ in 0..<2000 { _ = rig.dial() }
    rig.run(for: .milliseconds(100))
    #expect(rig.takeLog().count { $0 == "opened 20" } == 2000)
    rig.run(for: .seconds(5))
    #expect(rig.takeLog().last == "client readable 1040")
  }

  @Test("fault 7 unknown-name: the resolver says so after its round trip")
  func unknownName() {
    var rig = Rig()
    rig.internet.inject(.unknownName("server"), at: rig.now)
    rig.run(for: .seconds(1))
    for name in ["server", "no-such-host.invalid"] {
      _ = rig.internet.resolve(name, from: rig.client, at: rig.now)
    }
    rig.run(for: .seconds(30))
    #expect(
      rig.takeLog() == [String](repeating: "resolved [] resolution(unknownName) 1020", count: 2))
  }

  @Test("fault 8 resolver-timeout: the resolver gives up after twice 5 s")
  func resolverTimeout() {
    var rig = Rig()
    rig.internet.inject(.silentName("server"), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    rig.run(for: .seconds(30))
    #expect(rig.takeLog() == ["resolved [] resolution(temporaryFailure) 11000"])
  }

  @Test("fault 9 slow-resolver: the addresses are 3 s late")
  func slowResolver() {
    var rig = Rig()
    rig.internet.inject(.slowName("server", .seconds(3)), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    rig.run(for: .seconds(30))
    let addresses = rig.internet.addresses(of: rig.server)
    #expect(rig.takeLog() == ["resolved \(addresses)  4020"])
  }

  @Test("fault 10 stale-name: for 2 s the resolver gives the address that nobody serves any more")
  func staleName() {
    var rig = Rig()
    let new = rig.internet.addHost("new")
    rig.internet.listen(new, port: rig.port)
    let address = rig.internet.addresses(of: new)[0]
    rig.internet.inject(.refuse(rig.server, port: rig.port), at: rig.now)
    rig.internet.inject(.moveName("server", to: [address], staleFor: .seconds(2)), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    _ = rig.dial()
    rig.run(for: .seconds(1))
    let old = rig.internet.addresses(of: rig.server)
    #expect(
      rig.takeLog().sorted() == ["failed system(connectionRefused) 1020", "resolved \(old)  1020"])
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    _ = rig.internet.dial(from: rig.client, to: address, port: rig.port, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(
      rig.takeLog().sorted() == ["accepted 2030", "opened 2020", "resolved [\"\(address)\"]  2020"])
  }

  @Test("fault 11 broken-version-6: the preferred address is silent, a dial 250 ms later opens")
  func brokenVersion6() {
    var rig = Rig()
    let addresses = rig.internet.addresses(of: rig.server)
    rig.internet.inject(.deaf(address: addresses[0]), at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.internet.dial(from: rig.client, to: addresses[0], port: rig.port, at: rig.now)
    rig.run(for: .milliseconds(250))
    let second = rig.internet.dial(from: rig.client, to: addresses[1], port: rig.port, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 1270", "accepted 1280"])
    #expect(rig.write("x", to: second) == .wrote(1))
    rig.run(for: .seconds(200))
    #expect(rig.takeLog().last == "failed system(timedOut) 128000")
  }

  @Test("fault 12 tls-failure: the server's flight says what is wrong, after two round trips")
  func tlsFailure() {
    for failure in TLSFailure.allCases {
      var rig = Rig(service: .failingTLS(failure))
      let client = rig.dial()
      rig.run(for: .milliseconds(20))
      #expect(rig.write(PlayedTLS.hello, to: client) == .wrote(517))
      rig.run(for: .milliseconds(20))
      #expect(Set(rig.takeLog()) == ["opened 20", "client readable 40"])
      #expect(
        rig.readAll(client) == String(decoding: PlayedTLS.flight(failure), as: UTF8.self) + "(end)")
    }
  }

  @Test("fault 13 handshake-cut: so many bytes of the flight, and then an end or a reset")
  func handshakeCut() {
    for count in [0, 1, 1500, 2999] {
      for (withReset, end) in [(false, "(end)"), (true, "(system(connectionReset))")] {
        var rig = Rig(service: .cuttingTLS(after: count, withReset: withReset))
        let (client, _) = rig.connected()
        _ = rig.write(PlayedTLS.hello, to: client)
        rig.run(for: .seconds(1))
        let flight = String(decoding: PlayedTLS.flight().prefix(count), as: UTF8.self)
        #expect(rig.readAll(client) == flight + end)
      }
    }
  }

  @Test("fault 14 upgrade-refused: the status and the Retry-After are read, and then the end")
  func upgradeRefused() {
    let service = Service.refusingUpgrade(
      status: 503, reason: "Service Unavailable", retryAfter: 120)
    var rig = Rig(service: service)
    let (client, _) = rig.connected()
    rig.write("GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", to: client)
    rig.run(for: .seconds(1))
    #expect(
      rig.readAll(client) == "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\n"
        + "Content-Length: 0\r\nConnection: close\r\n\r\n(end)")
    #expect(Set(rig.takeLog()) == ["client readable 1020"])
    for status: UInt16 in [401, 403, 429] {
      var rig = Rig(service: .refusingUpgrade(status: status, reason: "No"))
      let (client, _) = rig.connected()
      rig.write("GET / HTTP/1.1\r\n\r\n", to: client)
      rig.run(for: .seconds(1))
      #expect(rig.readAll(client).hasPrefix("HTTP/1.1 \(status) No\r\nContent-Length"))
    }
  }
}
