// What the session says by itself, as fast as it may (F50): what is wanted, what is missing, what
// has come.

extension Session {
  /// One message that the session wants to send.
  enum Errand {
    case unsubscribe(Int)
    case subscribe(Int)
    case repetition(Int)
    case recovery
    case acknowledgement(Int)
  }

  /// What is said next; nil if there is nothing to say.
  ///
  /// What ends comes before what begins, for peers that count topics. Acknowledgements have every
  /// second turn, so that neither a flood of messages nor a storm of subscriptions silences the
  /// other.
  var nextErrand: Errand? {
    let acknowledgement = links.firstIndex { $0.mayTalk && $0.owesAcknowledgement }
      .map { Errand.acknowledgement($0) }
    if let acknowledgement, !acknowledgedLast { return acknowledgement }
    return nextQuestion ?? acknowledgement
  }

  private var nextQuestion: Errand? {
    if let place = links.firstIndex(where: { !$0.toUnsubscribe.isEmpty }) {
      return .unsubscribe(place)
    }
    if let place = links.firstIndex(where: { !$0.toSubscribe.isEmpty }) {
      return .subscribe(place)
    }
    // Nothing that is not wanted any more is in there: its end was said before.
    if let place = links.firstIndex(where: { !$0.toRepeat.isEmpty }) { return .repetition(place) }
    return gaps.toAsk.isEmpty ? nil : .recovery
  }

  /// Says what there is to say, and reports a link ready right after the last it waits for.
  mutating func talk(at now: Instant, into actions: inout [SessionAction]) {
    reportReady(into: &actions)
    while let errand = nextErrand, bucket.take(at: now) {
      run(errand, at: now, into: &actions)
      reportReady(into: &actions)
    }
  }

  private mutating func reportReady(into actions: inout [SessionAction]) {
    for place in links.indices where links[place].stage == .subscribing {
      guard links[place].isSettled else { continue }
      links[place].stage = .ready
      let event: SessionEvent = links[place].isResumed ? .resumed : .ready
      actions.append(.report(links[place].epoch, event))
    }
  }

  private mutating func run(
    _ errand: Errand, at now: Instant, into actions: inout [SessionAction]
  ) {
    acknowledgedLast = false
    switch errand {
    case .unsubscribe(let place): sendUnsubscribe(on: place, at: now, into: &actions)
    case .subscribe(let place): sendSubscribe(on: place, at: now, into: &actions)
    case .repetition(let place):
      let topics = links[place].takeRepeated(settings.topicsPerMessage, at: now)
      actions.append(.send(links[place].epoch, dialect.subscribe(to: topics)))
    case .recovery: sendRecovery(at: now, into: &actions)
    case .acknowledgement(let place):
      acknowledgedLast = true
      links[place].owesAcknowledgement = false
      guard let number = inboxes.through(in: links[place].inbox),
        let message = dialect.acknowledgement(through: number)
      else { return }
      actions.append(.send(links[place].epoch, message))
    }
  }

  private mutating func sendUnsubscribe(
    on place: Int, at now: Instant, into actions: inout [SessionAction]
  ) {
    let topics = links[place].takeUnsubscribed(
      settings.topicsPerMessage, at: now, within: settings.confirmationTimeout)
    actions.append(.send(links[place].epoch, dialect.unsubscribe(from: topics)))
    // What is wanted nevertheless had a gap that could not be filled.
    for topic in topics where wanted.contains(topic) {
      lastNumbers[topic] = nil
      gaps.close(topic)
      links[place].change(topic, isWanted: true)
    }
  }

  private mutating func sendSubscribe(
    on place: Int, at now: Instant, into actions: inout [SessionAction]
  ) {
    let others = links.indices.filter { $0 != place }.map { links[$0] }
    let topics = links[place].takeSubscribed(
      settings.topicsPerMessage, at: now,
      awaitsConfirmation: settings.confirmationTimeout != nil
    ) { topic in others.contains { $0.asked.contains(topic) } }
    actions.append(.send(links[place].epoch, dialect.subscribe(to: topics)))
  }

  private mutating func sendRecovery(at now: Instant, into actions: inout [SessionAction]) {
    guard let (topic, gap) = gaps.popToAsk(at: now), let last = lastNumbers[topic],
      let message = dialect.recover(topic, after: last)
    else { return }
    actions.append(.send(gap.epoch, message))
  }
}
