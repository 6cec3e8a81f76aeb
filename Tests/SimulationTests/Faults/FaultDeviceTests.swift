import ConnectionFSM
import NetSim
import Testing

/// Faults of the device and its networks.
@Suite struct FaultDeviceTests {
  @Test(
    "fault 31 network-switch: no network for 15 s, then another one; old sockets fail, or go silent"
  )
  func networkSwitch() {
    for fate in [SocketFate.failed(.connectionAborted), .kept] {
      var rig = Rig(service: Service(script: [.echo]))
      let cellular = rig.internet.addInterface(
        "cellular", to: rig.client, link: .constant(.milliseconds(40)))
      let (client, _) = rig.connected()
      rig.internet.inject(
        .handover(rig.client, to: cellular, gap: .seconds(15), sockets: fate), from: rig.now)
      rig.run(for: .seconds(1))
      let isLoud = fate != .kept
      #expect(rig.takeLog() == (isLoud ? ["client readable 1000"] : []) + ["path down 1000"])
      if isLoud { #expect(rig.read(client) == "(system(connectionAborted))") }
      if !isLoud { #expect(rig.write("p", to: client) == .wrote(1)) }
      _ = rig.dial()
      rig.run(for: .nanoseconds(1))
      #expect(rig.takeLog() == ["failed system(networkUnreachable) 2000"])
      rig.run(for: .seconds(18))
      #expect(rig.takeLog() == ["path up 16000"])
      _ = rig.dial()
      rig.run(for: .seconds(1))
      #expect(rig.takeLog() == ["opened 20080"])
      rig.run(for: .seconds(2000))
      #expect(rig.takeLog() == (isLoud ? [] : ["client readable 926600"]))
    }
  }

  @Test("fault 32 path-flapping: the path goes every 10 s for 2 s, and bytes come through between")
  func pathFlapping() {
    var rig = Rig(service: Service(script: [.echo]))
    let (client, _) = rig.connected()
    rig.internet.inject(
      .flapping(rig.client, period: .seconds(10), downFor: .seconds(2), times: 3), from: rig.now)
    rig.run(for: .seconds(1))
    rig.write("p", to: client)
    rig.run(for: .seconds(60))
    #expect(
      rig.takeLog() == [
        "path down 1000", "path up 3000", "client readable 3420", "path down 11000",
        "path up 13000", "path down 21000", "path up 23000",
      ])
  }

  @Test("fault 33 lying-path: the path is up, and nothing answers; or it is down, and all is well")
  func lyingPath() {
    var rig = Rig()
    rig.internet.inject(.block(from: rig.client, to: nil, .drop), at: rig.now)
    rig.internet.inject(.claimPath(rig.client, .up), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(200))
    #expect(rig.takeLog() == ["path up 0", "failed system(timedOut) 127001"])
    rig.internet.inject(.unblock(from: rig.client, to: nil), at: rig.now)
    rig.internet.inject(.claimPath(rig.client, .down), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.dial()
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["path down 200001", "opened 200022", "accepted 200032"])
  }

  @Test("fault 34 captive-portal: every name and address is the portal's until the login")
  func captivePortal() {
    var rig = Rig(service: Service(script: [.echo]))
    let portal = rig.internet.addHost("portal")
    rig.internet.listen(portal, port: 80, .portal)
    rig.internet.listen(portal, port: 443, .portalTLS)
    rig.internet.inject(.portal(rig.client, portal), at: rig.now)
    rig.run(for: .milliseconds(1))
    _ = rig.internet.resolve("server", from: rig.client, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["resolved \(rig.internet.addresses(of: portal))  21"])
    let plain = rig.internet.dial(from: rig.client, to: rig.address, port: 80, at: rig.now)
    let secure = rig.dial()
    rig.run(for: .seconds(1))
    rig.write("GET / HTTP/1.1\r\n\r\n", to: plain)
    _ = rig.write(PlayedTLS.hello, to: secure)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(plain).hasPrefix("HTTP/1.1 302 Found\r\nLocation: "))
    let flight = String(decoding: PlayedTLS.flight(.hostMismatch), as: UTF8.self)
    #expect(rig.readAll(secure) == flight + "(end)")
    rig.internet.inject(.portal(rig.client, nil), at: rig.now)
    rig.run(for: .milliseconds(1))
    let client = rig.dial()
    rig.run(for: .seconds(1))
    rig.write("echo", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.readAll(client) == "echo(wouldBlock)")
  }

