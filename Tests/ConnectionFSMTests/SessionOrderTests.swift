import ConnectionFSM
import Testing

@Suite("Session order")
struct SessionOrderTests {
  private let beat = Beat(interval: .seconds(180), isImmediate: true)

  @Test("I14, F49, B0.17: login, then ready, then the beat, then the queue, then what is offered")
  func order() throws {
    var rig = Rig(try Policy.made(beat: beat, session: .seconds(5)))
    rig.feed(.offerA())
    rig.feed(.offerB())
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "session 1")
    #expect(rig.feed(.offerA()).text == "")
    #expect(
      rig.feed(.session(Epoch(1), .ready)).text == "beat 1 #1, send 1 a1-a2, send 1 b1")
    #expect(rig.feed(.offerA()).text == "send 1 a3")
  }

  @Test(
    "I14, F49: wherever the link drops before ready, nothing of the application went out",
    arguments: [0, 1, 2])
  func dropped(step: Int) throws {
    var rig = Rig(try Policy.made(beat: beat, session: .seconds(5), credentials: .seconds(5)))
    rig.feed(.offerB())
    rig.feed(.connect(here))
    rig.feed(.credentials(Epoch(1), .available))
    if step > 0 { rig.transport(.opened) }
    if step > 1 { rig.transport(.received(byteCount: 5)) }
    #expect(rig.transport(.failed(.lost)).text == "ended 1 brokenPipe")
    #expect(rig.ledger.messages[.b(1)]?.timesSent == 0)
    #expect(try rig.serveDeadline().text == "credentials 2")
    rig.feed(.credentials(Epoch(2), .available))
    #expect(rig.transport(.opened).text == "session 2")
    #expect(rig.feed(.session(Epoch(2), .ready)).text == "beat 2 #1, send 2 b1")
  }

  @Test("F49: a drop after ready logs in anew before the redelivery")
  func droppedAfterReady() throws {
    var rig = Rig.opened(try Policy.made(session: .seconds(5)))
    rig.feed(.offerB())
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 2")
    #expect(rig.feed(.session(Epoch(2), .ready)).text == "send 2 b1")
  }

  @Test(
    "F05, F49: each refusal of a session has its class",
    arguments: [
      (Refusal.denied, "terminal sessionRefused(denied)"),
      (.credentials, "terminal sessionRefused(credentials)"), (.unavailable, nil),
    ] as [(Refusal, String?)])
  func refusals(refusal: Refusal, closed: String?) throws {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    rig.transport(.opened)
    let step = rig.feed(.session(Epoch(1), .refused(refusal)))
    #expect(step.text == "abort 1, ended 1 sessionRefused(\(refusal))")
    #expect(rig.closed == closed)
    if closed == nil { #expect(rig.retryAt == .seconds(4)) }
  }

  @Test("F49: a server that is unavailable is tried again with waits that grow")
  func unavailable() throws {
    var rig = Rig(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    var waits: [TimeSpan] = []
    for _ in 1...4 {
      rig.transport(.opened)
      rig.feed(.session(rig.epoch, .refused(.unavailable)))
      waits.append(try #require(rig.retryAt) - rig.now)
      try rig.redial()
    }
    #expect(waits == [.seconds(4), .seconds(4), .seconds(8), .seconds(16)])
  }
}

@Suite("Resumed sessions")
struct ResumeTests {
  /// A link with a session, lost at 20 s; the next is dialled at 24 s.
  private func lost() throws -> Rig {
    var rig = Rig.opened(try Policy.made(session: .seconds(5), resumeWindow: .seconds(60)))
    rig.transport(.received(byteCount: 1), at: .seconds(20))
    rig.transport(.failed(.lost))
    try rig.redial()
    return rig
  }

  @Test("F49: the first session has nothing to resume")
  func first() throws {
    var rig = Rig(try Policy.made(session: .seconds(5), resumeWindow: .seconds(60)))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "session 1")
    let early = rig.feed(.session(Epoch(1), .resumeRefused))
    #expect(early.disposition == .ignored(.redundant))
  }

  @Test("F49: within the window the next link resumes, and opens as if it were ready")
  func resumes() throws {
    var rig = try lost()
    rig.feed(.offerB())
    #expect(rig.transport(.opened).text == "resume 2")
    #expect(rig.feed(.session(Epoch(2), .resumed)).text == "send 2 b1")
    #expect(rig.phase == .open)
  }

  @Test("RC005, RC171: a refused resume begins anew on the same link, with a whole deadline, once")
  func refused() throws {
    var rig = try lost()
    rig.transport(.opened, at: .seconds(25))
    let step = rig.feed(.session(Epoch(2), .resumeRefused), at: .seconds(28))
    #expect(step.text == "session 2")
    #expect(step.phase == .authenticating)
    #expect(rig.machine.nextDeadline == .seconds(33))
    let again = rig.feed(.session(Epoch(2), .resumeRefused))
    #expect(again.disposition == .ignored(.redundant))
    rig.feed(.session(Epoch(2), .ready), at: .seconds(30))
    #expect(rig.phase == .open)
  }

  @Test("RC005: the id of a session that was refused is not offered again on the next link")
  func refusedForGood() throws {
    var rig = try lost()
    rig.transport(.opened)
    rig.feed(.session(Epoch(2), .resumeRefused))
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 3")
  }

  @Test(
    "F49: the window is counted from the end of the link: it is over at its last nanosecond",
    arguments: [(Int64(79_999), "resume 2"), (80_000, "session 2")])
  func window(milliseconds: Int64, expected: String) throws {
    var rig = Rig.opened(
      try Policy.made(
        connectDeadline: .seconds(100), session: .seconds(5), resumeWindow: .seconds(60)))
    rig.transport(.received(byteCount: 1), at: .seconds(20))
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened, at: .milliseconds(milliseconds)).text == expected)
  }

  @Test("F49: a link that fails before it opens loses no session")
  func failedBetween() throws {
    var rig = try lost()
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "resume 3")
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "resume 4")
  }

  @Test("F49: without a window no session is resumed")
  func absent() throws {
    var rig = Rig.opened(try Policy.made(session: .seconds(5), resumeWindow: nil))
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 2")
  }

  @Test("F49: close by the user forgets the session, whatever the peer answers")
  func close() throws {
    var rig = Rig.opened(try Policy.made(session: .seconds(5), resumeWindow: .seconds(60)))
    rig.feed(.close)
    rig.transport(.closed(nil))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "session 2")
  }

  @Test("F49: so does a close that is overtaken by a connect, and one in a backoff")
  func closeAndConnect() throws {
    var rig = Rig.opened(try Policy.made(session: .seconds(5), resumeWindow: .seconds(60)))
    rig.feed(.close)
    rig.feed(.connect(here))
    #expect(rig.transport(.closed(nil)).text == "ended 1 closedByUser, dial 2 @0")
    #expect(rig.transport(.opened).text == "session 2")
    rig.feed(.session(Epoch(2), .ready))
    rig.transport(.failed(.lost))
    rig.feed(.close)
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "session 3")
  }

  @Test("F04, F49: another endpoint knows no session of the one before")
  func elsewhereKnowsNone() throws {
    var rig = Rig.opened(try Policy.made(session: .seconds(5), resumeWindow: .seconds(60)))
    rig.feed(.connect(elsewhere))
    #expect(rig.transport(.opened).text == "session 2")
  }

  @Test("F49: a session refused while it is resumed is not resumed again")
  func refusedResume() throws {
    var rig = try lost()
    #expect(rig.transport(.opened).text == "resume 2")
    rig.feed(.session(Epoch(2), .refused(.unavailable)))
    try rig.redial()
    #expect(rig.transport(.opened).text == "session 3")
  }
}

