// What the application wants: connect, close, send. Intent outranks everything: `wanted` is written
// here and nowhere else (I1).

extension Machine {
  mutating func connect(to endpoint: EndpointID, into effects: inout Effects) -> Disposition {
    let isElsewhere = endpoint != self.endpoint
    if isUnderWay, !isElsewhere, wanted { return .ignored(.redundant) }
    wanted = true
    self.endpoint = endpoint
    forgetFailures()
    guard let link = primary else {
      // A new run: what ended the last one explains nothing of it.
      if case .closed = state { lastCause = nil }
      seekLink(.userAsked, into: &effects)
      return .accepted
    }
    if link.stage == .closing {
      // Connect after close, before the peer answered: the dial follows when the old link is gone
      // (I3).
      return .accepted
    }
    // F04: the old link goes first. Its messages are for whoever we talk to next.
    effects.append(.abortTransport(link.epoch))
    retire(link, because: .replaced, into: &effects)
    seekLink(.userAsked, into: &effects)
    return .accepted
  }

  /// An attempt runs, or its credentials are on their way: a second one would ask for them twice.
  private var isUnderWay: Bool {
    if case .waitingForCredentials = state { return true }
    return primary != nil
  }

  mutating func close(into effects: inout Effects) -> Disposition {
    if let link = primary {
      switch link.stage {
      case .closing:
        guard wanted else { return .ignored(.redundant) }
        wanted = false
        return .accepted
      case .open:
        wanted = false
        primary?.close(at: now)
        effects.append(.closeTransport(link.epoch))
        queue.cancelWaiting(into: &effects)
        return .accepted
      case .connecting, .authenticating:
        // Nothing of the application is on this link: cut it, wait for nobody (RC082 to RC085).
        wanted = false
        effects.append(.abortTransport(link.epoch))
        finish(link, into: &effects)
        return .accepted
      }
    }
    if case .closed = state {
      // A machine that gave up is still wanted; the user may say otherwise, and nothing else
      // changes.
      guard wanted else { return .ignored(.redundant) }
      wanted = false
      return .accepted
    }
    wanted = false
    enterClosed(.requested, because: .closedByUser, into: &effects)
    return .accepted
  }

  @inline(always)
  mutating func offer(
    to lane: LaneID, byteCount: UInt32, into effects: inout Effects
  ) -> Disposition {
    var receptive: Epoch?
    if let primary {
      if primary.stage == .closing { return .rejected(.closed) }
      if primary.stage == .open, primary.writable { receptive = primary.epoch }
    } else if case .closed = state {
      return .rejected(.closed)
    }
    let expiry = queue.nextExpiry
    // The timer may be late (a loaded loop, a sleep): what has outlived its time holds no place.
    queue.expire(at: now, into: &effects)
    // No other lane can have something to give: each gave what its window admits when it changed.
    let disposition = queue.offer(
      lane, byteCount: byteCount, at: now, launchedOn: receptive, into: &effects)
    // The one fact behind a deadline that an offer can change; mostly it does not.
    if queue.nextExpiry != expiry { nextDeadline = deriveNextDeadline() }
    return disposition
  }

  /// Gives waiting messages to an open link that takes them, oldest first: nothing overtakes a
  /// backlog.
  @inline(always)
  mutating func launchWaiting(into effects: inout Effects) {
    guard let epoch = receptiveEpoch else { return }
    // Nor may a late timer let it out.
    queue.expire(at: now, into: &effects)
    queue.launch(on: epoch, into: &effects)
  }

  /// The link that takes messages just now.
  @inline(always)
  var receptiveEpoch: Epoch? {
    guard let primary, primary.stage == .open, primary.writable else { return nil }
    return primary.epoch
  }
}
