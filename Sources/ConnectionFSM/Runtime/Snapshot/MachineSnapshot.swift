/// All that a ``Machine`` knows but its policy, at one moment: for recordings that begin in the
/// middle of a run, and for runs that go on elsewhere.
///
/// A machine that was restored from one equals the one it was made of and goes on equally, to the
/// last draw of its dice. As JSON an idle machine takes a few bytes; each message that lives adds
/// three numbers, some fifteen bytes. There is no payload in it, no credentials and no address: a
/// machine knows of none.
public struct MachineSnapshot: Equatable, Sendable {
  var now = Instant.origin
  var lastEpoch = Epoch(0)
  var lastDialAt = Instant.longAgo
  var budgetFullAt = Instant.origin
  var resumableUntil = Instant.origin
  var learnedInterval = TimeSpan.zero
  var random = SplitMix64(seed: 0)
  var wanted = false
  var state = Machine.State.idle
  var link: Machine.Link?
  var standby: Machine.Link?
  var endpoints = Machine.Endpoints()
  var plans = Machine.Plans()
  var run = Machine.Run()
  var surroundings = Machine.Surroundings()
  var lastCause: Cause?
  var roundTrip = Machine.RoundTrip()
  var lanes: [LaneQueue.Kept] = []

  init() {}

  /// Takes a machine down as it is.
  public init(_ machine: Machine) {
    now = machine.now
    lastEpoch = machine.lastEpoch
    lastDialAt = machine.lastDialAt
    budgetFullAt = machine.budgetFullAt
    resumableUntil = machine.resumableUntil
    learnedInterval = machine.learnedInterval
    random = machine.random
    wanted = machine.wanted
    state = machine.state
    link = machine.primary
    standby = machine.standby
    endpoints = machine.endpoints
    plans = machine.plans
    run = machine.run
    surroundings = machine.surroundings
    lastCause = machine.lastCause
    roundTrip = machine.roundTripEstimate
    lanes = machine.queue.kept
  }
}

extension MachineSnapshot: Codable {
  /// Reads a snapshot; strictly, so that a misspelt fact is an error that names it.
  public init(from decoder: any Decoder) throws {
    self.init()
    try read(from: decoder)
  }

  /// Writes all facts that are not as in a machine at rest.
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}

extension MachineSnapshot: FactList {
  static let facts: [Fact<MachineSnapshot>] = [
    Fact("now", \.now), Fact("epoch", \.lastEpoch), Fact("dialledAt", \.lastDialAt),
    Fact("budgetFullAt", \.budgetFullAt), Fact("resumableUntil", \.resumableUntil),
    Fact("learnedInterval", \.learnedInterval), Fact("random", \.random), Fact("wanted", \.wanted),
    Fact("state", \.state), Fact("link", \.link), Fact("standby", \.standby),
    Fact("endpoints", \.endpoints), Fact("plans", \.plans), Fact("run", \.run),
    Fact("surroundings", \.surroundings), Fact("cause", \.lastCause),
    Fact("roundTrip", \.roundTrip), Fact("lanes", \.lanes),
  ]
}

extension Machine {
  /// Makes a machine that is what another was.
  /// - Parameters:
  ///   - snapshot: What it was.
  ///   - policy: Its policy then.
  /// - Throws: ``SnapshotError`` if no machine with that policy can be so.
  public init(restoring snapshot: MachineSnapshot, policy: Policy) throws(SnapshotError) {
    self.init(policy: policy, seed: 0)
    try snapshot.validate()
    now = snapshot.now
    lastEpoch = snapshot.lastEpoch
    lastDialAt = snapshot.lastDialAt
    budgetFullAt = snapshot.budgetFullAt
    resumableUntil = snapshot.resumableUntil
    learnedInterval = snapshot.learnedInterval
    random = snapshot.random
    wanted = snapshot.wanted
    state = snapshot.state
    primary = snapshot.link
    standby = snapshot.standby
    endpoints = snapshot.endpoints
    plans = snapshot.plans
    run = snapshot.run
    surroundings = snapshot.surroundings
    lastCause = snapshot.lastCause
    roundTripEstimate = snapshot.roundTrip
    queue = try SendQueue(policy.lanes, restoring: snapshot.lanes)
    // The rest follows from the facts.
    rhythm = derivedRhythm
    drains = link.stage == .draining || standby?.stage == .draining
    planned = derivedPlanned
    deadlineAt = derivedDeadline
    if let broken = brokenInvariant { throw SnapshotError("machine", broken) }
  }
}

extension MachineSnapshot {
  /// Looks for what no machine can be and no invariant speaks of.
  fileprivate func validate() throws(SnapshotError) {
    guard now >= .origin, now.nanoseconds < .max / 2 else {
      throw SnapshotError("now", "must be from 0 to 146 years")
    }
    guard past.allSatisfy({ $0 <= now }) else {
      throw SnapshotError("now", "must not be before what has happened")
    }
    guard endpoints.isPossible else {
      throw SnapshotError("endpoints", "turn, start and stride must lead around the list")
    }
    if let standby {
      guard standby.epoch <= lastEpoch else {
        throw SnapshotError("standby", "I2: an epoch from the future")
      }
      guard standby.stage != .open else {
        throw SnapshotError("standby", "must be on its way to open, or on its way out")
      }
    }
  }

  /// When something happened, as far as it is told.
  private var past: [Instant] {
    var past = [
      lastDialAt, surroundings.reportedAt, surroundings.lifecycleSince, surroundings.demandSince,
    ]
    for link in [link, standby] {
      if let link { past += [link.since, link.heardAt, link.pingSentAt ?? .origin] }
    }
    switch state {
    case .offline(let offline): past.append(offline.since)
    case .waitingForCredentials(let wait): past.append(wait.since)
    case .idle, .backingOff, .suspended, .linked, .closed: break
    }
    if run.failingSince != .never { past.append(run.failingSince) }
    for lane in lanes {
      if let newest = lane.entries.last { past.append(newest.offeredAt) }
    }
    return past
  }
}

extension Machine.Endpoints {
  /// Whether the round meets every endpoint of the list, and has come to one of them.
  fileprivate var isPossible: Bool {
    count > 0 && turn < count && start < count && stride > 0 && (count == 1 || isCoprime(stride))
  }
}
