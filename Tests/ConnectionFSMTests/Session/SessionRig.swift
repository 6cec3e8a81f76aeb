import ConnectionFSM

/// A session whose actions read as text, link and words: "1 < login", "1 ready", "got pub a 1".
struct SessionRig {
  var session: Session
  var now = Instant.origin

  init(_ dialect: WordsDialect = WordsDialect(), _ settings: SessionSettings = .plain) {
    session = Session(dialect, settings)
  }

  /// One whose first link is open.
  static func open(
    _ dialect: WordsDialect = WordsDialect(), settings: SessionSettings = .plain,
    topics: [String] = []
  ) -> SessionRig {
    var rig = SessionRig(dialect, settings)
    for topic in topics { rig.subscribe(topic) }
    rig.start(1)
    if dialect.logsIn { rig.hear(1, "accepted t1") }
    rig.opened(1)
    for topic in topics { rig.hear(1, "subbed \(topic)") }
    return rig
  }

  @discardableResult
  mutating func start(_ link: UInt64, resuming: Bool = false, with: Credentials? = nil) -> String {
    run { $0.start(Epoch(link), resuming: resuming, with: with, at: $1, into: &$2) }
  }

  @discardableResult
  mutating func hear(_ link: UInt64, _ words: String) -> String {
    run { $0.receive(Message(words), on: Epoch(link), at: $1, into: &$2) }
  }

  @discardableResult
  mutating func opened(_ link: UInt64) -> String {
    run { $0.opened(Epoch(link), at: $1, into: &$2) }
  }

  @discardableResult
  mutating func ended(_ link: UInt64) -> String {
    run { $0.ended(Epoch(link), at: $1, into: &$2) }
  }

  @discardableResult
  mutating func subscribe(_ topic: String) -> String {
    run { $0.subscribe(to: topic, at: $1, into: &$2) }
  }

  @discardableResult
  mutating func unsubscribe(_ topic: String) -> String {
    run { $0.unsubscribe(from: topic, at: $1, into: &$2) }
  }

  mutating func request(_ timeout: TimeSpan, survivesLink: Bool = false) -> UInt64? {
    session.beginRequest(timeout: timeout, survivesLink: survivesLink, at: now)
  }

  /// Lets time pass, and serves the deadlines in it.
  mutating func wait(_ span: TimeSpan) -> String {
    let end = now + span
    var told: [String] = []
    while let deadline = session.nextDeadline, deadline <= end {
      now = max(now, deadline)
      told.append(run { $0.deadlineReached(at: $1, into: &$2) })
    }
    now = end
    return told.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  mutating func run(_ step: (inout Session, Instant, inout [SessionAction]) -> Void) -> String {
    var actions: [SessionAction] = []
    step(&session, now, &actions)
    return actions.map(render).joined(separator: ", ")
  }
}

func render(_ action: SessionAction) -> String {
  switch action {
  case .send(let epoch, let message): "\(epoch.rawValue) < \(message.text)"
  case .report(let epoch, let event): "\(epoch.rawValue) \(event)"
  case .deliver(let message, let topic?): "\(topic) got \(message.text)"
  case .deliver(let message, nil): "got \(message.text)"
  case .acknowledged(let epoch, let number): "\(epoch.rawValue) acked \(number)"
  case .answered(let id, let message): "#\(id) \(message.text)"
  case .requestFailed(let id, let failure): "#\(id) \(failure)"
  case .topicRefused(let topic, let reason): "\(topic) refused: \(reason)"
  }
}

extension SessionSettings {
  static let plain = made()

  /// Every measure by name, so that no test leans on a default.
  static func made(
    batch: Int = 100, rate: Int? = nil, burst: Int = 5, confirmation: TimeSpan? = .seconds(5),
    window: Int = 16, requests: Int = 16
  ) -> SessionSettings {
    SessionSettings(
      topicsPerMessage: batch, messagesPerSecond: rate, burst: burst,
      confirmationTimeout: confirmation, deduplicationWindow: window, requestLimit: requests)
  }
}
