import ConnectionFSM
import Testing

@Suite("F54: the primary dies, or is not wanted, while its replacement is on the way")
struct PromotionTests {
  private func policy() throws -> Policy {
    try Policy.long(
      session: .seconds(4), credentials: .seconds(3), rollover: Rollover(maxAge: .seconds(100)))
  }

  /// The way of a replacement, stage by stage.
  private static let way: [Input] = [
    .deadlineReached, .credentials(Epoch(2), .available), .transport(Epoch(2), .opened),
  ]

  /// One message of lane b flies on link 1; the replacement has come so far: 1 authorizing,
  /// 2 connecting, 3 authenticating.
  private func replacing(_ stage: Int) throws -> Rig {
    var rig = Rig.opened(try policy())
    rig.feed(.offerB())
    for input in Self.way.prefix(stage) { rig.feed(input, at: .seconds(100)) }
    return rig
  }

  @Test("it becomes the attempt in whatever stage it is, without a wait", arguments: 1...3)
  func promoted(stage: Int) throws {
    var rig = try replacing(stage)
    let died = rig.transport(1, .failed(.lost))
    #expect(died.text == "ended 1 brokenPipe")
    let phases: [Phase] = [.waitingForCredentials, .connecting, .authenticating]
    #expect(died.phase == phases[stage - 1] && rig.machine.standby == nil)
    for input in Self.way[stage...] { #expect(rig.feed(input).disposition == .accepted) }
    let ready = rig.feed(.session(Epoch(2), .ready))
    #expect(ready.text == "send 2 b1" && ready.phase == .open)
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("its deadlines go on from when its stage began", arguments: 1...3)
  func deadlines(stage: Int) throws {
    var rig = try replacing(stage)
    rig.transport(1, .failed(.lost), at: .seconds(101))
    #expect(rig.machine.nextDeadline == .seconds([103, 110, 104][stage - 1]))
    try rig.serveDeadline()
    #expect(rig.phase == .backingOff, "there is no other link to fall back on")
  }

  @Test("I1: promoted under a hold, it asks for no credentials and does not dial")
  func hold() throws {
    var rig = try replacing(1)
    rig.feed(.demandChanged(false))
    rig.transport(1, .failed(.lost))
    #expect(rig.hold == .noDemand)
    #expect(rig.feed(.credentials(Epoch(2), .available)).disposition == .ignored(.staleEpoch))
    #expect(rig.feed(.demandChanged(true), at: .seconds(105)).text == "credentials 3")
  }

  @Test("I1, F04: close, another endpoint and a lost path let go of it", arguments: 1...3)
  func dropped(stage: Int) throws {
    let gone = stage == 1 ? "" : "abort 2, ended 2 replaced"
    let comma = stage == 1 ? "" : ", "
    var closed = try replacing(stage)
    #expect(closed.feed(.close).text == gone + comma + "close 1")
    var drained = try replacing(stage)
    #expect(drained.feed(.drain).text == gone)
    #expect(drained.transport(1, .acknowledged(through: .b(1))).text == "b1 acknowledged, close 1")
    var moved = try replacing(stage)
    let text = moved.feed(.connect(elsewhere)).text
    #expect(text == gone + comma + "abort 1, ended 1 replaced, credentials 3")
    var lost = try replacing(stage)
    let step = lost.feed(.pathChanged(.down))
    #expect(step.text == gone && step.phase == .open && lost.machine.standby == nil)
    for late in Self.way.suffix(2) + [.session(Epoch(2), .ready)] {
      #expect(lost.feed(late).disposition == .ignored(.staleEpoch), "I2")
    }
  }

  @Test("I1, F04: an old link that still drains is cut by close and by another endpoint")
  func drainingDropped() throws {
    for input in [Input.close, .drain, .connect(elsewhere)] {
      var rig = try replacing(3)
      rig.feed(.session(Epoch(2), .ready))
      rig.feed(.offerB())
      let step = rig.feed(input)
      #expect(step.effects.prefix(2) == [.abortTransport(Epoch(1)), .ended(Epoch(1), .replaced)])
      #expect(rig.ledger.transports.count <= 1)
      switch input {
      case .close: #expect(step.text.hasSuffix("close 2, b1 inDoubt, b2 cancelled"))
      case .drain: #expect(step.text.hasSuffix("send 2 b1-b2"))
      default: #expect(step.text.hasSuffix("abort 2, ended 2 replaced, credentials 3"))
      }
    }
  }
}

/// Lives with replacements in any weather; the ledger, which knows two links, judges each step.
@Suite("F54: random lives")
struct RolloverLivesTests {
  private static func policy(_ seed: UInt64) throws -> Policy {
    let lanes: [Lane] = [
      .made(.atMostOnce, window: seed.isMultiple(of: 2) ? 2 : 50),
      .made(.atLeastOnce, window: seed.isMultiple(of: 3) ? 1 : 50),
      .made(.atLeastOnce, timeToLive: .seconds(2), countLimit: 4, overflow: .dropOldest, window: 2),
    ]
    return try Policy.long(
      connectDeadline: .seconds(3), closeDeadline: .seconds(2), drainDeadline: .seconds(3),
      backoff: .none, spacing: .milliseconds(200),
      budget: seed.isMultiple(of: 5) ? RetryBudget(burst: 4, interval: .seconds(1)) : nil,
      session: seed.isMultiple(of: 2) ? .seconds(2) : nil,
      credentials: seed.isMultiple(of: 3) ? .seconds(2) : nil,
      pacing: seed.isMultiple(of: 7) ? Pacing(burst: 2, interval: .milliseconds(300)) : nil,
      rollover: Rollover(maxAge: .seconds(8), dither: .seconds(3), returnAfter: .seconds(5)),
      lanes: lanes)
  }

  @Test("no message is lost, doubled or out of order, and at most two links live")
  func lives() throws {
    var takeovers = 0
    var shared = 0
    var outcomes: [Outcome: Int] = [:]
    for seed in 1...200 as ClosedRange<UInt64> {
      var rig = Rig(try Self.policy(seed), seed: seed)
      var life = Life(seed: seed)
      for _ in 1...300 {
        life.step(&rig)
        if rig.machine.standby?.stage == .draining { shared += 1 }
        if rig.ledger.transports.count > 2 { Issue.record("three links, seed \(seed)") }
      }
      takeovers += rig.ledger.ends.count { $0.cause == .replaced }
      rig.feed(.close)
      try rig.run(until: rig.now + .seconds(60))
      #expect(rig.phase == .closed && rig.ledger.transports.isEmpty, "seed \(seed)")
      for (id, message) in rig.ledger.messages {
        guard let outcome = message.outcome else {
          Issue.record("\(render(id)) was lost, seed \(seed)")
          continue
        }
        outcomes[outcome, default: 0] += 1
      }
    }
    #expect(takeovers > 500 && shared > 1_000, "\(takeovers) \(shared)")
    #expect(Outcome.allCases.allSatisfy { outcomes[$0, default: 0] > 50 }, "\(outcomes)")
  }
}

/// A peer and a user that mean well more often than not.
private struct Life {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func below(_ bound: Int) -> Int { Int(random.next(through: UInt64(bound - 1))) }

  mutating func step(_ rig: inout Rig) {
    if below(3) == 0 { rig.advance(to: rig.now + .milliseconds(Int64(below(400)))) }
    switch below(20) {
    case 0..<5: rig.feed(.offer(LaneID(UInt8(below(3))), byteCount: UInt32(below(40))))
    case 5: cancel(&rig)
    case 6..<13: if let answer = answer(of: rig) { rig.feed(answer) }
    case 13..<17:
      let due = max(rig.now, rig.machine.nextDeadline ?? rig.now)
      rig.feed(.deadlineReached, at: due + .milliseconds(below(9) == 0 ? 1_500 : 0))
    case 17: notice(&rig)
    case 18:
      rig.feed(rig.machine.phase == .closed ? .connect(here, count: 3) : .demandChanged(true))
    default: weather(&rig)
    }
  }

  /// What some transport, or the provider, says next.
  private mutating func answer(of rig: Rig) -> Input? {
    let transports = rig.ledger.transports
    if let asked = rig.ledger.requests.last, below(3) == 0 {
      return .credentials(asked, below(6) == 0 ? .unavailable : .available)
    }
    guard !transports.isEmpty else { return .connect(here, count: 3) }
    let one = transports[below(transports.count)]
    if below(30) == 0 { return .transport(one.epoch, .failed(.lost)) }
    if one.isClosing { return .transport(one.epoch, .closed(nil)) }
    guard one.isReady else {
      return below(2) == 0
        ? .transport(one.epoch, .opened)
        : .session(one.epoch, below(9) == 0 ? .refused(.unavailable) : .ready)
    }
    let flying = one.flying.values.flatMap { $0 }.sorted()
    guard !flying.isEmpty else { return .transport(one.epoch, .writabilityChanged(below(4) > 0)) }
    let id = flying[below(flying.count)]
    return .transport(
      one.epoch, id.lane == LaneID(0) ? .written(through: id) : .acknowledged(through: id))
  }

  private mutating func cancel(_ rig: inout Rig) {
    let lane = LaneID(UInt8(below(3)))
    let newest = UInt64(rig.ledger.offered(to: lane))
    rig.feed(.cancel(MessageID(lane: lane, sequence: newest &- UInt64(below(3)))))
  }

  private mutating func notice(_ rig: inout Rig) {
    guard let epoch = rig.machine.primary?.epoch else { return }
    rig.feed(.transport(epoch, below(2) == 0 ? .drainRequested : .betterPathAvailable))
  }

  private mutating func weather(_ rig: inout Rig) {
    switch below(12) {
    case 0: rig.feed(.close)
    case 1: rig.feed(.drain)
    case 2: rig.feed(.pathChanged(.down))
    case 3: rig.feed(.lifecycleChanged(.background))
    case 4: rig.feed(.demandChanged(false))
    case 5: rig.feed(.connect(elsewhere, count: 2))
    case 6: rig.feed(.transport(Epoch(UInt64(below(9))), .failed(.lost)))
    default:
      rig.feed(.pathChanged(.up))
      rig.feed(.lifecycleChanged(.foreground))
      rig.feed(.demandChanged(true))
      rig.feed(.connect(here, count: 3))
    }
  }
}