@Suite("Refreshed credentials")
struct RefreshTests {
  private func made(session: TimeSpan? = nil, credentials: TimeSpan? = .seconds(5)) throws -> Rig {
    var rig = Rig(try Policy.made(session: session, credentials: credentials))
    rig.feed(.connect(here))
    return rig
  }

  /// The provider gives what it has for the newest epoch, and the dial follows.
  private func give(_ rig: inout Rig) throws {
    let epoch = try #require(rig.ledger.requests.last)
    #expect(rig.feed(.credentials(epoch, .available)).text == "dial \(epoch.rawValue) @0")
  }

  @Test(
    "F21, RC064: refused credentials are asked for anew, once; then it is final",
    arguments: [Cause.http(status: 401), .closedByPeer(CloseCode(1008))])
  func transportRefuses(cause: Cause) throws {
    var rig = try made()
    try give(&rig)
    rig.transport(.failed(cause))
    #expect(rig.retryAt == .seconds(4))
    #expect(try rig.serveDeadline().text == "credentials 2")
    try give(&rig)
    rig.transport(.failed(cause))
    #expect(rig.closed?.hasPrefix("terminal") == true)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("F21: a session that refuses the credentials is worth one refresh too")
  func sessionRefuses() throws {
    var rig = try made(session: .seconds(5))
    for epoch in 1...2 as ClosedRange<UInt64> {
      try give(&rig)
      rig.transport(.opened)
      rig.feed(.session(Epoch(epoch), .refused(.credentials)))
      if epoch == 1 { #expect(try rig.serveDeadline().text == "credentials 2") }
    }
    #expect(rig.closed == "terminal sessionRefused(credentials)")
  }

  @Test("F21: without a provider there is nothing to refresh: final at once")
  func noProvider() throws {
    var rig = try made(credentials: nil)
    rig.transport(.failed(.http(status: 401)))
    #expect(rig.closed?.hasPrefix("terminal") == true)
  }

  @Test("F21: a stable link and the user's connect earn the refresh anew, a bare open does not")
  func earned() throws {
    var rig = try made()
    try give(&rig)
    rig.transport(.failed(.http(status: 401)))
    try rig.serveDeadline()
    try give(&rig)
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: rig.now + .seconds(11))
    try rig.serveDeadline()
    try give(&rig)
    rig.transport(.failed(.http(status: 401)))
    #expect(rig.phase == .backingOff, "the link was stable")
    try rig.serveDeadline()
    try give(&rig)
    rig.transport(.opened)
    rig.transport(.failed(.http(status: 401)), at: rig.now + .seconds(1))
    #expect(rig.phase == .closed, "it was open, and not for long")
    rig.feed(.connect(here))
    try give(&rig)
    rig.transport(.failed(.http(status: 401)))
    #expect(rig.phase == .backingOff, "the user asked")
  }

  @Test("F21: a refresh that the provider refuses is final, one it cannot serve is tried again")
  func refreshFails() throws {
    for (answer, expected) in [
      (CredentialsAnswer.refused, Phase.closed), (.unavailable, .backingOff),
    ] {
      var rig = try made()
      try give(&rig)
      rig.transport(.failed(.http(status: 401)))
      try rig.serveDeadline()
      rig.feed(.credentials(Epoch(2), answer))
      #expect(rig.phase == expected)
    }
  }

  @Test("F21, I19: the refresh has the provider's deadline, and its late answer is nobody's")
  func deadline() throws {
    var rig = try made()
    try give(&rig)
    rig.transport(.failed(.http(status: 401)))
    try rig.serveDeadline()
    #expect(rig.machine.nextDeadline == .seconds(9))
    try rig.serveDeadline()
    #expect(rig.phase == .backingOff)
    let late = rig.feed(.credentials(Epoch(2), .available))
    #expect(late.disposition == .ignored(.staleEpoch))
  }

  @Test("F21, RC067: whatever is asked meanwhile, one request is under way at a time")
  func oneInFlight() throws {
    var rig = try made()
    rig.feed(.connect(here))
    rig.feed(.pathChanged(.up))
    rig.feed(.lifecycleChanged(.background), at: .milliseconds(400))
    rig.feed(.lifecycleChanged(.foreground), at: .milliseconds(500))
    #expect(rig.ledger.requests.count == 1, "the hold ended it; the next keeps the spacing")
    #expect(rig.retryAt == .seconds(1))
  }
}

@Suite("A growing connect deadline")
struct ConnectDeadlineGrowthTests {
  private func made(limit: TimeSpan?) throws -> Rig {
    var rig = Rig(
      try Policy.made(connectDeadline: .seconds(10), connectDeadlineLimit: limit, backoff: .none))
    rig.feed(.connect(here))
    return rig
  }

