import ConnectionFSM
import Testing

/// Replaced after 100 s; at most once in lane a, at least once in lane b.
private func policy(
  dither: TimeSpan = .zero, maxAge: TimeSpan? = .seconds(100), window: UInt32 = 100,
  session: TimeSpan? = nil, credentials: TimeSpan? = nil, pacing: Pacing? = nil
) throws -> Policy {
  try Policy.long(
    closeDeadline: .seconds(5), drainDeadline: .seconds(7), session: session,
    credentials: credentials, pacing: pacing, rollover: Rollover(maxAge: maxAge, dither: dither),
    lanes: [.made(.atMostOnce, window: window), .made(.atLeastOnce, window: window)])
}

@Suite("F54: when a link is replaced")
struct RolloverTimeTests {
  @Test("a link is replaced at its age, and the replacement at its own")
  func age() throws {
    var rig = Rig.opened(try policy())
    #expect(try rig.serveDeadline().text == "dial 2 @0")
    #expect(rig.now == .seconds(100) && rig.phase == .open)
    #expect(rig.transport(2, .opened, at: .seconds(102)).text == "close 1")
    #expect(rig.transport(1, .closed(nil)).text == "ended 1 replaced")
    #expect(rig.machine.nextDeadline == .seconds(202))
  }

  @Test("the age is drawn within the dither, for each link anew, and fills it")
  func dither() throws {
    var ages: Set<Int64> = []
    for seed in 1...200 as ClosedRange<UInt64> {
      var rig = Rig.opened(try policy(dither: .seconds(30)), seed: seed)
      for _ in 1...2 {
        let opened = rig.now
        try rig.serveDeadline()
        let age = (rig.now - opened).nanoseconds
        #expect(age >= 70_000_000_000 && age <= 100_000_000_000)
        ages.insert(age / 1_000_000_000)
        rig.transport(.opened)
        rig.transport(rig.epoch.rawValue - 1, .closed(nil))
      }
    }
    #expect(ages.count >= 29, "\(ages.count) of 30 seconds were met")
  }

  @Test("a server that will go away is left within the dither, and no later than the age")
  func drainRequested() throws {
    var waits: Set<Int64> = []
    for seed in 1...200 as ClosedRange<UInt64> {
      var rig = Rig.opened(try policy(dither: .seconds(30), maxAge: nil), seed: seed)
      #expect(rig.machine.nextDeadline == nil)
      let step = rig.transport(.drainRequested, at: .seconds(10))
      #expect(step.disposition == .accepted && step.effects.isEmpty)
      #expect(try rig.serveDeadline().text == "dial 2 @0")
      let wait = (rig.now - .seconds(10)).nanoseconds
      #expect(wait >= 0 && wait <= 30_000_000_000)
      waits.insert(wait / 1_000_000_000)
    }
    #expect(waits.count >= 28)
    var old = Rig.opened(try policy())
    old.transport(.drainRequested, at: .seconds(99))
    #expect(try old.serveDeadline().text == "dial 2 @0" && old.now == .seconds(99))
  }

  @Test("F08: a better path is taken at once, whatever the dither")
  func betterPath() throws {
    var rig = Rig.opened(try policy(dither: .seconds(30)))
    #expect(rig.transport(.betterPathAvailable, at: .seconds(10)).disposition == .accepted)
    #expect(try rig.serveDeadline().text == "dial 2 @0" && rig.now == .seconds(10))
  }

  @Test("a notice counts on an open link alone, once, and only where links are replaced")
  func pointless() throws {
    for event in [TransportEvent.drainRequested, .betterPathAvailable] {
      var plain = Rig.opened(try Policy.long(rollover: nil))
      #expect(plain.transport(event).disposition == .ignored(.redundant))
      var rig = Rig(try policy())
      rig.feed(.connect(here))
      #expect(rig.transport(event).disposition == .ignored(.redundant))
      rig.transport(.opened, at: .seconds(5))
      rig.transport(.betterPathAvailable)
      try rig.serveDeadline()
      #expect(rig.transport(1, event).disposition == .ignored(.redundant))
      #expect(rig.transport(2, event).disposition == .ignored(.redundant))
      #expect(rig.ledger.dials.count == 2)
    }
  }

