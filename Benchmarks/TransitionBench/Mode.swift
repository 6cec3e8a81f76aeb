import ConnectionFSM

/// A kind of transition that can go on for ever: each round leaves the machine as it found it.
enum Mode: String, CaseIterable {
  /// Bytes arrived on an open link.
  case received
  /// Something arrived for an attempt that is over.
  case stale
  /// The timer fired before the deadline.
  case early
  /// The deadline has come and a ping is sent; the answer arrives in between.
  case due
  /// A message is offered to a link that takes none, and waits; it is taken back in between.
  case blocked
  /// A message is offered to a full lane of a link that takes none, and evicts the oldest.
  case evicting
  /// A message is offered to an open link and given to it; it is written in between.
  case transmit
  /// A message was written; it is offered in between.
  case settled
  /// An attempt failed and is judged, by an override or a table; the next is dialled in between.
  case failing
}

private let lane = LaneID(0)
private let epoch = Epoch(2)
private let tick = TimeSpan.microseconds(100)

extension Mode {
  /// How many messages wait in `evicting`: as many as the lane holds. In `blocked`, one less.
  private static let backlog: UInt64 = 64

  private static func policy() throws(PolicyError) -> Policy {
    try Policy(
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)),
      lanes: [
        Lane(
          .atMostOnce, timeToLive: .seconds(20), countLimit: UInt32(backlog),
          overflow: .dropOldest),
        Lane(
          .atLeastOnce, timeToLive: .seconds(20), countLimit: UInt32(backlog), overflow: .reject),
      ],
      overrides: [VerdictOverride(.closeCodes(4000...4099), .transient.slow)])
  }

  /// A driver whose first link has failed and whose second one is open.
  func driver() throws(PolicyError) -> Driver {
    let driver = Driver(policy: try Self.policy())
    _ = driver.feed(.connect(EndpointID(0)))
    _ = driver.feed(.transport(Epoch(1), .failed(.system(.connectionReset))))
    driver.now = driver.now + .seconds(100)
    _ = driver.feed(.deadlineReached)
    _ = driver.feed(.transport(epoch, .opened))
    if self == .blocked || self == .evicting {
      _ = driver.feed(.transport(epoch, .writabilityChanged(false)))
    }
    if self == .blocked || self == .evicting {
      for _ in 0..<(self == .blocked ? Self.backlog - 1 : Self.backlog) {
        _ = driver.feed(.offer(lane, byteCount: 100))
      }
    }
    return driver
  }

  /// One counted call, and whatever leads back to where it can be made again.
  ///
  /// - Returns: Whether the call did what the mode is about.
  func round(_ driver: Driver, _ index: UInt64) -> Bool {
    if self != .early { driver.now = driver.now + tick }
    let id = MessageID(lane: lane, sequence: index + 1)
    switch self {
    case .received:
      let disposition = driver.feedCounted(.transport(epoch, .received(byteCount: 100)))
      return disposition == .accepted && driver.deadline == driver.now + .seconds(25)
    case .stale:
      let disposition = driver.feedCounted(.transport(Epoch(1), .received(byteCount: 100)))
      return disposition == .ignored(.staleEpoch)
    case .early:
      return driver.feedCounted(.deadlineReached) == .ignored(.early)
    case .due:
      driver.now = driver.deadline ?? driver.now
      let disposition = driver.feedCounted(.deadlineReached)
      let number = UInt32(truncatingIfNeeded: index + 1)
      let isAsked = driver.hasOnly(.sendPing(epoch, number))
      let answered = driver.feed(.transport(epoch, .pong(number)))
      return disposition == .accepted && isAsked && answered == .accepted
    case .blocked:
      let disposition = driver.feedCounted(.offer(lane, byteCount: 100))
      let waits = driver.hasNone
      let taken = MessageID(lane: lane, sequence: id.sequence + Self.backlog - 1)
      let cancelled = driver.feed(.cancel(taken))
      return disposition == .taken(taken) && waits && cancelled == .accepted
    case .evicting:
      let disposition = driver.feedCounted(.offer(lane, byteCount: 100))
      return disposition == .taken(MessageID(lane: lane, sequence: index + 1 + Self.backlog))
        && driver.hasOnly(.settle(MessageRange(id, id), .evicted))
    case .transmit:
      let disposition = driver.feedCounted(.offer(lane, byteCount: 100))
      let isGiven = driver.hasOnly(.transmit(epoch, MessageRange(id, id)))
      let settled = driver.feed(.transport(epoch, .written(through: id)))
      return disposition == .taken(id) && isGiven && settled == .accepted
    case .settled:
      let taken = driver.feed(.offer(lane, byteCount: 100))
      let disposition = driver.feedCounted(.transport(epoch, .written(through: id)))
      return taken == .taken(id) && disposition == .accepted
        && driver.hasOnly(.settle(MessageRange(id, id), .written))
    case .failing:
      let current = Epoch(index + 2)
      let cause =
        index.isMultiple(of: 2)
        ? Cause.http(status: 503, retryAfter: 1) : .closedByPeer(CloseCode(4001))
      let disposition = driver.feedCounted(.transport(current, .failed(cause)))
      let hasEnded = driver.hasOnly(.ended(current, cause))
      driver.now = driver.deadline ?? driver.now
      let dialled = driver.feed(.deadlineReached)
      return disposition == .accepted && hasEnded && dialled == .accepted
    }
  }
}
