import ConnectionFSM
import Testing

/// Any of so many endpoints from 0 on.
private func any(of count: UInt8) -> Input { .connect(here, count: count) }

@Suite("A list of endpoints")
struct EndpointListTests {
  /// When each dial of so many failures was made, in seconds, and where to.
  private func dials(_ rig: inout Rig, failures: Int) throws -> [String] {
    for _ in 1...failures {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    return rig.ledger.dials.map { "\($0.endpoint.rawValue)@\($0.at.nanoseconds / 1_000_000_000)" }
  }

  @Test("RC194, RC195: all are tried in order, spaced, before a step of the backoff, and again")
  func order() throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 3))
    let found = try dials(&rig, failures: 8)
    #expect(found == ["0@0", "1@1", "2@2", "0@6", "1@7", "2@8", "0@12", "1@13", "2@14"])
    // Third step: 8 s.
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(22))
  }

  @Test("a list of one is a single endpoint: each failure is a step", arguments: [UInt8(0), 1])
  func one(count: UInt8) throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: count))
    #expect(try dials(&rig, failures: 3) == ["0@0", "0@4", "0@8", "0@16"])
    #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
  }

  @Test("RC191: a link that was not stable is left for the next, a stable one for the preferred")
  func failover() throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 3))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: rig.now + .seconds(9))
    try rig.redial()
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: rig.now + .seconds(10))
    #expect(rig.retryAt == rig.now + .seconds(4), "a step: nothing failed but a stable link")
    try rig.redial()
    #expect(rig.endpoints == [0, 1, 2, 0])
    #expect(try dials(&rig, failures: 2).suffix(2).map { $0.prefix(1) } == ["1", "2"])
  }

  @Test("a terminal cause stops, though other endpoints are left")
  func terminal() throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 3))
    rig.transport(.failed(.fatal))
    #expect(rig.closed == "terminal accessDenied" && rig.ledger.dials.count == 1)
  }

  @Test("the attempt limit counts dials, not rounds")
  func attemptLimit() throws {
    var rig = Rig(try Policy.long(backoff: .exact.limited(to: 4)))
    rig.feed(any(of: 3))
    _ = try dials(&rig, failures: 3)
    rig.transport(.failed(.lost))
    #expect(rig.closed == "exhausted brokenPipe" && rig.endpoints == [0, 1, 2, 0])
  }

  @Test("while the path is down nothing moves on: it is not the endpoint's fault")
  func pathDown() throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 3))
    rig.feed(.pathChanged(.down))
    rig.transport(.failed(.lost))
    rig.feed(.pathChanged(.up), at: .seconds(5))
    try rig.redial()
    #expect(rig.endpoints == [0, 0])
  }

  @Test("another list, or another length of it, is another target: the old link goes first")
  func retarget() throws {
    var rig = Rig.opened(try Policy.long())
    #expect(rig.feed(any(of: 1)).disposition == .ignored(.redundant))
    #expect(rig.feed(any(of: 2)).text == "abort 1, ended 1 replaced, dial 2 @0")
    #expect(rig.feed(.connect(elsewhere, count: 2)).text == "abort 2, ended 2 replaced, dial 3 @1")
  }

  @Test("F01: a new run starts with the preferred endpoint; a wait cut short goes on in turn")
  func newRun() throws {
    for closes in [[Input.close], [.drain], []] {
      var rig = Rig(try Policy.long(backoff: .exact.limited(to: 2)))
      rig.feed(any(of: 3))
      rig.transport(.failed(.lost))
      rig.feed(any(of: 3))
      #expect(rig.endpoints == [0, 1])
      for close in closes { rig.feed(close) }
      if closes.isEmpty {
        rig.transport(.failed(.lost))
        try rig.redial()
        rig.transport(.failed(.lost))
        #expect(rig.closed == "exhausted brokenPipe" && rig.endpoints == [0, 1, 2])
      }
      rig.feed(any(of: 3))
      #expect(rig.endpoints.last == 0)
    }
    // … also when the close was not answered yet.
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 3))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.opened)
    rig.feed(.close)
    rig.feed(any(of: 3))
    #expect(rig.transport(.closed(nil)).text == "ended 2 closedByUser, dial 3 @0")
  }
}

@Suite("A list of endpoints: delays of one server")
struct ElsewhereTests {
  private static let tryElsewhere = CloseCode(1013)

  @Test("F13: a server that sends us elsewhere delays itself alone")
  func elsewhereAtOnce() throws {
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 2))
    rig.transport(.closed(Self.tryElsewhere))
    #expect(rig.retryAt == .seconds(1), "the spacing, and nothing else")
    try rig.redial()
    #expect(rig.endpoints == [0, 1])
    // The round is over: back to the first, whose delay still counts.
    rig.transport(.closed(Self.tryElsewhere))
    #expect(rig.retryAt.map { $0 >= .seconds(31) && $0 <= .seconds(61) } == true)
  }

  @Test("F13: alone on the list it keeps its delay, and another code's delay holds for all")
  func delayed() throws {
    var alone = Rig(try Policy.long())
    alone.feed(any(of: 1))
    alone.transport(.closed(Self.tryElsewhere))
    #expect(alone.retryAt.map { $0 >= .seconds(30) } == true)
    var rig = Rig(try Policy.long())
    rig.feed(any(of: 2))
    rig.transport(.closed(CloseCode(1012)))
    #expect(rig.retryAt.map { $0 >= .seconds(5) && $0 <= .seconds(30) } == true)
    try rig.redial()
    #expect(rig.endpoints == [0, 1])
  }
}