  @Test("a notice to the new link counts while the old one still drains")
  func noticeWhileDraining() throws {
    var rig = Rig.opened(try policy())
    rig.feed(.offerB())
    try rig.serveDeadline()
    rig.transport(2, .opened)
    #expect(rig.transport(2, .drainRequested).disposition == .accepted)
    #expect(rig.ledger.dials.count == 2, "a third link would be one too many")
    rig.transport(1, .acknowledged(through: .b(1)))
    rig.transport(1, .closed(nil), at: .seconds(101))
    #expect(try rig.serveDeadline().text == "dial 3 @0" && rig.now == .seconds(101))
  }
}

@Suite("F54: the replacement takes over")
struct TakeoverTests {
  /// Three messages of each lane fly on link 1; link 2 is dialled.
  private func replacing(_ policy: Policy) throws -> Rig {
    var rig = Rig.opened(policy)
    for _ in 1...3 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    rig.feed(.deadlineReached, at: .seconds(100))
    #expect(rig.epoch == Epoch(2))
    return rig
  }

  @Test("until the new link is open all goes to the old one")
  func before() throws {
    var rig = try replacing(try policy())
    #expect(rig.feed(.offerA()).text == "send 1 a4")
    #expect(rig.transport(1, .written(through: .a(4))).text == "a1-a4 written")
    #expect(rig.transport(2, .written(through: .a(4))).disposition == .ignored(.redundant))
    #expect(rig.transport(2, .received(byteCount: 1)).disposition == .ignored(.redundant))
  }

  @Test("a lane moves over when nothing of it flies on the old link, and the old one closes last")
  func lanesMove() throws {
    var rig = try replacing(try policy())
    #expect(rig.transport(2, .opened).text == "")
    #expect(rig.feed(.offerA()).text == "" && rig.feed(.offerB()).text == "")
    // The new link has nothing of theirs to report.
    #expect(rig.transport(2, .written(through: .a(3))).disposition == .ignored(.redundant))
    #expect(rig.transport(1, .written(through: .a(2))).text == "a1-a2 written")
    #expect(rig.transport(1, .written(through: .a(3))).text == "a3 written, send 2 a4")
    #expect(rig.feed(.offerA()).text == "send 2 a5")
    #expect(rig.transport(1, .written(through: .a(5))).disposition == .ignored(.redundant))
    let last = rig.transport(1, .acknowledged(through: .b(3)))
    #expect(last.text == "b1-b3 acknowledged, send 2 b4, close 1")
    #expect(rig.transport(2, .acknowledged(through: .b(4))).text == "b4 acknowledged")
    #expect(rig.machine.nextDeadline == .seconds(105), "the close deadline of the old link")
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 replaced")
    #expect(rig.pending(0) == [0, 2])
  }

  @Test("a lane with nothing on the old link moves at once")
  func idleLane() throws {
    var rig = Rig.opened(try policy())
    rig.feed(.offerB())
    rig.feed(.deadlineReached, at: .seconds(100))
    rig.transport(1, .writabilityChanged(false))
    rig.feed(.offerA())
    #expect(rig.transport(2, .opened).text == "send 2 a1")
    #expect(rig.feed(.offerB()).text == "")
  }

  @Test("at the drain deadline the old link closes; its end redelivers what was unacknowledged")
  func drainDeadline() throws {
    var rig = try replacing(try policy())
    rig.transport(2, .opened, at: .seconds(101))
    rig.feed(.offerB())
    #expect(rig.machine.nextDeadline == .seconds(108))
    #expect(try rig.serveDeadline().text == "close 1")
    #expect(rig.transport(1, .acknowledged(through: .b(1))).text == "b1 acknowledged")
    #expect(rig.machine.nextDeadline == .seconds(113))
    let end = try rig.serveDeadline()
    #expect(end.text == "abort 1, ended 1 replaced, a1-a3 inDoubt, send 2 b2-b4")
    #expect(end.phase == .open)
  }

