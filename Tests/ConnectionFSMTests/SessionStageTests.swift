import ConnectionFSM
import Testing

@Suite("Session stage")
struct SessionStageTests {
  private func made() throws -> Rig {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    return rig
  }

  @Test("I14: opened, then the session, then the messages in lane order; none before it is ready")
  func order() throws {
    var rig = try made()
    rig.feed(.offerB())
    rig.feed(.offerA())
    #expect(rig.transport(.opened).text == "session 1")
    #expect(rig.feed(.offerA()).text == "")
    rig.transport(.writabilityChanged(false))
    #expect(rig.transport(.writabilityChanged(true)).text == "")
    #expect(rig.feed(.session(Epoch(1), .ready)).text == "send 1 a1-a2, send 1 b1")
  }

  @Test("I19: a session that is not ready in time is given up as a login time-out")
  func deadline() throws {
    var rig = try made()
    rig.transport(.opened, at: .seconds(2))
    rig.transport(.received(byteCount: 1), at: .seconds(6))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(login)")
    #expect(rig.now == .seconds(7))
    #expect(rig.retryAt == .seconds(11))
  }

  @Test("a refused session is terminal: the transport is cut and nothing is dialled")
  func refused() throws {
    var rig = try made()
    rig.transport(.opened)
    #expect(
      rig.feed(.session(Epoch(1), .refused(.denied))).text
        == "abort 1, ended 1 sessionRefused(denied)")
    #expect(rig.closed == "terminal sessionRefused(denied)")
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("a transport lost in the session stage is retried, and the session begins anew")
  func lost() throws {
    var rig = try made()
    rig.transport(.opened)
    rig.transport(.closed(nil))
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 2")
    let late = rig.feed(.session(Epoch(1), .ready))
    #expect(late.disposition == .ignored(.staleEpoch))
    #expect(rig.phase == .authenticating)
  }

  @Test("I5: the heartbeat starts when the session is ready, not before")
  func heartbeat() throws {
    var rig = try made()
    rig.transport(.opened, at: .seconds(1))
    rig.feed(.session(Epoch(1), .ready), at: .seconds(4))
    #expect(rig.machine.nextDeadline == .seconds(29))
  }

  @Test("a session that is ready twice, or before the transport opened, is redundant")
  func twice() throws {
    var rig = try made()
    #expect(rig.feed(.session(Epoch(1), .ready)).disposition == .ignored(.redundant))
    rig.transport(.opened)
    rig.feed(.session(Epoch(1), .ready))
    #expect(rig.feed(.session(Epoch(1), .ready)).disposition == .ignored(.redundant))
  }

  @Test("without a session stage a session's report is redundant and opened is open")
  func absent() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).phase == .open)
    #expect(rig.feed(.session(Epoch(1), .refused(.denied))).disposition == .ignored(.redundant))
  }
}

@Suite("Credentials")
struct CredentialsTests {
  private func made(_ backoff: Backoff = .exact) throws -> Rig {
    var rig = Rig(try Policy.made(backoff: backoff, credentials: .seconds(5)))
    rig.feed(.connect(here))
    return rig
  }

  @Test("RC070, F21: credentials are asked for before every dial, for the epoch it will have")
  func everyAttempt() throws {
    var rig = try made()
    #expect(rig.feed(.credentials(Epoch(1), .available)).text == "dial 1 @0")
    rig.transport(.failed(.lost))
    #expect(try rig.serveDeadline().text == "credentials 2")
    #expect(rig.feed(.credentials(Epoch(2), .available)).text == "dial 2 @0")
    #expect(rig.ledger.requests == [Epoch(1), Epoch(2)])
  }

  @Test("RC067: connecting again while credentials are awaited asks the provider no second time")
  func once() throws {
    var rig = try made()
    for _ in 1...5 {
      #expect(rig.feed(.connect(here)).disposition == .ignored(.redundant))
    }
    #expect(rig.ledger.requests == [Epoch(1)])
    #expect(rig.feed(.credentials(Epoch(1), .available)).text == "dial 1 @0")
  }

  @Test("RC063: unavailable credentials are tried again after a backoff that grows")
  func unavailable() throws {
    var rig = try made()
    var waits: [Int64] = []
    for attempt in 1...5 as ClosedRange<UInt64> {
      rig.feed(.credentials(Epoch(attempt), .unavailable))
      waits.append((try #require(rig.retryAt) - rig.now).nanoseconds / 1_000_000_000)
      try rig.serveDeadline()
    }
    #expect(waits == [4, 4, 8, 16, 32])
  }

  @Test("refused credentials are terminal")
  func refused() throws {
    var rig = try made()
    rig.feed(.credentials(Epoch(1), .refused))
    #expect(rig.closed == "terminal credentialsRefused")
  }

  @Test("I19: a provider that never answers is given up; its late answer is stale")
  func silence() throws {
    var rig = try made()
    #expect(rig.machine.nextDeadline == .seconds(5))
    try rig.serveDeadline()
    #expect(rig.retryAt == .seconds(9))
    let late = rig.feed(.credentials(Epoch(1), .available))
    #expect(late.disposition == .ignored(.staleEpoch))
    #expect(rig.ledger.dials.isEmpty)
  }

  @Test("I1: credentials that come after close dial nothing")
  func afterClose() throws {
    var rig = try made()
    rig.feed(.close)
    #expect(rig.feed(.credentials(Epoch(1), .available)).text == "")
    #expect(rig.phase == .closed)
  }

  @Test("a provider that fails at once is asked once a spacing where the policy has no wait")
  func spacing() throws {
    var rig = try made(.none)
    for attempt in 1...20 as ClosedRange<UInt64> {
      rig.feed(.credentials(Epoch(attempt), .unavailable))
      try rig.serveDeadline()
      #expect(rig.now == .seconds(Int64(attempt)))
    }
  }

  @Test("I10: a path lost while credentials are awaited holds the dial, and the answer is stale")
  func pathLost() throws {
    var rig = try made()
    #expect(rig.feed(.pathChanged(.down), at: .seconds(1)).phase == .offline)
    let late = rig.feed(.credentials(Epoch(1), .available))
    #expect(late.disposition == .ignored(.staleEpoch))
    rig.feed(.pathChanged(.up), at: .seconds(9))
    #expect(try rig.serveDeadline().text == "credentials 2")
  }

  @Test("a connect on a path that is said to be down asks and dials all the same")
  func userOnDeadPath() throws {
    var rig = Rig(try Policy.made(credentials: .seconds(5)))
    rig.feed(.pathChanged(.down))
    #expect(rig.feed(.connect(here)).text == "credentials 1")
    #expect(rig.feed(.credentials(Epoch(1), .available)).text == "dial 1 @0")
  }

  @Test("F04: another endpoint while credentials are awaited asks for that one")
  func retarget() throws {
    var rig = try made()
    #expect(rig.feed(.connect(elsewhere)).text == "credentials 2")
    let old = rig.feed(.credentials(Epoch(1), .available))
    #expect(old.disposition == .ignored(.staleEpoch))
    #expect(rig.feed(.credentials(Epoch(2), .available)).text == "dial 2 @1")
  }
}
