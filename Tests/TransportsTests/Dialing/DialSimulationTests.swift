import ConnectionFSM
import NetSim
import Testing

/// Notes how a dial went, and when.
private final class Caller: ByteStreamObserver {
  private let loop: any EventLoop
  private let start: Instant
  var heard: [String] = []
  var took = TimeSpan.zero

  init(_ loop: any EventLoop) {
    self.loop = loop
    start = loop.now
  }

  private func note(_ text: String) {
    heard.append(text)
    took = loop.now - start
  }

  func streamOpened() { note("opened") }
  func streamFailed(_ cause: Cause) { note("\(cause)") }
  func streamReadable() {}
  func streamWritable() {}
}

/// A client 10 ms away from everybody, a server at both of its addresses, and another at three of
/// version 4 that serves nothing.
private final class Rig {
  let world: SimulatedInternet
  let client: HostID
  let server: HostID
  /// The server's addresses.
  let (version6, version4): (String, String)
  /// One of version 4 that refuses.
  let refusing: String
  private let dialer: SimulatedDialer
  private let loop: SimulatedEventLoop

  init(_ loop: SimulatedEventLoop, timing: DialTiming) {
    self.loop = loop
    var internet = Internet(seed: 1)
    client = internet.addHost("client", link: .constant(.milliseconds(10)))
    server = internet.addHost("server", hasVersion6: true)
    internet.listen(server, port: 443, Service(script: []))
    (version6, version4) = (
      internet.addresses(of: server)[0], internet.addresses(of: server)[1]
    )
    let other = internet.addHost("other")
    refusing = internet.addresses(of: other)[0]
    world = SimulatedInternet(internet, on: loop)
    dialer = world.dialer(from: client, timing: timing)
  }

  /// Comes back when it has befallen.
  func befall(_ fault: Fault) async throws {
    world.inject(fault)
    try await loop.clock.sleep(for: .milliseconds(1))
  }

  /// Lets a name have these addresses.
  func name(_ name: String, _ addresses: String...) async throws {
    try await befall(.moveName(name, to: addresses, staleFor: .zero))
  }

  /// Dials, lets 20 s pass, and closes.
  func dial(_ name: String) async throws -> Caller {
    let caller = Caller(loop)
    let stream = dialer.dial(Endpoint(host: name, port: 443), observer: caller)
    try await loop.clock.sleep(for: .seconds(20))
    // Both ends of one connection, or none, whatever was begun.
    if let answer = caller.heard.first {
      #expect(world.liveSockets == (answer == "opened" ? 2 : 0))
    }
    stream.close()
    try await loop.clock.sleep(for: .seconds(1))
    #expect(world.liveSockets == 0)
    return caller
  }

  func expect(
    _ name: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let answer = try await dialled(name)
    #expect(answer == expected, sourceLocation: sourceLocation)
  }

  /// What is heard of a dial, and when, in milliseconds.
  func dialled(_ name: String) async throws -> String {
    let caller = try await dial(name)
    return caller.heard.joined(separator: ", ") + " \(caller.took.nanoseconds / 1_000_000)"
  }
}

@Suite("F17: the race in virtual time")
struct DialSimulationTests {
  private func timing(
    resolution: TimeSpan? = nil, connect: TimeSpan? = nil
  ) throws -> DialTiming {
    try DialTiming(
      attemptDelay: .milliseconds(250), resolutionDelay: .milliseconds(50),
      resolutionLimit: resolution, connectLimit: connect)
  }

  private func play(
    _ timing: DialTiming, _ body: @escaping @Sendable (Rig) async throws -> Void
  ) throws {
    try VirtualTime.run(limit: .seconds(400)) { loop in
      try await body(Rig(loop, timing: timing))
    }
  }

  @Test("a look-up and a connection take a round trip each")
  func plain() throws {
    try play(timing()) { rig in
      try await rig.expect(rig.version4, "opened 20")
      try await rig.expect("server", "opened 40")
    }
  }

  @Test("a version 6 that answers nothing costs 250 ms more")
  func blackHole() throws {
    try play(timing()) { rig in
      try await rig.befall(.deaf(address: rig.version6))
      try await rig.expect("server", "opened 290")
    }
  }

