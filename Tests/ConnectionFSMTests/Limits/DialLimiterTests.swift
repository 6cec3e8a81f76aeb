import ConnectionFSM
import Testing

/// A connection whose dials are limited, on a loop that only the test moves.
private struct LimitedRig {
  let loop: ManualLoop
  let transport: ScriptedTransport
  let connection: Connection

  init(_ loop: ManualLoop, _ limiter: DialLimiter, policy: Policy) throws {
    self.loop = loop
    let transport = ScriptedTransport(loop, home: home)
    self.transport = transport
    connection = try Connection(
      LimitedTransport(transport, by: limiter), policy: policy, seed: 1)
  }

  func connect() {
    connection.connect()
    loop.settle()
  }

  var dials: Int { transport.orders.count { $0.hasPrefix("open") } }
}

@Suite("A limit on the dials of many connections")
struct DialLimiterTests {
  private static func rigs(
    _ count: Int, on loop: ManualLoop, _ limiter: DialLimiter
  ) throws -> [LimitedRig] {
    try (0..<count).map { _ in try LimitedRig(loop, limiter, policy: try plainPolicy()) }
  }

  @Test("F55: connections dial in the order in which they wanted to, one in each interval")
  func inTurn() throws {
    let loop = ManualLoop()
    let limiter = DialLimiter(burst: 1, interval: .seconds(1))
    let rigs = try Self.rigs(4, on: loop, limiter)
    for rig in rigs { rig.connect() }
    #expect(rigs.map(\.dials) == [1, 0, 0, 0])
    loop.advance(by: .seconds(1))
    #expect(rigs.map(\.dials) == [1, 1, 0, 0])
    loop.advance(by: .seconds(2))
    #expect(rigs.map(\.dials) == [1, 1, 1, 1])
    #expect(!limiter.isAnyoneWaiting)
  }

