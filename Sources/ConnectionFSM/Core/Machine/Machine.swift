/// The logic of one long-lived connection as a value: inputs and time go in, effects come out.
///
/// It owns no clock, no socket, no thread and no dice. What a call does depends on the machine, the
/// input and `now` alone; equal machines given equal inputs make equal effects, for ever.
///
/// An owner (a *driver*) calls ``handle(_:at:into:)`` for everything that happens, performs the
/// effects in order, and calls again with ``Input/deadlineReached`` once the time in
/// ``nextDeadline`` has come.
public struct Machine: Equatable, Sendable {
  // Large facts first, small ones in the gaps behind: 384 bytes, six cache lines.

  /// The knobs; replaced by ``adopt(_:at:into:)``.
  public internal(set) var policy: Policy
  @usableFromInline var deadlineAt = Instant.never
  /// When something beside the link's own deadline is due. Derived where its facts change, since
  /// nearly every transition changes none.
  var planned = Instant.never
  /// The last instant seen; an earlier one is taken for it.
  var now = Instant.origin
  var lastEpoch = Epoch(0)
  /// When the last dial was made, or credentials were asked for; the next keeps its distance.
  var lastDialAt = Instant.longAgo
  /// When the retry budget will be full again.
  var budgetFullAt = Instant.origin
  /// Until when the session of the last link can be resumed.
  var resumableUntil = Instant.origin
  /// The interval that a silently lost link taught; zero if none did.
  var learnedInterval = TimeSpan.zero
  var random: SplitMix64
  var queue = SendQueue()

  // Not an optional: every look at a field of one would take the whole apart. Without a link its
  // place is taken by one that is not open, so that the steady state has one thing to ask.
  var hasLink = false
  /// Whether some link drains; derived with what is planned.
  var drains = false
  /// Whether the application wants a connection. Written by connect and close alone (I1).
  var wanted = false
  var link = Link.absent
  /// In a planned rollover, the replacement that opens beside the primary, and once it has taken
  /// over the old link, which finishes what it was given.
  public internal(set) var standby: Link?
  /// Derived where policy, path or what was learned change.
  var rhythm = Rhythm()
  var endpoints = Endpoints()
  var plans = Plans()
  var run = Run()
  var surroundings = Surroundings()
  /// What the machine does.
  public internal(set) var state: State = .idle
  /// The cause of the last end; nil in a run that had none.
  var lastCause: Cause?
  var roundTripEstimate = RoundTrip()

  /// Makes a machine at rest.
  /// - Parameters:
  ///   - policy: The knobs, shared with any number of machines.
  ///   - seed: What its random waits are drawn from; two clients of one server must not share it.
  public init(policy: Policy, seed: UInt64) {
    self.policy = policy
    random = SplitMix64(seed: seed)
    rhythm = derivedRhythm
  }

  /// Takes an input, changes state, and says what to do.
  ///
  /// - Parameters:
  ///   - input: What happened.
  ///   - instant: When; never a reading of our own. Earlier than the last one counts as that one.
  ///   - effects: Emptied first; then what the owner must do, in order.
  /// - Returns: Whether the input counted, and if not, why.
  @discardableResult
  public mutating func handle(
    _ input: Input, at instant: Instant, into effects: inout Effects
  ) -> Disposition {
    effects.removeAll()
    if instant > now { now = instant }
    let disposition = dispatch(input, into: &effects)
    // What was ignored changed nothing, and an offer sees to its own expiry.
    if case .accepted = disposition { deadlineAt = derivedDeadline }
    if queue.hasMarks { queue.reportPressure(into: &effects) }
    #if DEBUG && !hasFeature(Embedded)
      if let broken = brokenInvariant { trap(broken, input) }
    #endif
    return disposition
  }

  @inline(always)
  private mutating func dispatch(_ input: Input, into effects: inout Effects) -> Disposition {
    switch input {
    case .transport(let epoch, let event):
      if hasLink, link.epoch == epoch { return transportReported(event, into: &effects) }
      guard standby?.epoch == epoch else { return .ignored(.staleEpoch) }
      return replan(standbyReported(event, into: &effects), into: &effects)
    case .offer(let lane, let byteCount):
      return offer(to: lane, byteCount: byteCount, into: &effects)
    case .cancel(let id):
      guard queue.cancel(id, into: &effects) else { return .ignored(.redundant) }
      if drains { seeOffDrained(into: &effects) }
      return .accepted
    case .resized(let id, let byteCount):
      return queue.resize(id, byteCount: byteCount) ? .accepted : .ignored(.redundant)
    case .deadlineReached: return deadlineReached(into: &effects)
    case .connect(let endpoint, let count):
      return replan(connect(to: endpoint, count: count, into: &effects), into: &effects)
    case .close: return replan(close(draining: false, into: &effects), into: &effects)
    case .drain: return replan(close(draining: true, into: &effects), into: &effects)
    case .demandChanged(let demand):
      return replan(demandChanged(demand, into: &effects), into: &effects)
    case .lifecycleChanged(let lifecycle):
      return replan(lifecycleChanged(lifecycle, into: &effects), into: &effects)
    case .pathChanged(let path): return replan(pathChanged(path, into: &effects), into: &effects)
    case .policyReplaced: return replan(policyReplaced(into: &effects), into: &effects)
    case .credentials(let epoch, let answer):
      return replan(credentialsAnswered(epoch, answer, into: &effects), into: &effects)
    case .session(let epoch, let event):
      return replan(sessionReported(epoch, event, into: &effects), into: &effects)
    }
  }

  /// Derives what is planned anew, after an input that can have changed it.
  @inline(never)
  mutating func replan(_ disposition: Disposition, into effects: inout Effects) -> Disposition {
    drains = link.stage == .draining || standby?.stage == .draining
    planned = derivedPlanned
    if drains { seeOffDrained(into: &effects) }
    return disposition
  }
}

// MARK: Queries

extension Machine {
  /// The attempt that counts; a value exactly while ``state`` is `linked`.
  public internal(set) var primary: Link? {
    get { hasLink ? link : nil }
    set {
      hasLink = newValue != nil
      link = newValue ?? .absent
    }
  }

  /// When the driver must send ``Input/deadlineReached``; nil while nothing is waited for.
  @inlinable
  public var nextDeadline: Instant? { deadlineAt == .never ? nil : deadlineAt }

  /// Where the machine is, as a bare name.
  public var phase: Phase {
    if let primary {
      switch primary.stage {
      case .authorizing: return .waitingForCredentials
      case .connecting: return .connecting
      case .authenticating: return .authenticating
      case .open: return .open
      case .draining, .closing: return .closing
      }
    }
    switch state {
    case .idle: return .idle
    case .offline: return .offline
    case .backingOff: return .backingOff
    case .waitingForCredentials: return .waitingForCredentials
    case .suspended: return .suspended
    case .closed: return .closed
    case .linked: trap("linked without a link", nil)
    }
  }

  /// How many messages of a lane live: waiting and in flight.
  public func pendingCount(in lane: LaneID) -> (waiting: Int, inFlight: Int) {
    guard let lane = queue[Int(lane.rawValue)] else { return (0, 0) }
    return (Int(lane.waiting), Int(lane.inFlight))
  }

  /// The smoothed time from a ping to its answer (RFC 6298 section 2); nil before the first on this
  /// link.
  public var roundTrip: TimeSpan? {
    let micros = roundTripEstimate.smoothed
    return micros > 0 ? .microseconds(Int64(micros)) : nil
  }

  /// What the reachability signal says, once it has stood.
  var path: PathStatus { surroundings.path.status }
}
