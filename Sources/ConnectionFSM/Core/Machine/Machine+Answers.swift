// What comes from outside: the transport, the session, the credentials provider. The epoch guard in
// `dispatch` has let through only what belongs to the current attempt (I2).

extension Machine {
  @inline(always)
  mutating func transportReported(
    _ event: TransportEvent, into effects: inout Effects
  ) -> Disposition {
    // Nearly all that is reported; ahead of the jump table.
    if case .received = event {
      // Before the open there is no silence to break; the connect deadline alone judges. Where only
      // a pong counts, nothing else does.
      guard link.stage != .connecting, rhythm.anyByteCounts else { return .ignored(.redundant) }
      link.hear(at: now)
      return .accepted
    }
    switch event {
    case .received: return .ignored(.redundant)
    case .pong(let number):
      guard link.stage != .connecting else { return .ignored(.redundant) }
      heardPong(number)
      return .accepted
    case .written(let id):
      return settled(through: id, promise: .atMostOnce, as: .written, into: &effects)
    case .acknowledged(let id):
      return settled(through: id, promise: .atLeastOnce, as: .acknowledged, into: &effects)
    case .writabilityChanged(let writable):
      guard link.writable != writable else { return .ignored(.redundant) }
      link.writable = writable
      launchWaiting(into: &effects)
      return .accepted
    case .opened: return replan(opened(into: &effects), into: &effects)
    case .failed(let cause):
      linkFailed(because: cause, into: &effects)
      return replan(.accepted, into: &effects)
    case .closed(let code):
      linkFailed(because: .closedByPeer(code), into: &effects)
      return replan(.accepted, into: &effects)
    case .viabilityChanged(let viable):
      guard !viable, primary?.suspect == false, primary?.stage == .open else {
        return .ignored(.redundant)
      }
      doubt(into: &effects)
      return .accepted
    case .drainRequested: return replan(noticed(leavesEndpoint: true), into: &effects)
    case .betterPathAvailable: return replan(noticed(leavesEndpoint: false), into: &effects)
    }
  }

  private mutating func opened(into effects: inout Effects) -> Disposition {
    guard let link = primary, link.stage == .connecting else { return .ignored(.redundant) }
    if now >= resumableUntil { resumableUntil = .origin }
    if policy.sessionDeadline == nil {
      open(into: &effects)
    } else {
      self.link.authenticate(at: now)
      effects.append(.startSession(link.epoch, resuming: now < resumableUntil))
    }
    return .accepted
  }

  @inline(always)
  mutating func settled(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome, onOldLink: Bool = false,
    into effects: inout Effects
  ) -> Disposition {
    let receptive = receptiveEpoch
    // A late timer must not let out what has outlived its time.
    if receptive != nil { queue.expire(at: now, into: &effects) }
    // An at-least-once message that was written still waits for its acknowledgement: redundant.
    let ended = queue.settle(
      through: id, promise: promise, as: outcome, onOldLink: onOldLink, launchingOn: receptive,
      into: &effects)
    if drains { seeOffDrained(into: &effects) }
    return ended || !effects.isEmpty ? .accepted : .ignored(.redundant)
  }

  private mutating func open(into effects: inout Effects) {
    self.link.open(at: now)
    run.connectTimeouts = 0
    resumableUntil = .origin
    linkOpened(into: &effects)
  }

  mutating func sessionReported(
    _ epoch: Epoch, _ event: SessionEvent, into effects: inout Effects
  ) -> Disposition {
    if let standby, standby.epoch == epoch {
      return standbySessionReported(event, into: &effects)
    }
    guard let link = primary, link.epoch == epoch else { return .ignored(.staleEpoch) }
    guard link.stage == .authenticating else { return .ignored(.redundant) }
    switch event {
    case .ready, .resumed: open(into: &effects)
    case .resumeRefused:
      // The link is good, the old session is not: begin anew on it (RC171).
      guard resumableUntil > .origin else { return .ignored(.redundant) }
      resumableUntil = .origin
      self.link.authenticate(at: now)
      effects.append(.startSession(epoch, resuming: false))
    case .refused(let refusal):
      resumableUntil = .origin
      cut(because: .sessionRefused(refusal), into: &effects)
    }
    return .accepted
  }

  /// Whether an answer of the credentials provider for this epoch would count.
  func waitsForCredentials(of epoch: Epoch) -> Bool {
    if let standby, standby.stage == .authorizing { return standby.epoch == epoch }
    guard case .waitingForCredentials = state else { return false }
    return epoch == lastEpoch
  }

  mutating func credentialsAnswered(
    _ epoch: Epoch, _ answer: CredentialsAnswer, into effects: inout Effects
  ) -> Disposition {
    if let standby, standby.stage == .authorizing, standby.epoch == epoch {
      return standbyAuthorized(answer, into: &effects)
    }
    guard case .waitingForCredentials = state, epoch == lastEpoch else {
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
