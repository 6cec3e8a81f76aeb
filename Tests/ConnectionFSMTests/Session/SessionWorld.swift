import ConnectionFSM

/// A session, its peer, and a ledger that checks what the session does against its promises.
///
/// The ledger is written from the promises alone: sets and arrays, no thought for speed.
struct SessionWorld {
  /// What the ledger knows of a link.
  struct Account {
    /// What the peer was asked for here and not told to end.
    var told: Set<String> = []
    var confirmed: Set<String> = []
    /// When a topic was ended without a confirmation, once for each time.
    var ending: [String: [Instant]] = [:]
    /// What may be ended for caution, though it was long ago.
    var endedLongAgo: Set<String> = []
    var lostAt = Instant.origin
    /// When a topic was asked for, or ended by the peer.
    var askedAt: [String: Instant] = [:]
    var mayTalk = false
    var isReady = false
    var isRetired = false
    var isLoggedIn = false
    var isResumed = false
  }

  static let timeout = TimeSpan.seconds(5)

  let weather: SessionWeather
  let settings: SessionSettings
  var session: Session
  var peer: NaivePeer
  var walk: Walk
  var now = Instant.origin

  var accounts: [UInt64: Account] = [:]
  var primary: UInt64?
  var standby: UInt64?
  var leaving: UInt64?
  var lastLink: UInt64 = 0
  /// What the last open link was told, for the next to resume.
  var remains: Account?

  var wanted: [String: Int] = [:]
  /// The last number that was delivered since a topic is wanted.
  var delivered: [String: UInt64] = [:]
  /// Topics whose next number may be any above the last.
  var mayJump: Set<String> = []
  /// Topics that have shown a gap since they are wanted.
  var gapSeen: Set<String> = []
  /// The numbered messages that were delivered.
  var numbered: Set<String> = []
  /// The requests that wait, and when their time is over.
  var requests: [UInt64: (deadline: Instant, survives: Bool, link: UInt64?)] = [:]
  var level: Int64
  var levelAt = Instant.origin

  var fault: String?
  var story: [String] = []
  var tally: [String: Int] = [:]

  init(seed: UInt64) {
    walk = Walk(seed: seed)
    weather = SessionWeather(&walk)
    let rate = walk.chance(50) ? 1 + walk.below(20) : nil
    settings = .made(
      batch: 1 + walk.below(4), rate: rate, burst: 1 + walk.below(3),
      confirmation: weather.confirms ? Self.timeout : nil, window: 8, requests: 6)
    session = Session(
      WordsDialect(logsIn: weather.logsIn, recovers: weather.recovers), settings)
    peer = NaivePeer(weather, seed: seed &+ 1_000_000)
    level = Int64(settings.burst)
    level *= tokenSpan
  }

  /// The time in which one token comes, in nanoseconds; 0 where there is no limit.
  var tokenSpan: Int64 {
    guard let rate = settings.messagesPerSecond else { return 0 }
    return (1_000_000_000 + Int64(rate) - 1) / Int64(rate)
  }

  mutating func fail(_ reason: String) { fault = fault ?? reason }
  mutating func count(_ what: String) { tally[what, default: 0] += 1 }
}

// MARK: Steps

extension SessionWorld {
  /// One step of the session, its actions checked, and what the machine would answer to them.
  mutating func run(
    _ what: String, _ step: (inout Session, Instant, inout [SessionAction]) -> Void
  ) {
    guard fault == nil else { return }
    var actions: [SessionAction] = []
    step(&session, now, &actions)
    let told = actions.map(render).joined(separator: ", ")
    story.append("\(now.nanoseconds / 1_000_000) ms: \(what) -> \(told)")
    for action in actions { check(action) }
    checkNothingOutstanding()
    if let complaint = peer.complaint { fail(complaint) }
    for action in actions {
      if case .report(let epoch, let event) = action { obey(event, on: epoch.rawValue) }
    }
  }

  /// As the machine does.
  private mutating func obey(_ event: SessionEvent, on link: UInt64) {
    switch event {
    case .ready, .resumed:
      if standby == link {
        count("takeover")
        if let leaving { lose(leaving) }
        (leaving, primary, standby) = (primary, link, nil)
        if let leaving { accounts[leaving]?.isRetired = true }
      }
      remains = nil
      run("opened \(link)") { $0.opened(Epoch(link), at: $1, into: &$2) }
    case .resumeRefused:
      count("resume refused")
      remains = nil
      accounts[link] = Account()
      start(link, resuming: false)
    case .refused: fail("nobody refused")
    }
  }

  mutating func dial() {
    let resumes = primary == nil && remains != nil
    if let primary {
      guard standby == nil, leaving == nil, accounts[primary]?.isReady == true else { return }
      standby = lastLink + 1
    } else {
      primary = lastLink + 1
    }
    lastLink += 1
    peer.connected(lastLink)
    accounts[lastLink] = Account()
    start(lastLink, resuming: resumes)
  }

  private mutating func start(_ link: UInt64, resuming: Bool) {
    if !weather.logsIn { accounts[link]?.mayTalk = true }
    run("start \(link) \(resuming)") {
      $0.start(Epoch(link), resuming: resuming, with: nil, at: $1, into: &$2)
    }
  }

  mutating func lose(_ link: UInt64) {
    guard var account = accounts.removeValue(forKey: link) else { return }
    account.lostAt = now
    count("lost link")
    peer.lost(link)
    if leaving == link { leaving = nil }
    if standby == link { standby = nil }
    if primary == link {
      if account.isReady || account.isResumed { remains = account }
      (primary, standby) = (standby, nil)
    }
    run("ended \(link)") { $0.ended(Epoch(link), at: $1, into: &$2) }
    if requests.values.contains(where: { $0.link == link && !$0.survives }) {
      fail("a request outlived its link")
    }
    for (id, request) in requests where request.link == link {
      requests[id] = (request.deadline, request.survives, nil)
    }
  }

  /// Gives the session the next message of that link.
  mutating func hear(_ link: UInt64) {
    guard let words = peer.links[link]?.toUs.first else { return }
    peer.links[link]?.toUs.removeFirst()
    note(words, on: link)
    run("\(link) > \(words)") { $0.receive(Message(words), on: Epoch(link), at: $1, into: &$2) }
  }

  /// Lets time pass, and serves each deadline in it.
  mutating func wait(_ span: TimeSpan) {
    let end = now + span
    var rounds = 0
    while fault == nil, let deadline = session.nextDeadline, deadline <= end {
      now = max(now, deadline)
      run("deadline") { $0.deadlineReached(at: $1, into: &$2) }
      rounds += 1
      if let next = session.nextDeadline, next <= now { fail("a deadline that was served stays") }
      if rounds > 10_000 { fail("the deadlines do not end") }
    }
    now = end
    if requests.values.contains(where: { $0.deadline <= now }) { fail("a request has no end") }
  }

  mutating func want(_ topic: String) {
    wanted[topic, default: 0] += 1
    run("subscribe \(topic)") { $0.subscribe(to: topic, at: $1, into: &$2) }
  }

  mutating func want(noMore topic: String) {
    if let count = wanted[topic] { wanted[topic] = count == 1 ? nil : count - 1 }
    if wanted[topic] == nil { forget(topic) }
    run("unsubscribe \(topic)") { $0.unsubscribe(from: topic, at: $1, into: &$2) }
  }

  mutating func forget(_ topic: String) {
    wanted[topic] = nil
    delivered[topic] = nil
    mayJump.remove(topic)
    gapSeen.remove(topic)
  }
}