  @Test("an address that refuses costs the round trip in which it does")
  func refusal() throws {
    try play(timing()) { rig in
      try await rig.name("mixed", rig.refusing, rig.version4)
      try await rig.expect("mixed", "opened 60")
      try await rig.name("alone", rig.refusing)
      try await rig.expect("alone", "system(connectionRefused) 40")
    }
  }

  @Test("of 5 addresses the fourth in the families' turn is the one that lives")
  func fiveAddresses() throws {
    try play(timing()) { rig in
      // In turn: fd00::a, 10.9.0.1, fd00::b, the server; fd00::c is not dialled any more.
      try await rig.name("five", "fd00::a", "fd00::b", "fd00::c", "10.9.0.1", rig.version4)
      try await rig.expect("five", "opened \(20 + 3 * 250 + 20)")
      try await rig.name("silent", "fd00::a", "fd00::b", "fd00::c", "10.9.0.1", "10.9.0.2")
      let caller = try await rig.dial("silent")
      #expect(caller.heard.isEmpty)
    }
  }

  @Test("I3: of two that connect at the same tick one wins, and the other is let go of")
  func sameTick() throws {
    try play(timing()) { rig in
      try await rig.befall(.block(from: rig.client, to: rig.server, .hold))
      rig.world.inject(.unblock(from: rig.client, to: rig.server), after: .milliseconds(700))
      let answer = try await rig.dialled("server")
      #expect(answer.hasPrefix("opened 7"))
    }
  }

  @Test("F15: limits for the look-up and for connecting, each a time-out of its own")
  func limits() throws {
    try play(timing(resolution: .seconds(3), connect: .seconds(2))) { rig in
      try await rig.befall(.silentName("server"))
      try await rig.expect("server", "timedOut(resolution) 3000")
      try await rig.name("deaf", "fd00::a", "10.9.0.1")
      try await rig.expect("deaf", "timedOut(connect) 2020")
    }
  }

  @Test("F14: what a device without a network says is told of both families")
  func noRoute() throws {
    try play(timing()) { rig in
      try await rig.befall(.failLocally(rig.client, .networkUnreachable))
      try await rig.expect("server", "system(networkUnreachable) 20")
    }
  }

  @Test(
    "I18: a dial that is closed or dropped amid the race leaves nothing, whenever that is")
  func closedAmid() throws {
    for milliseconds in stride(from: 0, through: 600, by: 10) {
      try VirtualTime.run(limit: .seconds(400)) { loop in
        let rig = Rig(loop, timing: try timing())
        try await rig.name("deaf", "fd00::a", "10.9.0.1", "fd00::b")
        let caller = Caller(loop)
        let dialer = rig.world.dialer(from: rig.client, timing: try timing())
        var stream: SimulatedStream? = dialer.dial(
          Endpoint(host: "deaf", port: 443), observer: caller)
        try await loop.clock.sleep(for: .milliseconds(milliseconds))
        if milliseconds % 20 == 0 { stream?.close() } else { stream = nil }
        #expect(rig.world.liveSockets == 0)
        try await loop.clock.sleep(for: .seconds(200))
        #expect(caller.heard.isEmpty)
        withExtendedLifetime(stream) {}
      }
    }
  }

  @Test("under ipv6-broken a client connects over version 4 after 250 ms")
  func condition() throws {
    let condition = try #require(Condition.named("ipv6-broken"))
    let timing = try timing()
    try VirtualTime.run(limit: .seconds(400)) { loop in
      let stage = condition.stage(seed: 1, service: Service(script: []))
      let world = SimulatedInternet(stage.internet, on: loop)
      let dialer = world.dialer(from: stage.client, timing: timing)
      let (caller, start) = (Caller(loop), loop.now)
      let stream = dialer.dial(Endpoint(host: "server", port: stage.port), observer: caller)
      while caller.heard.isEmpty, loop.now - start < .seconds(60) {
        try await loop.clock.sleep(for: .milliseconds(1))
      }
      #expect(caller.heard == ["opened"])
      #expect(caller.took > .milliseconds(250) && caller.took < .milliseconds(400))
      stream.close()
    }
  }
}
