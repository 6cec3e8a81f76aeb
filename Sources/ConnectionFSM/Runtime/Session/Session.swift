/// What outlives a connection's links: who we are to the peer, which topics are wanted, which
/// numbers have come, and which requests wait. Decides what is said, in what order and when; the
/// words are its dialect's.
///
/// Sans-IO in the manner of the machine: (input, now) in, actions out, one ``nextDeadline``. Early
/// deadlines and double ones do no harm. Two links may live at a time (F54): each has its own stage
/// and its own account of what the peer was told on it; all else is shared. An epoch that is not
/// one of them changes nothing (I2).
package struct Session {
  let dialect: any SessionDialect
  let settings: SessionSettings
  /// Whether the peer is told which of its numbered messages have come.
  let acknowledges: Bool

  var links: [SessionLink] = []
  /// The link that the machine counts as the open one.
  var openEpoch: Epoch?
  /// What the last open link left, for the next to resume.
  var remains: SessionRemains?
  var inboxes: InboxShelf
  var bucket: TokenBucket
  /// Whether the last thing said was an acknowledgement: something else has its turn.
  var acknowledgedLast = false

  /// What is wanted, and by how many, in the order in which it was first asked for.
  var wanted = TopicTable<Int>()
  /// The number of the last message of each topic that was delivered.
  var lastNumbers: [String: UInt64] = [:]
  var gaps = GapTable()
  var requests: RequestTable

  /// Makes a session whose settings are valid.
  /// - Parameter firstRequest: The id of the first request.
  package init(
    _ dialect: any SessionDialect, _ settings: SessionSettings, firstRequest: UInt64 = 1
  ) {
    self.dialect = dialect
    self.settings = settings
    acknowledges = dialect.acknowledgement(through: 1) != nil
    inboxes = InboxShelf(window: settings.deduplicationWindow)
    bucket = TokenBucket(
      messagesPerSecond: settings.messagesPerSecond, burst: settings.burst)
    requests = RequestTable(limit: settings.requestLimit, firstID: firstRequest)
  }
}

// MARK: What the peer says

extension Session {
  /// A message of the peer's came.
  package mutating func receive(
    _ message: Message, on epoch: Epoch, at now: Instant, into actions: inout [SessionAction]
  ) {
    guard let place = place(of: epoch) else { return }
    switch dialect.read(message) {
    case .accepted(let token): accepted(token, on: place)
    case .resumed(let token): resumed(token, on: place)
    case .resumeRefused: resumeRefused(on: place, into: &actions)
    case .refused(let refusal): refused(refusal, on: place, into: &actions)
    case .token(let token): links[place].token = token
    case .subscribed(let topics): subscribed(topics, on: place, at: now)
    case .unsubscribed(let topics): unsubscribed(topics, on: place, at: now)
    case .topicRefused(let topic, let reason):
      topicRefused(topic, because: reason, on: place, into: &actions)
    case .published(let topic, let number?, let message):
      published(message, number, of: topic, on: place, at: now, into: &actions)
    case .published(let topic, nil, let message):
      published(message, of: topic, on: place, into: &actions)
    case .snapshot(let topic, let number, let message):
      snapshot(message, number, of: topic, on: place, at: now, into: &actions)
    case .numbered(let number, let message):
      numbered(message, number, on: place, into: &actions)
    case .acknowledged(let number): actions.append(.acknowledged(epoch, through: number))
    case .response(let id, let message):
      // One that comes after its time is over is dropped.
      if requests.end(id) { actions.append(.answered(id, message)) }
    case .application(let message): actions.append(.deliver(message, topic: nil))
    case .nothing: break
    }
    talk(at: now, into: &actions)
  }

  private mutating func numbered(
    _ message: Message, _ number: UInt64, on place: Int, into actions: inout [SessionAction]
  ) {
    if inboxes.take(number, in: links[place].inbox) {
      actions.append(.deliver(message, topic: nil))
    }
    // Also for one that came twice: the peer has lost our word for it.
    links[place].owesAcknowledgement = acknowledges
  }

  func place(of epoch: Epoch) -> Int? { links.firstIndex { $0.epoch == epoch } }
}

// MARK: Requests

extension Session {
  /// Begins a request; nil if as many as may be wait for their answers.
  package mutating func beginRequest(
    timeout: TimeSpan, survivesLink: Bool, at now: Instant
  ) -> UInt64? {
    requests.begin(deadline: now + timeout, survivesLink: survivesLink)
  }

  /// The request was given to that link.
  package mutating func requestGiven(_ id: UInt64, to epoch: Epoch) {
    requests.give(id, to: epoch)
  }

  /// The request has ended elsewhere: it was not sent, or was taken back.
  package mutating func endRequest(_ id: UInt64) { _ = requests.end(id) }
}

// MARK: Time

extension Session {
  /// When ``deadlineReached(at:into:)`` is wanted; nil if nothing waits for time alone.
  package var nextDeadline: Instant? {
    var next = Instant.never
    if let deadline = requests.nextDeadline { next = min(next, deadline) }
    if let asked = gaps.firstAskedAt { next = min(next, asked + settings.recoveryTimeout) }
    if let timeout = settings.confirmationTimeout {
      for link in links {
        if let asked = link.unconfirmed.first?.value { next = min(next, asked + timeout) }
      }
    }
    if nextErrand != nil { next = min(next, bucket.nextTokenAt) }
    return next == .never ? nil : next
  }

  /// The time has come.
  package mutating func deadlineReached(at now: Instant, into actions: inout [SessionAction]) {
    while let id = requests.popDue(at: now) { actions.append(.requestFailed(id, .timedOut)) }
    if let timeout = settings.confirmationTimeout {
      for place in links.indices { links[place].repeatOverdue(at: now, after: timeout) }
    }
    while let topic = gaps.popAsked(before: now, settings.recoveryTimeout) { renew(topic) }
    talk(at: now, into: &actions)
  }
}

extension SessionSettings {
  /// How long a recovery may bring nothing. A protocol without confirmations still has gaps, and
  /// nothing else would end the wait for a peer that never fills one.
  var recoveryTimeout: TimeSpan { confirmationTimeout ?? .seconds(5) }
}