  @Test("an old link that dies while it drains has ended as replaced, and its lanes move over")
  func oldDies() throws {
    for event in [TransportEvent.failed(.lost), .closed(CloseCode(1001))] {
      var rig = try replacing(try policy())
      rig.transport(2, .opened)
      rig.feed(.offerA())
      let step = rig.transport(1, event)
      #expect(step.text == "ended 1 replaced, a1-a3 inDoubt, send 2 a4, send 2 b1-b3")
      #expect(step.disposition == .accepted && step.phase == .open)
    }
  }

  @Test("the new link dies while the old one drains: both are let go, and a dial follows")
  func newDies() throws {
    var rig = try replacing(try policy())
    rig.transport(2, .opened, at: .seconds(100))
    let step = rig.transport(2, .failed(.lost), at: .seconds(101))
    #expect(step.text == "abort 1, ended 1 replaced, a1-a3 inDoubt, ended 2 brokenPipe")
    #expect(rig.pending(1) == [3, 0])
    try rig.redial()
    #expect(rig.transport(3, .opened).text == "send 3 b1-b3")
  }

  @Test("F21, F49: credentials, then the dial, then the session; only then does it take over")
  func stages() throws {
    var rig = Rig.opened(try policy(session: .seconds(4), credentials: .seconds(3)))
    rig.feed(.offerB())
    #expect(try rig.serveDeadline().text == "credentials 2")
    #expect(rig.feed(.credentials(Epoch(2), .available)).text == "dial 2 @0")
    #expect(rig.transport(2, .opened).text == "session 2")
    #expect(rig.feed(.offerA()).text == "send 1 a1", "not yet")
    #expect(rig.feed(.session(Epoch(2), .resumeRefused)).disposition == .ignored(.redundant))
    #expect(rig.feed(.session(Epoch(1), .ready)).disposition == .ignored(.redundant))
    #expect(rig.feed(.session(Epoch(2), .ready)).disposition == .accepted)
    #expect(rig.feed(.offerA()).text == "")
    rig.transport(1, .acknowledged(through: .b(1)))
    #expect(rig.transport(1, .written(through: .a(1))).text == "a1 written, send 2 a2, close 1")
    #expect(rig.transport(1, .closed(nil)).text == "ended 1 replaced")
  }

  @Test("F50: a backlog that moves over is paced like any")
  func paced() throws {
    let pacing = Pacing(burst: 2, interval: .seconds(1))
    var rig = Rig.opened(try policy(pacing: pacing))
    rig.transport(.writabilityChanged(false))
    for _ in 1...5 { rig.feed(.offerB()) }
    rig.feed(.deadlineReached, at: .seconds(100))
    #expect(rig.transport(2, .opened).text == "send 2 b1-b2, close 1")
    #expect(try rig.serveDeadline().text == "send 2 b3-b4")
    #expect(rig.now == .seconds(101))
  }
}

@Suite("F54: a replacement that fails")
struct StandbyFailureTests {
  /// What a standby can fail of, with the end that is told and the deadline that cuts it.
  private static let failures: [(inputs: [Input], text: String)] = [
    ([.credentials(Epoch(2), .unavailable)], ""),
    ([.credentials(Epoch(2), .refused)], ""),
    (
      [.credentials(Epoch(2), .available), .transport(Epoch(2), .failed(.fatal))],
      "ended 2 accessDenied"
    ),
    (
      [.credentials(Epoch(2), .available), .transport(Epoch(2), .closed(nil))],
      "ended 2 closedByPeer"
    ),
    (
      [
        .credentials(Epoch(2), .available), .transport(Epoch(2), .opened),
        .session(Epoch(2), .refused(.denied)),
      ], "abort 2, ended 2 sessionRefused(denied)"
    ),
  ]

  @Test("whatever it fails of, the primary stays open and another is tried after a wait")
  func failing() throws {
    for failure in Self.failures {
      var rig = Rig.opened(try policy(session: .seconds(4), credentials: .seconds(3)))
      rig.feed(.deadlineReached, at: .seconds(100))
      let steps = failure.inputs.map { rig.feed($0) }
      #expect(steps.last?.text == failure.text && steps.last?.phase == .open)
      #expect(rig.machine.nextDeadline.map { $0 > rig.now + .seconds(3) } == true)
      #expect(rig.feed(.offerA()).text == "send 1 a1", "still the old link")
      #expect(try rig.serveDeadline().text == "credentials 3")
    }
  }

