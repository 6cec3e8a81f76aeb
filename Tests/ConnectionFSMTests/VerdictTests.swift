import ConnectionFSM
import Testing

@Suite("Verdicts, as the machine honours them")
struct VerdictTests {
  /// Rules of the test's own, so that it leans on no row: system errors stand for verdicts.
  private static func policy(
    _ verdict: Verdict, backoff: Backoff = .exact, path: PathPolicy = .probing,
    credentials: TimeSpan? = nil
  ) throws -> Policy {
    try .made(
      backoff: backoff, path: path, credentials: credentials,
      overrides: [VerdictOverride(.system(.other), verdict)])
  }

  private static let judged = TransportEvent.failed(.system(.other))

  // MARK: +cap

  @Test("+cap n: n retries, then the end", arguments: [0, 1, 3] as [UInt8])
  func cap(retries: UInt8) throws {
    var rig = Rig(try Self.policy(.transient.capped(retries)))
    rig.feed(.connect(here))
    for _ in 0..<retries {
      rig.transport(.opened)
      rig.transport(Self.judged)
      try rig.redial()
    }
    rig.transport(Self.judged)
    #expect(rig.closed == "terminal other")
    #expect(rig.ledger.dials.count == Int(retries) + 1)
  }

  @Test("X +cap 1: a protocol error and a code that says so are worth one retry")
  func oneRetry() throws {
    for event in [TransportEvent.failed(.protocolError), .closed(CloseCode(1002))] {
      var rig = Rig(try Policy.made())
      rig.feed(.connect(here))
      rig.transport(event)
      try rig.redial()
      rig.transport(event)
      #expect(rig.closed?.hasPrefix("terminal ") == true)
    }
  }

  @Test("a failure without a cap spends nothing and gives nothing back")
  func capBesideOthers() throws {
    var rig = Rig(try Self.policy(.transient.capped(1)))
    rig.feed(.connect(here))
    for event in [Self.judged, .failed(.lost), .failed(.lost)] {
      rig.transport(event)
      try rig.redial()
    }
    rig.transport(Self.judged)
    #expect(rig.closed == "terminal other")
  }

  @Test("F12: a stable link or the user's connect gives the capped retries back, an open does not")
  func capReset() throws {
    var rig = Rig.opened(try Self.policy(.transient.capped(1)))
    for _ in 1...3 {
      rig.transport(Self.judged, at: rig.now + .seconds(10))
      try rig.redial()
      rig.transport(.opened)
    }
    rig.feed(.connect(elsewhere))
    rig.transport(Self.judged)
    #expect(rig.phase == .backingOff)
    try rig.redial()
    rig.transport(.opened)
    rig.transport(Self.judged, at: rig.now + .seconds(9))
    #expect(rig.closed == "terminal other")
  }

  @Test("I10: what fails while the path is down is the network's and spends no capped retry")
  func capOffline() throws {
    var rig = Rig(try Self.policy(.transient.capped(1)))
    rig.feed(.pathChanged(.down))
    rig.feed(.connect(here))
    for _ in 1...5 {
      rig.transport(Self.judged)
      #expect(rig.phase == .offline)
      try rig.redial()
    }
  }

  // MARK: +after, +slow, +now

  @Test("F13: a minimum delay lifts a shorter backoff, and its spread is drawn on top")
  func after() throws {
    let policy = try Self.policy(.transient.after(.seconds(20), spread: .seconds(10)))
    var waits: Set<TimeSpan> = []
    for seed in 1...200 as ClosedRange<UInt64> {
      var rig = Rig(policy, seed: seed)
      rig.feed(.connect(here))
      rig.transport(Self.judged)
      let wait = try #require(rig.retryAt) - rig.now
      #expect(wait >= .seconds(20) && wait <= .seconds(30))
      waits.insert(wait)
    }
    #expect(waits.count > 190)
  }

  @Test("F13: a backoff that is longer than the minimum stays")
  func afterBelowBackoff() throws {
    var rig = Rig(try Self.policy(.transient.after(.seconds(3), spread: .zero)))
    rig.feed(.connect(here))
    rig.transport(Self.judged)
    #expect(rig.retryAt == .seconds(4))
  }

