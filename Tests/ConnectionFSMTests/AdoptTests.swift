import ConnectionFSM
import Testing

@Suite("A policy replaced while the machine runs")
struct AdoptTests {
  @Test("lanes are fixed for life: others are refused, and nothing changes")
  func lanes() throws {
    let policy = try Policy.long()
    var rig = Rig.opened(policy)
    rig.feed(.offerA())
    let before = rig.machine
    let others: [[Lane]] = [
      [.made(.atMostOnce)], [.made(.atMostOnce), .made(.atLeastOnce, window: 99)],
      [.made(.atLeastOnce), .made(.atMostOnce)],
    ]
    for lanes in others {
      let error = #expect(throws: PolicyError.self) { try rig.adopt(.long(lanes: lanes)) }
      #expect(error.map { "\($0.knob)" } == "lanes")
    }
    #expect(rig.machine == before && rig.machine.policy === policy)
    #expect(try rig.adopt(.long()).disposition == .accepted)
  }

  @Test("the deadlines of each stage move at once, back and forth")
  func stages() throws {
    var rig = Rig(try Policy.long(session: .seconds(4), credentials: .seconds(3)))
    func long() throws -> Policy {
      try Policy.long(
        connectDeadline: .seconds(40), closeDeadline: .seconds(60), drainDeadline: .seconds(50),
        session: .seconds(20), credentials: .seconds(30))
    }
    let short = rig.machine.policy
    func check(_ old: Int64, _ new: Int64) throws {
      #expect(rig.machine.nextDeadline == .seconds(old))
      #expect(try rig.adopt(long()).effects.isEmpty)
      #expect(rig.machine.nextDeadline == .seconds(new))
      try rig.adopt(short)
      #expect(rig.machine.nextDeadline == .seconds(old))
    }
    rig.feed(.connect(here))
    try check(3, 30)
    rig.feed(.credentials(Epoch(1), .available))
    try check(10, 40)
    rig.transport(.opened)
    try check(4, 20)
    rig.feed(.session(Epoch(1), .ready))
    rig.feed(.offerB())
    rig.feed(.drain)
    try check(7, 50)
    rig.feed(.close)
    try check(5, 60)
  }

  @Test("the ping interval, the pong timeout and the hold's probe move at once")
  func liveness() throws {
    func policy(_ interval: Int64, _ timeout: Int64, probe: Int64 = 60) throws -> Policy {
      try Policy.long(
        heartbeat: Heartbeat(interval: .seconds(interval), timeout: .seconds(timeout)),
        path: PathPolicy(
          onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(probe),
          returnJitter: .zero))
    }
    var rig = Rig.opened(try policy(25, 10))
    try rig.adopt(policy(40, 10))
    #expect(rig.machine.nextDeadline == .seconds(40))
    try rig.adopt(.long(heartbeat: nil))
    #expect(rig.machine.nextDeadline == nil)
    try rig.adopt(policy(5, 10))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    try rig.adopt(policy(5, 2))
    #expect(rig.machine.nextDeadline == .seconds(7))
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.down))
    #expect(rig.machine.nextDeadline == .seconds(65))
    try rig.adopt(policy(5, 2, probe: 20))
    #expect(rig.machine.nextDeadline == .seconds(25))
  }

  @Test("a wait that was drawn stays; the next one follows the new backoff and the new spacing")
  func waits() throws {
    var rig = Rig(try Policy.long())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    try rig.adopt(.long(backoff: .none, spacing: .seconds(9)))
    #expect(rig.retryAt == .seconds(4))
    try rig.serveDeadline()
    #expect(rig.retryAt == .seconds(9), "where a dial is made the spacing counts, as ever")
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(18))
    try rig.adopt(.long(backoff: .exact.limited(to: 2)))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe", "three attempts were made")
  }

  @Test("a retry budget counts from the dials that were made without one")
  func budget() throws {
    var rig = Rig(try Policy.long(backoff: .none, spacing: .zero))
    rig.feed(.connect(here))
    try rig.adopt(
      .long(backoff: .none, spacing: .zero, budget: RetryBudget(burst: 1, interval: .seconds(9))))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(9))
  }

  @Test("patience that comes late counts from the first failure; without it nobody is turned away")
  func patience() throws {
    var rig = Rig(try Policy.long())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(1))
    rig.feed(.offerA())
    let patient = try Policy.long(
      patience: Patience(fastFor: .seconds(2), slowWait: .seconds(10)))
    try rig.adopt(patient)
    #expect(try rig.serveDeadline().text == "a1 expired" && rig.now == .seconds(3))
    #expect(rig.feed(.offerA()).disposition == .rejected(.outage))
    try rig.adopt(.long())
    #expect(rig.feed(.offerA()).disposition == .taken(.a(2)))
    try rig.adopt(patient)
    #expect(rig.machine.nextDeadline == .seconds(3), "the outage has outlasted it already")
  }

  @Test("pacing that goes lets the backlog go; pacing that comes waits for the next backlog")
  func pacing() throws {
    let paced = try Policy.long(pacing: Pacing(burst: 2, interval: .seconds(5)))
    var rig = Rig(paced)
    for _ in 1...5 { rig.feed(.offerB()) }
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 b1-b2")
    #expect(try rig.adopt(paced).text == "" && rig.machine.nextDeadline == .seconds(5))
    #expect(try rig.adopt(.long()).text == "send 1 b3-b5")
    #expect(rig.machine.nextDeadline == nil)
    try rig.adopt(paced)
    #expect(rig.feed(.offerB()).text == "send 1 b6")
  }
}

