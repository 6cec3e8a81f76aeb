// What comes from outside: the transport, the session, the credentials provider. The epoch guard in
// `dispatch` has let through only what belongs to the current attempt (I2).

extension Machine {
  @inline(always)
  mutating func transportReported(
    _ event: TransportEvent, into effects: inout Effects
  ) -> Disposition {
    switch event {
    case .opened:
      return opened(into: &effects)
    case .failed(let cause):
      linkFailed(because: cause, into: &effects)
      return .accepted
    case .closed(let code):
      linkFailed(because: .closedByPeer(code), into: &effects)
      return .accepted
    case .received, .pong:
      // Before the open there is no silence to break; the connect deadline alone judges.
      guard primary?.stage != .connecting else { return .ignored(.redundant) }
      primary?.hear(at: now)
      return .accepted
    case .written(let id):
      return settled(through: id, promise: .atMostOnce, as: .written, into: &effects)
    case .acknowledged(let id):
      return settled(through: id, promise: .atLeastOnce, as: .acknowledged, into: &effects)
    case .writabilityChanged(let writable):
      guard primary?.writable != writable else { return .ignored(.redundant) }
      primary?.writable = writable
      launchWaiting(into: &effects)
      return .accepted
    }
  }

  private mutating func opened(into effects: inout Effects) -> Disposition {
    guard let link = primary, link.stage == .connecting else { return .ignored(.redundant) }
    if policy.sessionDeadline == nil {
      open(into: &effects)
    } else {
      primary?.authenticate(at: now)
      effects.append(.startSession(link.epoch))
    }
    return .accepted
  }

  @inline(always)
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
    _ event: SessionEvent, into effects: inout Effects
  ) -> Disposition {
    guard let link = primary, link.stage == .authenticating else { return .ignored(.redundant) }
    switch event {
    case .ready: open(into: &effects)
    case .refused:
      cut(because: .sessionRefused, into: &effects)
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
    case .unavailable: credentialsFailed(because: .credentialsUnavailable, into: &effects)
    case .refused: credentialsFailed(because: .credentialsRefused, into: &effects)
    }
    return .accepted
  }
}
