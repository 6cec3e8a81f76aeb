/// Which earlier step led to each step of a trace, found out while the trace is made.
///
/// A deadline was set by the step since which it stood as it was served: that of the state if it is
/// due, else the queue's. An answer belongs to the
/// step that asked: of a transport the dial, the close, the ping of that number or the transmission
/// of that message; of a session its start; of a credentials provider the request. Wishes of the
/// application and conditions of the device have no earlier step: each begins a chain.
///
/// It remembers what may still be answered: of the eight latest attempts the questions,
/// and of messages those that have no end. What is answered later than that begins a chain too.
public struct Causality: Equatable, Sendable {
  // Answers of attempts that are over are races of a moment: they come within an attempt or two.
  package static let attemptLimit = 8
  // Pings whose answers never come: a link dies of the second at the latest.
  static let pingLimit = 8

  private var attempts: [Attempt] = []
  /// The state's own deadline, which the queue's may hide.
  private var own: Deadline?
  private var next: Deadline?

  /// Makes one for a trace, or for the rest of one.
  public init() {}

  /// Takes the next step of the trace.
  /// - Returns: The sequence of the step that led to it; nil where the step begins a chain.
  public mutating func parent(of record: TraceRecord) -> UInt64? {
    let parent = find(record)
    own = own.following(record.explanation.until, in: record.sequence)
    next = next.following(record.nextDeadline, in: record.sequence)
    for effect in record.effects { note(effect, in: record.sequence) }
    return parent
  }
}

extension Causality {
  fileprivate struct Deadline: Equatable {
    let at: Instant
    let since: UInt64
  }

  /// The questions of one attempt: each the step that asked.
  private struct Attempt: Equatable {
    let epoch: Epoch
    var credentials: UInt64?
    var dial: UInt64?
    var session: UInt64?
    var close: UInt64?
    var pings: [Ping] = []
    var transmissions: [Transmission] = []

    /// The step that asked for what the transport says; nil where nobody asked.
    func question(behind event: TransportEvent) -> UInt64? {
      switch event {
      case .opened, .received, .writabilityChanged, .viabilityChanged, .drainRequested,
        .betterPathAvailable:
        nil
      case .failed, .closed: close
      case .pong(let number): pings.first { $0.number == number }?.step
      case .written(let id), .acknowledged(let id):
        // The latest: a message may be given to a link but once, a range may name it after its end.
        transmissions.last { $0.range.contains(id) }?.step
      }
    }

    /// Forgets the transmissions of messages that have all ended: a peer confirms in order.
    mutating func forget(through id: MessageID) {
      transmissions.removeAll { $0.range.last <= id && $0.range.last.lane == id.lane }
    }
  }

  private struct Ping: Equatable {
    let number: UInt32
    let step: UInt64
  }

  private struct Transmission: Equatable {
    let range: MessageRange
    let step: UInt64
  }

  private func find(_ record: TraceRecord) -> UInt64? {
    switch record.input {
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced:
      return nil
    case .deadlineReached:
      // One that came early was armed for a deadline that has moved since: nothing led to it.
      guard let next, record.instant >= next.at else { return nil }
      if let own, record.instant >= own.at { return own.since }
      return next.since
    case .credentials(let epoch, _): return attempt(epoch)?.credentials
    case .session(let epoch, _):
      guard let attempt = attempt(epoch) else { return nil }
      return attempt.session ?? attempt.dial
    case .transport(let epoch, let event):
      guard let attempt = attempt(epoch) else { return nil }
      return attempt.question(behind: event) ?? attempt.dial
    }
  }

  private func attempt(_ epoch: Epoch) -> Attempt? { attempts.last { $0.epoch == epoch } }

  private mutating func note(_ effect: Effect, in step: UInt64) {
    switch effect {
    case .requestCredentials(let epoch): update(epoch) { $0.credentials = step }
    case .openTransport(let epoch, _): update(epoch) { $0.dial = step }
    case .startSession(let epoch, _): update(epoch) { $0.session = step }
    case .closeTransport(let epoch): update(epoch) { $0.close = step }
    case .sendPing(let epoch, let number), .sendBeat(let epoch, let number):
      update(epoch) { attempt in
        attempt.pings.append(Ping(number: number, step: step))
        if attempt.pings.count > Self.pingLimit { attempt.pings.removeFirst() }
      }
    case .transmit(let epoch, let range):
      update(epoch) { $0.transmissions.append(Transmission(range: range, step: step)) }
    case .settle(let range, .written), .settle(let range, .acknowledged):
      for place in attempts.indices { attempts[place].forget(through: range.last) }
    case .ended(let epoch, _):
      update(epoch) { attempt in
        attempt.pings = []
        attempt.transmissions = []
      }
    case .abortTransport, .settle, .pressureChanged: break
    }
  }

  private mutating func update(_ epoch: Epoch, _ change: (inout Attempt) -> Void) {
    let place: Int
    if let known = attempts.lastIndex(where: { $0.epoch == epoch }) {
      place = known
    } else {
      if attempts.count == Self.attemptLimit { attempts.removeFirst() }
      attempts.append(Attempt(epoch: epoch))
      place = attempts.count - 1
    }
    change(&attempts[place])
  }
}

extension Causality.Deadline? {
  /// The deadline after a step: the same while it stands at the same instant.
  fileprivate func following(_ instant: Instant?, in step: UInt64) -> Self {
    self?.at == instant ? self : instant.map { Causality.Deadline(at: $0, since: step) }
  }
}