  @Test("F55: all but the dial is the base transport's own")
  func forwards() throws {
    let loop = ManualLoop()
    let rig = try LimitedRig(
      loop, DialLimiter(burst: 1, interval: .seconds(1)),
      policy: try plainPolicy(heartbeat: Heartbeat(interval: .seconds(4), timeout: .seconds(2))))
    rig.connect()
    rig.transport.report(.opened, on: 1)
    for text in ["a", "b", "unsendable"] { rig.connection.post(Message(text)) }
    loop.settle()
    loop.advance(by: .seconds(4))
    let closing = Task(executorPreference: loop) { await rig.connection.close() }
    while rig.transport.orders.last != "close #1" { loop.settle() }
    rig.transport.report(.closed(nil), on: 1)
    #expect(
      rig.transport.orders == [
        "open #1 tcp://home:1", "send #1 a +", "send #1 b +", "ping #1 1", "close #1",
      ])
    #expect(rig.transport.flushes == [Epoch(1)])
    withExtendedLifetime(closing) {}
  }

  @Test("F55, F15: the time in line counts towards the connect deadline; who is cut withdraws")
  func deadlineInLine() throws {
    let loop = ManualLoop()
    // The second would have its turn after 60 s, and its attempt has 10 s.
    let limiter = DialLimiter(burst: 1, interval: .seconds(60))
    let rigs = try Self.rigs(2, on: loop, limiter)
    for rig in rigs { rig.connect() }
    rigs[0].transport.report(.opened, on: 1)
    loop.advance(by: .seconds(10))
    #expect(!limiter.isAnyoneWaiting)
    #expect(rigs[1].transport.orders.isEmpty)
    // It lines up again by its backoff, and dials at its turn.
    loop.advance(by: .seconds(60))
    #expect(rigs[1].dials == 1)
    #expect(rigs[0].dials == 1)
  }

  @Test("F55, I1: a close in line withdraws: the next one moves up, and no token is lost")
  func closeInLine() throws {
    let loop = ManualLoop()
    let limiter = DialLimiter(burst: 1, interval: .seconds(1))
    let rigs = try Self.rigs(3, on: loop, limiter)
    for rig in rigs { rig.connect() }
    let closing = Task(executorPreference: loop) { await rigs[1].connection.close() }
    loop.settle()
    loop.advance(by: .seconds(1))
    #expect(rigs.map(\.dials) == [1, 0, 1])
    #expect(rigs[1].transport.orders.isEmpty)
    withExtendedLifetime(closing) {}
  }

  @Test("F55, F58: a connection that is let go of in line leaves it, and no deadline is left")
  func releasedInLine() throws {
    let loop = ManualLoop()
    let limiter = DialLimiter(burst: 1, interval: .seconds(5))
    weak var transport: ScriptedTransport?
    try {
      let rigs = try Self.rigs(2, on: loop, limiter)
      for rig in rigs { rig.connect() }
      transport = rigs[1].transport
      #expect(limiter.isAnyoneWaiting)
    }()
    loop.settle()
    #expect(!limiter.isAnyoneWaiting)
    #expect(loop.armed == 0)
    #expect(transport == nil)
  }

  @Test("F55: connections on two loops share a line; each dials on its own loop")
  func twoLoops() throws {
    let (one, other) = (ManualLoop(), ManualLoop())
    // Their clocks have origins of their own.
    other.advance(by: .seconds(1000))
    let limiter = DialLimiter(burst: 1, interval: .seconds(1))
    let rigs = [
      try LimitedRig(one, limiter, policy: try plainPolicy()),
      try LimitedRig(other, limiter, policy: try plainPolicy()),
      try LimitedRig(one, limiter, policy: try plainPolicy()),
      try LimitedRig(other, limiter, policy: try plainPolicy()),
    ]
    for rig in rigs { rig.connect() }
    var dials = [rigs.map(\.dials)]
    for _ in 0..<4 {
      for _ in 0..<2 {
        one.settle()
        other.settle()
      }
      one.advance(by: .seconds(1))
      other.advance(by: .seconds(1))
      other.settle()
      one.settle()
      dials.append(rigs.map(\.dials))
    }
    #expect(dials[0] == [1, 0, 0, 0])
    #expect(dials.contains([1, 1, 0, 0]))
    #expect(dials.last == [1, 1, 1, 1])
  }

  @Test("F55: a loop that stops with the first in line does not hold up the others")
  func stoppedLoop() throws {
    let other = ManualLoop()
    let limiter = DialLimiter(burst: 1, interval: .seconds(1))
    let survivor = try LimitedRig(other, limiter, policy: try plainPolicy())
    var first: [LimitedRig] = []
    try {
      let loop = ManualLoop()
      first = try Self.rigs(3, on: loop, limiter)
      for rig in first { rig.connect() }
      survivor.connect()
      #expect(survivor.dials == 0)
      loop.stop()
      // What it was to wake for it lets go of, and so does what was dialled on it.
      loop.forgetDeadlines()
      first[0].transport.abort(Epoch(1))
    }()
    // Its clock told the time to all, and has stopped as well.
    first = []
    other.settle()
    other.advance(by: .seconds(2))
    #expect(survivor.dials == 1)
  }

  @Test("F55: a limiter whose loops have gone serves the next ones, as strictly as before")
  func nextLoop() throws {
    let limiter = DialLimiter(burst: 1, interval: .seconds(1))
    weak var former: ManualLoop?
    try {
      let loop = ManualLoop()
      try {
        let rig = try LimitedRig(loop, limiter, policy: try plainPolicy())
        rig.connect()
        #expect(rig.dials == 1)
      }()
      loop.settle()
      former = loop
    }()
    #expect(former == nil)
    let loop = ManualLoop()
    loop.advance(by: .seconds(500))
    let rig = try LimitedRig(loop, limiter, policy: try plainPolicy())
    rig.connect()
    #expect(rig.dials == 0)
    loop.advance(by: .seconds(1))
    #expect(rig.dials == 1)
  }
}
