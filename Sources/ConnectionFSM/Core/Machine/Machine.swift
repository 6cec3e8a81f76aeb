/// The logic of one long-lived connection as a value: inputs and time go in, effects come out.
///
/// It owns no clock, no socket, no thread and no dice. What a call does depends on the machine, the
/// input and `now` alone; equal machines given equal inputs make equal effects, for ever.
///
/// An owner (a *driver*) calls ``handle(_:at:into:)`` for everything that happens, performs the
/// effects in order, and calls again with ``Input/deadlineReached`` once the time in
/// ``nextDeadline`` has come.
public struct Machine: Sendable {
  /// The knobs.
  public let policy: Policy
  /// What the machine does.
  public internal(set) var state: State = .idle
  /// The attempt that counts; a value exactly while ``state`` is `linked`.
  public internal(set) var primary: Link?
  /// Reserved for the replacement that opens beside the primary in a planned rollover; always nil.
  public internal(set) var standby: Link?
  /// When the driver must send ``Input/deadlineReached``; nil while nothing is waited for.
  public internal(set) var nextDeadline: Instant?

  /// Whether the application wants a connection. Written by connect and close alone (I1).
  var wanted = false
  var endpoint = EndpointID(0)
  var path = PathStatus.unknown
  var lifecycle = Lifecycle.foreground
  var demand = true

  /// The last instant seen; an earlier one is taken for it.
  var now = Instant.origin
  var lastEpoch = Epoch(0)
  /// When the last dial was made, or credentials were asked for; the next keeps its distance.
  var lastDialAt: Instant?
  /// The cause of the last end; nil in a run that had none.
  var lastCause: Cause?
  /// Dials since the last reset; probes of a path that is down are not counted.
  var attempts: UInt32 = 0
  // Two counts, so that a regained path forgets only what was the network's fault.
  var networkFailures: UInt32 = 0
  var otherFailures: UInt32 = 0
  /// The wait drawn last since the last reset: decorrelated jitter draws from it.
  var lastWait = TimeSpan.zero
  /// Time spent on dials and waits since the last reset; holds and a path that is down are free.
  var spent = TimeSpan.zero
  /// Retries spent on causes whose verdict caps them, since the last reset.
  var cappedRetries: UInt8 = 0
  /// A verdict's one retry with fresh credentials was spent since the last reset.
  var refreshedCredentials = false
  /// Before this instant nobody but the user dials: the minimum delay of a verdict.
  var notBefore: Instant?

  var random: SplitMix64
  var queue: SendQueue

  /// Makes a machine at rest.
  /// - Parameters:
  ///   - policy: The knobs, shared with any number of machines.
  ///   - seed: What its random waits are drawn from; two clients of one server must not share it.
  public init(policy: Policy, seed: UInt64) {
    self.policy = policy
    random = SplitMix64(seed: seed)
    queue = SendQueue(lanes: policy.lanes)
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
    if case .accepted = disposition { nextDeadline = deriveNextDeadline() }
    #if DEBUG
      if let broken = brokenInvariant { trap(broken, input) }
    #endif
    return disposition
  }

  @inline(always)
  private mutating func dispatch(_ input: Input, into effects: inout Effects) -> Disposition {
    switch input {
    case .connect(let endpoint): return connect(to: endpoint, into: &effects)
    case .close: return close(into: &effects)
    case .offer(let lane, let byteCount):
      return offer(to: lane, byteCount: byteCount, into: &effects)
    case .cancel(let id):
      let cancelled = queue.cancel(id, into: &effects)
      return cancelled ? .accepted : .ignored(.redundant)
    case .demandChanged(let demand): return demandChanged(demand, into: &effects)
    case .lifecycleChanged(let lifecycle): return lifecycleChanged(lifecycle, into: &effects)
    case .pathChanged(let status): return pathChanged(status, into: &effects)
    case .deadlineReached: return deadlineReached(into: &effects)
    case .credentials(let epoch, let answer):
      return credentialsAnswered(epoch, answer, into: &effects)
    case .transport(let epoch, let event):
      guard primary?.epoch == epoch else { return .ignored(.staleEpoch) }
      return transportReported(event, into: &effects)
    case .session(let epoch, let event):
      guard primary?.epoch == epoch else { return .ignored(.staleEpoch) }
      return sessionReported(event, into: &effects)
    }
  }
}

// MARK: Queries

extension Machine {
  /// Where the machine is, as a bare name.
  public var phase: Phase {
    if let primary {
      switch primary.stage {
      case .connecting: return .connecting
      case .authenticating: return .authenticating
      case .open: return .open
      case .closing: return .closing
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
    guard Int(lane.rawValue) < policy.lanes.count else { return (0, 0) }
    let lane = queue[Int(lane.rawValue)]
    return (Int(lane.waiting), Int(lane.inFlight))
  }
}

extension Machine {
  /// The highest epoch there has been.
  package var newestEpoch: Epoch { lastEpoch }

  /// The message taken last in a lane, whatever became of it; nil before the first.
  package func newestMessage(in lane: LaneID) -> MessageID? {
    let newest = queue[Int(lane.rawValue)].lastID
    return newest.sequence > 0 ? newest : nil
  }
}