@Suite("A policy replaced: replacements")
struct AdoptRolloverTests {
  private func policy(_ maxAge: Int64?, dither: Int64 = 0, returnAfter: Int64? = nil) throws
    -> Policy
  {
    try Policy.long(
      rollover: Rollover(
        maxAge: maxAge.map { .seconds($0) }, dither: .seconds(dither),
        returnAfter: returnAfter.map { .seconds($0) }))
  }

  @Test("the age counts from the open, however often the policy is replaced")
  func age() throws {
    var rig = Rig.opened(try policy(100))
    rig.advance(to: .seconds(60))
    try rig.adopt(policy(100))
    #expect(rig.machine.nextDeadline == .seconds(100))
    try rig.adopt(policy(300))
    #expect(rig.machine.nextDeadline == .seconds(300))
    try rig.adopt(.long())
    #expect(rig.machine.nextDeadline == nil)
    try rig.adopt(policy(30))
    #expect(try rig.serveDeadline().text == "dial 2 @0" && rig.now == .seconds(60))
  }

  @Test("the time away from the preferred endpoint counts from the open too")
  func returnAfter() throws {
    var rig = Rig(try policy(nil, returnAfter: 50))
    rig.feed(.connect(here, count: 2))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.opened)
    rig.advance(to: .seconds(31))
    try rig.adopt(policy(nil, returnAfter: 40))
    #expect(rig.machine.nextDeadline == .seconds(41))
  }

  @Test("the notice of a server is not forgotten, nor is the wait after a failed replacement")
  func drawn() throws {
    var noticed = Rig.opened(try policy(1000, dither: 30))
    noticed.transport(.drainRequested, at: .seconds(10))
    let at = noticed.machine.nextDeadline
    #expect(at.map { $0 <= .seconds(40) } == true)
    try noticed.adopt(policy(2000, dither: 30))
    #expect(noticed.machine.nextDeadline == at)
    var failed = Rig.opened(try policy(100))
    try failed.serveDeadline()
    failed.transport(2, .failed(.lost))
    #expect(failed.machine.nextDeadline == .seconds(104))
    try failed.adopt(policy(50))
    #expect(failed.machine.nextDeadline == .seconds(104))
  }
}