  @Test("F13: a 503 with Retry-After: 120 is not dialled sooner, not even by a path that returns")
  func retryAfter() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 503, retryAfter: 120)))
    let due = try #require(rig.retryAt)
    #expect(due >= .seconds(120) && due <= .seconds(150))
    rig.feed(.pathChanged(.down), at: .seconds(10))
    rig.feed(.pathChanged(.up), at: .seconds(11))
    #expect(rig.retryAt == due)
    rig.feed(.demandChanged(false), at: .seconds(12))
    rig.feed(.demandChanged(true), at: .seconds(13))
    #expect(rig.retryAt == due)
    try rig.redial()
  }

  @Test("F13: the user need not wait, and another endpoint is not bound by the delay of the first")
  func userOutranksDelay() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 503, retryAfter: 3600)))
    #expect(rig.feed(.connect(elsewhere), at: .seconds(1)).text == "dial 2 @1")
    rig.transport(.failed(.lost))
    #expect(rig.retryAt == .seconds(5))
  }

  @Test("+now: the first retry is at once but for the spacing, the next wait as usual")
  func now() throws {
    var rig = Rig(try Self.policy(.transient.now))
    rig.feed(.connect(here))
    rig.transport(Self.judged)
    #expect(rig.retryAt == .seconds(1))
    try rig.redial()
    rig.transport(Self.judged)
    #expect(rig.retryAt == .seconds(5))
  }

  @Test("+now: a stable link that was reset is dialled again at once, a young one after a wait")
  func resetOfStable() throws {
    for (lived, wait) in [(10, 0), (9, 4)] as [(Int64, Int64)] {
      var rig = Rig.opened(try Policy.made())
      rig.transport(.failed(.system(.connectionReset)), at: .seconds(lived))
      #expect(rig.retryAt == .seconds(lived + wait))
    }
  }

  @Test("+now: a small jitter keeps clients apart")
  func nowJitter() throws {
    var path = PathPolicy.probing
    path.returnJitter = .milliseconds(500)
    var waits: Set<Instant> = []
    for seed in 1...50 as ClosedRange<UInt64> {
      var rig = Rig.opened(try Self.policy(.transient.now, path: path), seed: seed)
      rig.transport(Self.judged, at: .seconds(20))
      let due = try #require(rig.retryAt)
      #expect(due >= .seconds(20) && due <= .milliseconds(20_500))
      waits.insert(due)
    }
    #expect(waits.count > 45)
  }

  // MARK: +auth

  @Test("+auth: without a credentials stage it is the end")
  func refusedWithoutStage() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 401)))
    #expect(rig.closed == "terminal http(401)")
  }

  @Test("+auth: with a credentials stage they are asked for once more, then it is the end")
  func refreshes() throws {
    var rig = Rig(try Policy.made(credentials: .seconds(5)))
    rig.feed(.connect(here))
    rig.feed(.credentials(Epoch(1), .available))
    rig.transport(.failed(.http(status: 401)))
    #expect(rig.phase == .backingOff)
    #expect(try rig.serveDeadline().text == "credentials 2")
    rig.feed(.credentials(Epoch(2), .available))
    rig.transport(.closed(CloseCode(1008)))
    #expect(rig.closed == "terminal closedByPeer(1008)")
  }

  @Test("+auth: a stable link gives the refresh back, and other failures do not use it up")
  func refreshReset() throws {
    var rig = Rig.opened(try Policy.made(credentials: .seconds(5)))
    for _ in 1...3 {
      for event in [TransportEvent.closed(CloseCode(1011)), .closed(CloseCode(1008))] {
        rig.transport(event, at: rig.now + .seconds(5))
        try rig.serveDeadline()
        rig.feed(.credentials(rig.machine.newestEpoch, .available))
        rig.transport(.opened)
      }
      rig.transport(.closed(nil), at: rig.now + .seconds(10))
      try rig.serveDeadline()
      rig.feed(.credentials(rig.machine.newestEpoch, .available))
      rig.transport(.opened)
    }
    #expect(rig.phase == .open)
  }

  // MARK: Overrides and causes

  @Test("F14: the first override that matches decides, and the tables where none does")
  func overrides() throws {
    let policy = try Policy.made(overrides: [
      VerdictOverride(.closeCodes(4000...4099), .terminal),
      VerdictOverride(.closeCodes(4000...4999), .transient),
      VerdictOverride(.closeCodes(1000...1000), .terminal),
      VerdictOverride(.httpStatuses(404...404), .transient.capped(3)),
      VerdictOverride(.system(.accessDenied), .network),
    ])
    let table: [(Cause, Phase)] = [
      (.closedByPeer(CloseCode(4000)), .closed), (.closedByPeer(CloseCode(4099)), .closed),
      (.closedByPeer(CloseCode(4100)), .backingOff), (.closedByPeer(CloseCode(1000)), .closed),
      (.closedByPeer(CloseCode(1001)), .backingOff), (.closedByPeer(nil), .backingOff),
      (.http(status: 404), .backingOff), (.http(status: 405), .closed),
      (.fatal, .backingOff), (.system(.internalFault), .closed),
    ]
    for (cause, phase) in table {
      var rig = Rig(policy)
      rig.feed(.connect(here))
      rig.transport(.failed(cause))
      #expect(rig.phase == phase, "\(cause)")
    }
  }

  @Test("F05: the presets have the rows of their protocols")
  func presets() {
    let rows: [([VerdictOverride], ClosedRange<UInt16>, String)] = [
      (VerdictOverride.pusher, 4000...4099, "X"),
      (VerdictOverride.pusher, 4100...4199, "T +after 1...1"),
      (VerdictOverride.pusher, 4200...4299, "T +now"),
      (VerdictOverride.httpLike, 4400...4400, "X"), (VerdictOverride.httpLike, 4403...4404, "X"),
      (VerdictOverride.httpLike, 4406...4406, "X"), (VerdictOverride.httpLike, 4409...4409, "X"),
      (VerdictOverride.httpLike, 4401...4401, "X +auth"),
      (VerdictOverride.httpLike, 4408...4408, "T"), (VerdictOverride.httpLike, 4499...4499, "T"),
      (VerdictOverride.httpLike, 4500...4504, "T"),
      (VerdictOverride.httpLike, 4429...4429, "T +after 30...60"),
    ]
    for (preset, codes, row) in rows {
      for code in codes {
        let found = preset.filter {
          if case .closeCodes(let range) = $0.pattern { return range.contains(code) }
          return false
        }
        #expect(found.map { notation(of: $0.verdict) } == [row], "\(code)")
      }
    }
  }

  @Test("F13: an override does not dial before the Retry-After of the answer")
  func overrideKeepsRetryAfter() throws {
    var rig = Rig(
      try Policy.made(overrides: [VerdictOverride(.httpStatuses(400...599), .transient.now)]))
    rig.feed(.connect(here))
    rig.transport(.failed(.http(status: 413, retryAfter: 60)))
    let due = try #require(rig.retryAt)
    #expect(due >= .seconds(60) && due <= .seconds(75))
  }

  @Test("I8: the first cause of an epoch is the one that is judged")
  func firstCause() throws {
    var rig = Rig.opened(try Policy.made())
    rig.transport(.closed(CloseCode(1011)))
    let second = rig.transport(.failed(.tls(.untrusted)))
    #expect(second.disposition == .ignored(.staleEpoch))
    #expect(rig.phase == .backingOff)
    #expect(rig.machine.explain().cause == .closedByPeer(CloseCode(1011)))
  }

  @Test("F05: a policy by reason: the server's close retries, a lost path stops, a time-out waits")
  func byReason() throws {
    let policy = try Policy.made(
      path: PathPolicy(onLoss: .close),
      overrides: [
        VerdictOverride(.kind(.pathLost), .terminal),
        VerdictOverride(.kind(.closedByPeer), .transient),
        VerdictOverride(.kind(.timedOut), .network),
      ])
    var rig = Rig.opened(policy)
    // Code 1002 is terminal in the tables; the application's own word comes first.
    let drop = rig.transport(.closed(CloseCode(1002)))
    #expect(drop.text == "ended 1 closedByPeer(1002)" && rig.phase == .backingOff)
    try rig.redial()
    rig.transport(.opened)
    let loss = rig.feed(.pathChanged(.down))
    #expect(loss.text == "abort 2, ended 2 pathLost" && rig.closed == "terminal pathLost")
  }

  @Test(
    "a dial that failed is retried or not by the class of its cause, whatever the error",
    arguments: SystemError.allCases)
  func decides(error: SystemError) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.system(error)))
    let isTerminal = error.failureClass == .terminal
    #expect(rig.phase == (isTerminal ? .closed : .backingOff))
  }
}
