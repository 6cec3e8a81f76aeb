import ConnectionFSM

/// What a trace amounts to, as spans: how long each phase, attempt, ping and message lasted.
///
/// What began before the trace's first step is not known; what has no end in it goes on to its end.
struct Chronicle: Sendable {
  struct PhaseSpan: Sendable {
    let phase: Phase
    let start: Instant
    var end: Instant
    /// What led to it.
    let cause: Cause?
    /// The step that led to it.
    let step: UInt64
  }

  /// An attempt, and the link that it led to.
  struct Attempt: Sendable {
    let epoch: Epoch
    let endpoint: EndpointID
    let dialled: Instant
    /// When messages could flow.
    var opened: Instant?
    var ended: Instant?
    var cause: Cause?
    /// The step that dialled.
    let step: UInt64
  }

  struct Ping: Sendable {
    let epoch: Epoch
    let number: UInt32
    let sent: Instant
    var answered: Instant?
    /// When the next ping was sent, or the link ended, without an answer.
    var ended: Instant?
    /// The step that sent it.
    let step: UInt64
  }

  struct Message: Sendable {
    let id: MessageID
    let byteCount: UInt32
    let taken: Instant
    /// When it was given to a link, and to which.
    var transmissions: [(instant: Instant, epoch: Epoch)] = []
    var ended: Instant?
    var outcome: Outcome?
  }

  struct Note: Sendable {
    let instant: Instant
    let text: String
  }

  private(set) var phases: [PhaseSpan] = []
  private(set) var attempts: [Attempt] = []
  private(set) var pings: [Ping] = []
  private(set) var messages: [Message] = []
  private(set) var notes: [Note] = []
  /// How many messages had no end, from that instant on.
  private(set) var depths: [(instant: Instant, count: Int)] = []
  private(set) var start: Instant?
  private(set) var end = Instant.origin
  // Places in the lists above of what goes on.
  private var liveAttempts: [Int] = []
  private var livePings: [Int] = []
  private var liveMessages: [Int] = []

  mutating func note(_ text: String, at instant: Instant) {
    notes.append(Note(instant: instant, text: text))
    reach(instant)
  }

  mutating func add(_ record: TraceRecord) {
    reach(record.instant)
    notePhase(record)
    noteInput(record)
    for effect in record.effects { note(effect, record) }
    if let epoch = record.openAfter, epoch != record.openBefore {
      change(epoch) { $0.opened = record.instant }
    }
    if depths.last?.count != liveMessages.count {
      if depths.last?.instant == record.instant { depths.removeLast() }
      depths.append((record.instant, liveMessages.count))
    }
  }

  private mutating func reach(_ instant: Instant) {
    if start == nil { start = instant }
    end = max(end, instant)
    if !phases.isEmpty { phases[phases.count - 1].end = end }
  }

  private mutating func notePhase(_ record: TraceRecord) {
    if phases.isEmpty { add(record.from, since: start ?? record.instant, record, cause: nil) }
    guard record.from != record.to else { return }
    phases[phases.count - 1].end = record.instant
    add(record.to, since: record.instant, record, cause: record.cause)
  }

  private mutating func add(
    _ phase: Phase, since instant: Instant, _ record: TraceRecord, cause: Cause?
  ) {
    phases.append(
      PhaseSpan(phase: phase, start: instant, end: end, cause: cause, step: record.sequence))
  }

  private mutating func noteInput(_ record: TraceRecord) {
    switch record.input {
    case .offer(_, let byteCount):
      guard case .taken(let id) = record.disposition else { return }
      liveMessages.append(messages.count)
      messages.append(Message(id: id, byteCount: byteCount, taken: record.instant))
    case .transport(let epoch, .pong(let number)):
      let place = livePings.firstIndex {
        pings[$0].epoch == epoch && pings[$0].number == number
      }
      guard let place else { return }
      pings[livePings.remove(at: place)].answered = record.instant
    case .connect, .close, .drain, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials, .session, .transport:
      return
    }
  }

  private mutating func note(_ effect: Effect, _ record: TraceRecord) {
    switch effect {
    case .openTransport(let epoch, let endpoint):
      liveAttempts.append(attempts.count)
      attempts.append(
        Attempt(
          epoch: epoch, endpoint: endpoint, dialled: record.instant, step: record.sequence))
    case .sendPing(let epoch, let number), .sendBeat(let epoch, let number):
      // Of two that wait, a late answer may still be that of the first.
      for place in livePings where pings[place].epoch == epoch && pings[place].ended == nil {
        pings[place].ended = record.instant
      }
      livePings.append(pings.count)
      pings.append(
        Ping(epoch: epoch, number: number, sent: record.instant, step: record.sequence))
    case .transmit(let epoch, let range):
      for place in liveMessages where range.contains(messages[place].id) {
        messages[place].transmissions.append((record.instant, epoch))
      }
    case .settle(let range, let outcome):
      liveMessages.removeAll { place in
        guard range.contains(messages[place].id) else { return false }
        messages[place].ended = record.instant
        messages[place].outcome = outcome
        return true
      }
    case .ended(let epoch, let cause):
      change(epoch) { attempt in
        attempt.ended = record.instant
        attempt.cause = cause
      }
      liveAttempts.removeAll { attempts[$0].epoch == epoch }
      livePings.removeAll { place in
        guard pings[place].epoch == epoch else { return false }
        if pings[place].ended == nil { pings[place].ended = record.instant }
        return true
      }
    case .requestCredentials, .startSession, .closeTransport, .abortTransport, .pressureChanged:
      return
    }
  }

  private mutating func change(_ epoch: Epoch, _ body: (inout Attempt) -> Void) {
    guard let place = liveAttempts.last(where: { attempts[$0].epoch == epoch }) else { return }
    body(&attempts[place])
  }
}