@Suite("A shuffled list of endpoints")
struct ShuffleTests {
  /// The order of one round.
  private func round(of count: UInt8, seed: UInt64, runs: Int = 1) throws -> [[UInt32]] {
    var rig = Rig(try Policy.long(shuffles: true), seed: seed)
    return try (1...runs).map { _ in
      let before = rig.ledger.dials.count
      rig.feed(any(of: count))
      for _ in 1..<max(2, Int(count)) {
        rig.transport(.failed(.lost))
        try rig.redial()
      }
      rig.feed(.close)
      return rig.endpoints[before...].prefix(Int(count)).map { $0 }
    }
  }

  @Test("every round is a permutation, for every length and any seed")
  func permutation() throws {
    for count in 1...16 as ClosedRange<UInt8> {
      for seed in 1...60 as ClosedRange<UInt64> {
        let found = try round(of: count, seed: seed)[0]
        #expect(found.sorted() == Array(0..<UInt32(count)), "\(found)")
      }
    }
  }

  @Test("clients spread evenly over the endpoints, and over their neighbours")
  func spread() throws {
    for count in [2, 3, 5, 8] as [UInt8] {
      var firsts: [UInt32: Int] = [:]
      var pairs: Set<[UInt32]> = []
      for seed in 1...800 as ClosedRange<UInt64> {
        let found = try round(of: count, seed: seed)[0]
        firsts[found[0], default: 0] += 1
        pairs.insert(Array(found.prefix(2)))
      }
      let share = 800 / Int(count)
      #expect(firsts.count == Int(count))
      #expect(firsts.values.allSatisfy { $0 > share / 2 && $0 < share * 3 / 2 }, "\(firsts)")
      // A round goes around the list by a stride without a divisor of its length.
      let strides = [2: 1, 3: 2, 5: 4, 8: 4][count] ?? 0
      #expect(pairs.count == Int(count) * strides)
    }
  }

  @Test("each run draws an order of its own, and rounds of one run repeat theirs")
  func eachRun() throws {
    let orders = try round(of: 7, seed: 5, runs: 12)
    #expect(Set(orders).count > 6)
    var rig = Rig(try Policy.long(shuffles: true), seed: 9)
    rig.feed(any(of: 4))
    for _ in 1...7 {
      rig.transport(.failed(.lost))
      try rig.redial()
    }
    #expect(rig.endpoints.prefix(4) == rig.endpoints.suffix(4))
  }
}

@Suite("F54: replacements on a list of endpoints")
struct ReplacementEndpointTests {
  private func policy(_ rollover: Rollover) throws -> Policy {
    try Policy.long(rollover: rollover)
  }

  /// Open on endpoint 1, since 0 did not answer.
  private func openedSecond(_ rollover: Rollover, count: UInt8 = 3) throws -> Rig {
    var rig = Rig(try policy(rollover))
    rig.feed(any(of: count))
    rig.transport(.failed(.lost))
    try rig.redial()
    rig.transport(.opened)
    return rig
  }

  @Test("a link away from the preferred endpoint goes back after its time, and tries until it can")
  func returns() throws {
    var rig = try openedSecond(Rollover(returnAfter: .seconds(60)))
    #expect(rig.machine.nextDeadline == .seconds(61))
    #expect(try rig.serveDeadline().text == "dial 3 @0")
    rig.transport(3, .failed(.lost))
    #expect(try rig.serveDeadline().text == "dial 4 @0")
    #expect(rig.transport(4, .opened).text == "close 2")
    rig.transport(2, .closed(nil))
    #expect(rig.machine.nextDeadline == nil, "at home it stays")
  }

  @Test("a link on the preferred endpoint has nowhere to return to")
  func home() throws {
    var rig = Rig(try policy(Rollover(returnAfter: .seconds(60))))
    rig.feed(any(of: 3))
    rig.transport(.opened)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("a server that goes away is not dialled for the replacement, whatever fails in between")
  func avoids() throws {
    var rig = try openedSecond(Rollover())
    rig.transport(2, .drainRequested, at: .seconds(5))
    for _ in 1...5 {
      try rig.serveDeadline()
      rig.transport(.failed(.lost))
    }
    #expect(rig.endpoints.dropFirst(2) == [2, 0, 2, 0, 2])
    var alone = Rig(try policy(Rollover()))
    alone.feed(any(of: 1))
    alone.transport(.opened)
    alone.transport(.drainRequested, at: .seconds(5))
    #expect(try alone.serveDeadline().text == "dial 2 @0", "the only one there is")
  }

  @Test("a replacement that failed does not disturb the round: all are tried before a step")
  func roundGoesOn() throws {
    var rig = try openedSecond(Rollover(returnAfter: .seconds(2)), count: 2)
    try rig.serveDeadline()
    #expect(rig.endpoints == [0, 1, 0])
    rig.transport(3, .failed(.lost))
    rig.transport(2, .failed(.lost))
    // Endpoint 1 ended the first round of failures: now a step, then endpoint 0.
    try rig.redial()
    #expect(rig.endpoints.last == 0)
  }

  @Test("a promoted replacement is on its own endpoint: the next after it is tried next")
  func promoted() throws {
    var rig = Rig(try policy(Rollover()))
    rig.feed(any(of: 3))
    rig.transport(.opened)
    rig.transport(1, .drainRequested, at: .seconds(20))
    try rig.serveDeadline()
    rig.transport(1, .failed(.lost))
    #expect(rig.phase == .connecting && rig.endpoints == [0, 1])
    rig.transport(2, .failed(.lost))
    try rig.redial()
    #expect(rig.endpoints == [0, 1, 2])
  }
}