  @Test(
    "fault 35 device-sleep: the server's and the boxes' timers run on, the device's stand still")
  func deviceSleep() {
    var reaper = IdleReaper.awsNLB
    reaper.sweep = .zero
    var rig = Rig()
    rig.internet.addReaper(reaper, to: rig.server)
    let (client, server) = rig.connected()
    rig.internet.inject(.sleep(rig.client), at: rig.now)
    rig.internet.inject(.wake(rig.client, sockets: .kept), at: rig.now + .seconds(8 * 3600))
    rig.run(for: .seconds(1))
    rig.write("to a sleeper", to: server)
    rig.run(for: .seconds(8 * 3600))
    #expect(
      rig.takeLog() == ["asleep 1000", "server readable 926600", "awake 28801000"])
    #expect(rig.read(server) == "(system(timedOut))")
    rig.write("good morning", to: client)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["client readable 28802010"])
    #expect(rig.read(client) == "(system(connectionReset))")
  }

  @Test("fault 35 device-sleep: iOS makes the sockets of a suspended application defunct")
  func defunctSockets() {
    var rig = Rig(system: .darwin)
    let (client, _) = rig.connected()
    rig.internet.inject(.suspend(rig.client), at: rig.now + .seconds(30))
    rig.internet.inject(
      .wake(rig.client, sockets: .failed(.connectionAborted)), at: rig.now + .seconds(600))
    rig.run(for: .seconds(3600))
    #expect(
      rig.takeLog() == ["asleep 31000", "client readable 601000", "awake 601000"])
    #expect(rig.read(client) == "(system(connectionAborted))")
  }

  @Test("fault 36 doze: programs run in windows after 1, 2, 4, 6 and 6 more hours")
  func doze() {
    var rig = Rig()
    rig.internet.inject(.doze(rig.client, window: .seconds(300)), from: rig.now)
    rig.run(for: .seconds(48 * 3600))
    let expected: [(Int, Int)] = [(1, 0), (2, 0), (4, 1), (8, 2), (14, 3), (20, 4)]
    var log: [String] = []
    for (number, (hours, windows)) in expected.enumerated() {
      let start = hours * 3_600_000 + windows * 300_000
      if number > 0 { log.append("awake \(start)") }
      log.append("asleep \(start + (number > 0 ? 300_000 : 0))")
    }
    #expect(rig.takeLog() == log)
  }

  @Test("fault 37 wall-clock-step: there is no wall clock that could be set")
  func wallClockStep() {
    #expect(FaultKind.wallClockStep.isLeftOut?.contains("no wall clock") == true)
  }

  @Test(
    "fault 43 proxy-change: the old connection is cut or silent, a new one opens"
  )
  func proxyChange() {
    for fault in [{ Fault.cut($0) }, { .sever($0) }] as [(HostID) -> Fault] {
      var rig = Rig(service: Service(script: [.echo]))
      let (client, _) = rig.connected()
      rig.internet.inject(fault(rig.client), at: rig.now)
      rig.internet.inject(.claimPath(rig.client, .up), at: rig.now)
      rig.run(for: .seconds(1))
      let isCut = fault(rig.client) == .cut(rig.client)
      #expect(
        rig.takeLog().sorted() == (isCut ? ["client readable 1000"] : []) + ["path up 1000"])
      #expect(rig.read(client) == (isCut ? "(system(connectionReset))" : "(wouldBlock)"))
      _ = rig.dial()
      rig.run(for: .seconds(1))
      #expect(rig.takeLog() == ["opened 2020"])
    }
  }
}
