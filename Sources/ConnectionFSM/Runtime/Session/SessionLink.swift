/// What a session knows of one link: how far it is, and what the peer has been told on it.
struct SessionLink {
  enum Stage {
    /// The login is on its way. Leads to subscribing or refused.
    case loggingIn
    /// What is wanted is being asked for. Leads to ready.
    case subscribing
    /// Messages of the application may flow.
    case ready
    /// The login, or the old session, was refused: nothing more is said.
    case refused
  }

  let epoch: Epoch
  /// Whether the session of the link before was asked for.
  let resumes: Bool
  var stage = Stage.loggingIn
  /// Whether the session of the link before goes on here.
  var isResumed = false
  /// Another link has taken over: nothing is asked for here any more.
  private(set) var isRetired = false
  /// What resumes this session.
  var token: ResumeToken?
  /// Which inbox its numbers belong to.
  var inbox: Int
  /// Numbered messages have come since the last acknowledgement.
  var owesAcknowledgement = false

  /// What the peer was asked for here and not told to end.
  private(set) var asked = TopicTable<Row>()
  /// What is asked for and not confirmed, and since when; the longest first.
  private(set) var unconfirmed = TopicTable<Instant>()
  /// What was ended lately without a confirmation; the longest ago first.
  private(set) var ending = TopicTable<Ending>()

  // What is to be said next. Nothing is in both of the first two.
  private(set) var toSubscribe = TopicList()
  private(set) var toUnsubscribe = TopicList()
  private(set) var toRepeat = TopicList()

  /// Where the numbers of a topic are on this link.
  enum Row {
    /// It has brought none yet, and the first may be any.
    case fresh
    /// It has brought none yet that was new, and goes on where another link is: it may lag behind.
    case joining
    /// It has brought one that was new.
    case running
  }

  /// Ends of a topic that wait for their confirmations.
  struct Ending {
    let last: Instant
    let count: Int
  }

  init(_ epoch: Epoch, resumes: Bool, inbox: Int) {
    self.epoch = epoch
    self.resumes = resumes
    self.inbox = inbox
  }

  /// Whether the session may say something here.
  var mayTalk: Bool { stage == .subscribing || stage == .ready }

  /// Whether changes of what is wanted are said here.
  var takesChanges: Bool { mayTalk && !isRetired }

  /// Whether all that is wanted was asked for.
  var isSettled: Bool { toSubscribe.isEmpty && toUnsubscribe.isEmpty }
}

// MARK: What is wanted

extension SessionLink {
  /// A topic has become wanted, or is not wanted any more. What cancels out says nothing.
  mutating func change(_ topic: String, isWanted: Bool) {
    switch (isWanted, asked.contains(topic)) {
    case (true, true): toUnsubscribe.remove(topic)
    case (true, false): toSubscribe.insert(topic)
    case (false, true): toUnsubscribe.insert(topic)
    case (false, false): toSubscribe.remove(topic)
    }
  }

  /// The peer has this one as of the link before.
  mutating func inherit(_ topic: String) { asked[topic] = .running }

  /// Has a topic ended and asked for anew; false if it is not asked for yet anyway.
  mutating func renew(_ topic: String) -> Bool {
    guard takesChanges, asked.contains(topic) else { return false }
    toUnsubscribe.insert(topic)
    return true
  }

  /// The peer does not give it.
  mutating func forget(_ topic: String) {
    asked.remove(topic)
    unconfirmed.remove(topic)
    toRepeat.remove(topic)
    toSubscribe.remove(topic)
    toUnsubscribe.remove(topic)
  }

  mutating func retire() {
    isRetired = true
    unconfirmed.removeAll()
    toSubscribe.removeAll()
    toUnsubscribe.removeAll()
    toRepeat.removeAll()
  }

  /// A new message of this topic came, on this link or on the other.
  mutating func advance(_ topic: String, isHere: Bool) {
    guard let row = asked[topic] else { return }
    if isHere { asked[topic] = .running } else if row == .fresh { asked[topic] = .joining }
  }
}

// MARK: What is said

extension SessionLink {
  mutating func takeUnsubscribed(_ limit: Int, at now: Instant, within timeout: TimeSpan?)
    -> [String]
  {
    let topics = toUnsubscribe.popFirst(limit)
    for topic in topics {
      asked.remove(topic)
      unconfirmed.remove(topic)
      toRepeat.remove(topic)
      // Only a peer that confirms can leave it open whether the topic has ended.
      guard timeout != nil else { continue }
      ending.append(topic, Ending(last: now, count: 1 + (ending[topic]?.count ?? 0)))
    }
    // Some peers never say so.
    while let timeout, let first = ending.first, now - first.value.last >= timeout {
      ending.remove(first.topic)
    }
    return topics
  }

  mutating func takeRepeated(_ limit: Int, at now: Instant) -> [String] {
    let topics = toRepeat.popFirst(limit)
    for topic in topics { unconfirmed.append(topic, now) }
    return topics
  }

  mutating func takeSubscribed(
    _ limit: Int, at now: Instant, awaitsConfirmation: Bool, carriedElsewhere: (String) -> Bool
  ) -> [String] {
    let topics = toSubscribe.popFirst(limit)
    for topic in topics {
      asked[topic] = carriedElsewhere(topic) ? .joining : .fresh
      if awaitsConfirmation { unconfirmed.append(topic, now) }
    }
    return topics
  }
}

// MARK: What the peer says

extension SessionLink {
  /// The peer has confirmed a topic.
  ///
  /// 1. subscribe, unsubscribe and subscribe are sent; 2. the answer to the first comes. Taken for
  /// that to the last it would stand also if the last is lost, and the topic would be dead. So it
  /// counts once the answer to the second has come, or cannot come any more.
  mutating func confirm(_ topic: String, at now: Instant, within timeout: TimeSpan) {
    if let ending = ending[topic], now - ending.last < timeout { return }
    unconfirmed.remove(topic)
    toRepeat.remove(topic)
  }

  /// The peer has ended a topic: as it was told, or by itself.
  ///
  /// It is not asked for at once again, but after the time in which the answer to the last question
  /// must come. That also keeps a peer that throws us out each time from being asked without a
  /// pause.
  mutating func ended(_ topic: String, at now: Instant) {
    if let ending = ending[topic] {
      self.ending[topic] =
        ending.count > 1 ? Ending(last: ending.last, count: ending.count - 1) : nil
    }
    guard asked.contains(topic), !unconfirmed.contains(topic), !toRepeat.contains(topic)
    else { return }
    asked[topic] = .fresh
    unconfirmed.append(topic, now)
  }

  /// What was not confirmed in time is asked for again.
  mutating func repeatOverdue(at now: Instant, after timeout: TimeSpan) {
    while let first = unconfirmed.first, now - first.value >= timeout {
      unconfirmed.remove(first.topic)
      toRepeat.insert(first.topic)
    }
  }
}
