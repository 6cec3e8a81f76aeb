import ConnectionFSM
import NetSim
import Testing

/// Faults of servers, and of many clients at once.
@Suite struct FaultServerTests {
  @Test("fault 39 server-restart: a reset to everybody within the window, refused until it is back")
  func serverRestart() {
    let service = Service(script: [.echo])
    var rig = Rig(service: service)
    var clients: [SocketID] = []
    for _ in 0..<100 { clients.append(rig.dial()) }
    rig.run(for: .seconds(1))
    _ = rig.takeLog()
    rig.internet.inject(
      .restart(rig.server, port: rig.port, as: service, within: .seconds(2), back: .seconds(30)),
      from: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(28))
    let log = rig.takeLog()
    #expect(log.count { $0.hasPrefix("client readable") } == 100)
    #expect(Set(log).count > 50)
    #expect(log.contains("failed system(connectionRefused) 2020"))
    for client in clients { #expect(rig.read(client) == "(system(connectionReset))") }
    rig.run(for: .seconds(2))
    _ = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["opened 32020"])
  }

  @Test(
    "fault 40 rolling-drain: a notice, a FIN when the grace is over, one server after the other")
  func rollingDrain() {
    var rig = Rig(service: Service(script: [.echo]))
    let second = rig.internet.addHost("second")
    rig.internet.listen(second, port: rig.port, Service(script: [.echo]))
    let first = rig.dial()
    let address = rig.internet.addresses(of: second)[0]
    let other = rig.internet.dial(from: rig.client, to: address, port: rig.port, at: rig.now)
    rig.run(for: .seconds(1))
    _ = rig.takeLog()
    rig.internet.inject(
      .rollingDrain(
        [rig.server, second], port: rig.port, notice: Array("going away".utf8),
        grace: .seconds(30), every: .seconds(60)), from: rig.now)
    rig.run(for: .seconds(29))
    #expect(rig.takeLog() == ["client readable 1010"])
    #expect(rig.readAll(first) == "going away(wouldBlock)")
    // Still served, and taking nobody new.
    rig.write("p", to: first)
    _ = rig.dial()
    rig.run(for: .milliseconds(100))
    #expect(rig.readAll(first) == "p(wouldBlock)")
    #expect(rig.takeLog().contains("failed system(connectionRefused) 30020"))
    rig.run(for: .seconds(200))
    #expect(
      rig.takeLog() == ["client readable 31010", "client readable 61010", "client readable 91010"])
    #expect(rig.readAll(first) == "(end)")
    #expect(rig.readAll(other) == "going away(end)")
  }

  @Test("fault 41 zone-loss: 17 % of 2,000 connections go silent at once, the others live on")
  func zoneLoss() {
    var rig = Rig(service: Service(script: [.echo]))
    var clients: [SocketID] = []
    for _ in 0..<2000 { clients.append(rig.dial()) }
    rig.run(for: .seconds(1))
    rig.internet.inject(.loseShare(rig.server, perTenThousand: 1700), at: rig.now)
    rig.run(for: .seconds(1))
    for client in clients { rig.write("p", to: client) }
    rig.run(for: .seconds(10))
    let silent = clients.count { client in rig.readAll(client) == "(wouldBlock)" }
    #expect((280...400).contains(silent))
  }

  @Test(
    "fault 42 idle-timeout-race: at an equal ping interval some connections end, and others do not")
  func idleTimeoutRace() {
    var ended = 0
    for seed in UInt64(1)...100 {
      var rig = Rig(seed: seed, service: Service(script: [.echo]))
      rig.internet.addReaper(.awsALB, to: rig.server)
      let (client, _) = rig.connected()
      rig.write("p", to: client)
      rig.run(for: .seconds(60))
      _ = rig.readAll(client)
      rig.write("p", to: client)
      rig.run(for: .seconds(1))
      let answer = rig.readAll(client)
      if answer != "p(wouldBlock)" { ended += 1 }
    }
    #expect((20...80).contains(ended))
  }

  @Test("fault 44 resource-limits: the dial above the limit fails at once, and no socket leaks")
  func resourceLimits() {
    var rig = Rig()
    rig.internet.inject(.limitDescriptors(rig.client, 20), at: rig.now)
    rig.run(for: .seconds(1))
    var clients: [SocketID] = []
    for _ in 0..<21 { clients.append(rig.dial()) }
    rig.run(for: .nanoseconds(1))
    #expect(rig.takeLog() == ["failed system(tooManyOpenFiles) 1000"])
    rig.run(for: .seconds(1))
    #expect(rig.internet.liveSockets == 40)
    for client in clients { rig.internet.close(client, at: rig.now) }
    rig.run(for: .seconds(1))
    for server in rig.sockets { rig.internet.close(server, at: rig.now) }
    #expect(rig.internet.liveSockets == 0)
    _ = rig.takeLog()
    rig.internet.inject(.failLocally(rig.client, .addressNotAvailable), at: rig.now)
    rig.run(for: .nanoseconds(1))
    _ = rig.dial()
    rig.run(for: .nanoseconds(1))
    #expect(rig.takeLog().first?.hasPrefix("failed system(addressNotAvailable)") == true)
  }
}