  @Test("a stage that takes too long is cut at its own deadline")
  func deadlines() throws {
    var rig = Rig.opened(try policy(session: .seconds(4), credentials: .seconds(3)))
    rig.feed(.deadlineReached, at: .seconds(100))
    #expect(rig.machine.nextDeadline == .seconds(103))
    #expect(try rig.serveDeadline().text == "")
    try rig.serveDeadline()
    rig.feed(.credentials(Epoch(3), .available))
    let dialled = rig.now
    #expect(try rig.serveDeadline().text == "abort 3, ended 3 timedOut(connect)")
    #expect(rig.now == dialled + .seconds(10))
    try rig.serveDeadline()
    rig.feed(.credentials(Epoch(4), .available))
    rig.transport(4, .opened)
    let opened = rig.now
    #expect(try rig.serveDeadline().text == "abort 4, ended 4 timedOut(login)")
    #expect(rig.now == opened + .seconds(4) && rig.phase == .open)
  }

  @Test("failures in a row are further and further apart, and forgotten once one took over")
  func backoff() throws {
    var rig = Rig.opened(try policy())
    rig.feed(.deadlineReached, at: .seconds(100))
    var waits: [Int64] = []
    for _ in 1...6 {
      rig.transport(.failed(.lost))
      let failed = rig.now
      try rig.serveDeadline()
      waits.append((rig.now - failed).nanoseconds / 1_000_000_000)
    }
    #expect(waits == [4, 8, 16, 32, 60, 60])
    rig.transport(.opened)
    rig.transport(1, .closed(nil))
    rig.feed(.deadlineReached, at: rig.now + .seconds(100))
    rig.transport(.failed(.lost))
    #expect(rig.machine.nextDeadline == rig.now + .seconds(4))
  }

  @Test("while nothing may be dialled it is put off, and the primary lives on")
  func heldBack() throws {
    let holds: [Input] = [
      .demandChanged(false), .lifecycleChanged(.background), .pathChanged(.down),
    ]
    for hold in holds {
      var rig = Rig.opened(try policy())
      rig.feed(hold, at: .seconds(1))
      try rig.run(until: .seconds(200))
      #expect(rig.ledger.dials.count == 1 && rig.phase == .open)
      rig.feed(.demandChanged(true))
      rig.feed(.lifecycleChanged(.foreground))
      rig.feed(.pathChanged(.up))
      try rig.run(until: .seconds(205))
      #expect(rig.ledger.dials.count == 2, "\(hold)")
    }
  }

  @Test("I1: a hold that begins while credentials are asked for stops the dial, not the link")
  func heldWhileAuthorizing() throws {
    var rig = Rig.opened(try policy(credentials: .seconds(30)))
    rig.feed(.deadlineReached, at: .seconds(100))
    rig.feed(.lifecycleChanged(.background))
    let step = rig.feed(.credentials(Epoch(2), .available))
    #expect(step.disposition == .accepted && step.effects.isEmpty && step.phase == .open)
    #expect(rig.feed(.credentials(Epoch(2), .available)).disposition == .ignored(.staleEpoch))
    rig.feed(.lifecycleChanged(.foreground))
    #expect(try rig.serveDeadline().text == "credentials 3")
  }

  @Test("I6: a replacement keeps the spacing of dials and spends the retry budget")
  func spaced() throws {
    var rig = Rig(
      try Policy.long(
        spacing: .seconds(20), budget: RetryBudget(burst: 1, interval: .seconds(50)),
        rollover: Rollover(maxAge: .seconds(10))))
    rig.feed(.connect(here))
    rig.transport(.opened)
    try rig.run(until: .seconds(19))
    #expect(rig.ledger.dials.count == 1)
    #expect(try rig.serveDeadline().text == "dial 2 @0" && rig.now == .seconds(20))
    rig.transport(2, .failed(.lost))
    #expect(rig.machine.nextDeadline == .seconds(70))
  }
}
