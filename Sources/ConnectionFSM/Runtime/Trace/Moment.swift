/// What a step meant, in the words of an application: no step is told twice, and what the
/// application must tell apart has different names.
///
/// A machine that waits for its next try is ``waiting(for:until:attempt:cause:)``, once for each
/// wait; one that stopped trying is ``closed(_:_:)`` (RC161, RC206).
public enum Moment: Equatable, Sendable {
  /// A dial was made: as this epoch, with this number since the last reset, to that endpoint. One
  /// that probes a path which is said to be down, or that is to replace an open link, is not
  /// counted and repeats a number.
  case attemptStarted(Epoch, number: UInt32, EndpointID)
  /// The dial of this epoch led to no open link.
  case attemptFailed(Epoch, Cause)
  /// The link of this epoch is open: messages flow.
  case opened(Epoch)
  /// The link of this epoch, which had opened, is over.
  case linkEnded(Epoch, Cause)
  /// A wait or a hold began: for what, until when the machine will act by itself (nil if only an
  /// event from outside helps), how many dials there were since the last reset, and the cause of
  /// the last end in this run.
  case waiting(for: Explanation.Wait, until: Instant?, attempt: UInt32, cause: Cause?)
  /// The machine came to rest: the application closed, or it gave up.
  case closed(Machine.Closed.Reason, Cause)
  /// A message was turned away at the door.
  case messageRejected(LaneID, Rejection)
  /// Those of these messages that had no end yet ended.
  case messagesEnded(MessageRange, Outcome)
  /// The input changed nothing.
  case ignored(IgnoreReason)
}

extension TraceRecord {
  /// What the step meant, in order; mostly nothing or one thing.
  ///
  /// What became of attempts and messages stands in the order of the effects; what the machine does
  /// thereafter (waits, rests) comes last.
  public var moments: [Moment] {
    var moments: [Moment] = []
    if let openAfter, openAfter != openBefore { moments.append(.opened(openAfter)) }
    for effect in effects {
      if let moment = moment(of: effect) { moments.append(moment) }
    }
    switch disposition {
    case .accepted, .taken: break
    case .rejected(let rejection):
      if case .offer(let lane, _) = input { moments.append(.messageRejected(lane, rejection)) }
    case .ignored(let reason): moments.append(.ignored(reason))
    }
    if let entered, let moment = moment(of: entered) { moments.append(moment) }
    return moments
  }

  private func moment(of effect: Effect) -> Moment? {
    switch effect {
    case .openTransport(let epoch, let endpoint):
      .attemptStarted(epoch, number: attempt, endpoint)
    case .ended(let epoch, let cause):
      // Epochs rise: one above that of the open link is of a replacement that never opened.
      if let openBefore, epoch <= openBefore {
        .linkEnded(epoch, cause)
      } else {
        .attemptFailed(epoch, cause)
      }
    case .settle(let range, let outcome): .messagesEnded(range, outcome)
    case .requestCredentials, .startSession, .closeTransport, .abortTransport, .sendPing,
      .sendBeat, .transmit, .pressureChanged:
      nil
    }
  }

  private func moment(of state: Machine.State) -> Moment? {
    switch state {
    case .idle, .linked: nil
    case .closed(let closed): .closed(closed.reason, closed.cause)
    case .offline, .backingOff, .waitingForCredentials, .suspended:
      .waiting(
        for: explanation.waitsFor, until: explanation.until, attempt: attempt,
        cause: explanation.cause)
    }
  }
}

extension Moment: CustomStringConvertible {
  /// One line for people, in the notation of traces.
  public var description: String {
    switch self {
    case .attemptStarted(let epoch, let number, let endpoint):
      "attempt \(number) started: \(epoch) to \(endpoint)"
    case .attemptFailed(let epoch, let cause): "attempt failed: \(epoch) \(cause)"
    case .opened(let epoch): "opened: \(epoch)"
    case .linkEnded(let epoch, let cause): "link ended: \(epoch) \(cause)"
    case .waiting(let what, let until, let attempt, let cause):
      "waiting for \(what)\(until.map { " until \($0)" } ?? "") "
        + "(attempt \(attempt)\(cause.map { ", \($0)" } ?? ""))"
    case .closed(let reason, let cause): "closed: \(reason), \(cause)"
    case .messageRejected(let lane, let rejection):
      "message for lane \(lane.rawValue) rejected: \(rejection)"
    case .messagesEnded(let range, let outcome): "messages ended: \(range) \(outcome)"
    case .ignored(let reason): "ignored: \(reason)"
    }
  }
}
