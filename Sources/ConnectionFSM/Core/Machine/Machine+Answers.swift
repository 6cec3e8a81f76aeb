// What comes from outside: the transport, the session, the credentials provider. The epoch guard in
// `dispatch` has let through only what belongs to the current attempt (I2).

extension Machine {
  mutating func transportReported(
    _ event: TransportEvent, of link: Link, into effects: inout Effects
  ) -> Disposition {
    switch event {
    case .opened:
      guard link.stage == .connecting else { return .ignored(.redundant) }
      guard policy.sessionDeadline != nil else {
        open(into: &effects)
        return .accepted
      }
      primary?.authenticate(at: now)
      effects.append(.startSession(link.epoch))
      return .accepted
    case .failed(let cause):
      linkFailed(link, because: cause, into: &effects)
      return .accepted
    case .closed(let code):
      linkFailed(link, because: .closedByPeer(code), into: &effects)
      return .accepted
    case .received, .pong:
      // Before the open there is no silence to break; the connect deadline alone judges.
      guard link.stage != .connecting else { return .ignored(.redundant) }
      primary?.hear(at: now)
      return .accepted
    case .written(let id):
      return settled(through: id, promise: .atMostOnce, as: .written, into: &effects)
    case .acknowledged(let id):
      return settled(through: id, promise: .atLeastOnce, as: .acknowledged, into: &effects)
    case .writabilityChanged(let writable):
      guard link.writable != writable else { return .ignored(.redundant) }
      primary?.writable = writable
      launchWaiting(into: &effects)
      return .accepted
    }
  }

  private mutating func settled(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome, into effects: inout Effects
  ) -> Disposition {
    // An at-least-once message that was written still waits for its acknowledgement: redundant.
    let ended = queue.settle(
      through: id, promise: promise, as: outcome, into: &effects)
    guard ended else { return .ignored(.redundant) }
    launchWaiting(into: &effects)
    return .accepted
  }

  private mutating func open(into effects: inout Effects) {
    primary?.open(at: now)
    launchWaiting(into: &effects)
  }

  mutating func sessionReported(
    _ event: SessionEvent, of link: Link, into effects: inout Effects
  ) -> Disposition {
    guard link.stage == .authenticating else { return .ignored(.redundant) }
    switch event {
    case .ready: open(into: &effects)
    case .refused:
      effects.append(.abortTransport(link.epoch))
      linkFailed(link, because: .sessionRefused, into: &effects)
    }
    return .accepted
  }

  mutating func credentialsAnswered(
    _ epoch: Epoch, _ answer: CredentialsAnswer, into effects: inout Effects
  ) -> Disposition {
    guard case .waitingForCredentials(let wait) = state, wait.epoch == epoch else {
      // The second answer for the attempt that runs is not of another epoch; it comes for nothing.
      return .ignored(primary?.epoch == epoch ? .redundant : .staleEpoch)
    }
    switch answer {
    case .available: dial(into: &effects)
    case .unavailable: failed(because: .credentialsUnavailable, into: &effects)
    case .refused: failed(because: .credentialsRefused, into: &effects)
    }
    return .accepted
  }
}