  /// How long the running dial may take; then it is cut.
  private func cutDial(_ rig: inout Rig) throws -> TimeSpan {
    let dialled = try #require(rig.ledger.dials.last?.at)
    try rig.run(until: try #require(rig.machine.nextDeadline))
    return rig.now - dialled
  }

  @Test("RC003, RC175: each dial that the deadline cut doubles the next one's, up to the limit")
  func doubles() throws {
    var rig = try made(limit: .seconds(55))
    var spans: [TimeSpan] = []
    for _ in 1...5 { spans.append(try cutDial(&rig)) }
    #expect(
      spans == [.seconds(10), .seconds(20), .seconds(40), .seconds(55), .seconds(55)])
  }

  @Test("without a limit the connect deadline stays as it is")
  func fixed() throws {
    var rig = try made(limit: nil)
    for _ in 1...4 { #expect(try cutDial(&rig) == .seconds(10)) }
  }

  @Test("an open resets the connect deadline, however short it was")
  func resetByOpen() throws {
    var rig = try made(limit: .seconds(80))
    for _ in 1...2 { _ = try cutDial(&rig) }
    rig.transport(.opened)
    rig.transport(.failed(.lost))
    try rig.redial()
    #expect(try cutDial(&rig) == .seconds(10))
  }

  @Test("an open resets it also where a switch of interfaces ends the link")
  func resetBeforeSwitch() throws {
    let path = PathPolicy(
      onLoss: .probe, onSwitch: .redial, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .zero)
    var rig = Rig(
      try Policy.made(
        connectDeadline: .seconds(10), connectDeadlineLimit: .seconds(80), backoff: .none,
        path: path))
    rig.feed(.pathChanged(Path(.up, interface: 1)))
    rig.feed(.connect(here))
    for _ in 1...2 { _ = try cutDial(&rig) }
    rig.transport(.opened)
    rig.feed(.pathChanged(Path(.up, interface: 2)))
    try rig.redial()
    #expect(try cutDial(&rig) == .seconds(10))
  }

  @Test("so does a dial that fails by itself: the server answers")
  func resetByAnswer() throws {
    var rig = try made(limit: .seconds(80))
    _ = try cutDial(&rig)
    rig.transport(.failed(.system(.connectionRefused)))
    try rig.redial()
    #expect(try cutDial(&rig) == .seconds(10))
  }

  @Test("and the user's connect begins a new run with the first deadline")
  func resetByUser() throws {
    var rig = try made(limit: .seconds(80))
    for _ in 1...2 { _ = try cutDial(&rig) }
    rig.feed(.connect(elsewhere))
    #expect(rig.machine.nextDeadline == rig.now + .seconds(10))
  }

  @Test("a hundred cut dials overflow nothing")
  func manyCuts() throws {
    var rig = try made(limit: .seconds(365 * 24 * 3600))
    for _ in 1...100 { _ = try cutDial(&rig) }
    #expect(rig.phase == .connecting)
  }
}
