import ConnectionFSM

/// A machine that is driven for the transition table, its referee, and what inputs for it need to
/// know.
struct TableSubject: Sendable {
  private(set) var machine: Machine
  private var referee: Referee
  private(set) var now = Instant.origin
  /// The newest attempt.
  private(set) var epoch = Epoch(0)
  /// The newest message of each lane.
  private(set) var last = [MessageID(LaneID(0)), MessageID(LaneID(1))]
  private var effects = Effects()
  // The machine's own copies of what it was told are not for others to read.
  private var path = PathStatus.unknown
  private var lifecycle = Lifecycle.foreground
  private var demand = true
  private var wanted = false
  /// Where the application wanted to go last.
  private(set) var endpoint = EndpointID(0)
  private var lastDialAt: Instant?

  init(policy: Policy) {
    machine = Machine(policy: policy, seed: 1)
    referee = Referee(policy: policy)
  }

  /// Feeds an input of a kind.
  /// - Throws: The first broken promise of the machine.
  mutating func feed(_ kind: InputKind) throws(Violation) -> Finding {
    let before = machine
    // A message that outlived its time on the link that just ended is due at once.
    let isDue = machine.nextDeadline.map { $0 <= now } ?? false
    let kind = kind == .earlyDeadline && isDue ? .deadline : kind
    let input = kind.input(for: self)
    now = kind.instant(for: self)
    let disposition = machine.handle(input, at: now, into: &effects)
    try referee.judge(
      input, at: now, before: before, after: machine, disposition: disposition, effects: effects)
    note(input, disposition)
    return Finding(
      place: Finding.Place(
        phase: before.phase, kind: kind, next: machine.phase, disposition: disposition.verb),
      effects: effects.map(\.verb))
  }

  /// Lets time pass, but not as much as to make a deadline due.
  mutating func rest() {
    let later = now + .seconds(2)
    guard let due = machine.nextDeadline else {
      now = later
      return
    }
    now = max(now, min(later, due + .nanoseconds(-1)))
  }

  private mutating func note(_ input: Input, _ disposition: Disposition) {
    if case .taken(let id) = disposition { last[Int(id.lane.rawValue)] = id }
    switch input {
    case .connect(let endpoint, _):
      wanted = true
      self.endpoint = endpoint
    case .close, .drain: wanted = false
    case .demandChanged(let demand): self.demand = demand
    case .lifecycleChanged(let lifecycle): self.lifecycle = lifecycle
    case .pathChanged(let path): self.path = path.status
    case .offer, .cancel, .resized, .policyReplaced, .deadlineReached, .credentials, .transport,
      .session:
      break
    }
    for effect in effects {
      switch effect {
      case .requestCredentials(let epoch), .openTransport(let epoch, _):
        self.epoch = epoch
        lastDialAt = now
      case .startSession, .closeTransport, .abortTransport, .sendPing, .sendBeat, .transmit,
        .settle, .ended, .pressureChanged:
        break
      }
    }
  }
}

extension TableSubject {
  /// What tells two subjects apart for the table; of those that are alike, one is driven on.
  struct Likeness: Hashable {
    let phase: Phase
    let wait: Explanation.Wait
    let path: PathStatus
    let lifecycle: Lifecycle
    let demand: Bool
    let wanted: Bool
    let isWritable: Bool
    let pending: [Int]
    let expiresNext: Bool
    let mayDial: Bool
  }

  var likeness: Likeness {
    let explanation = machine.explain()
    var pending: [Int] = []
    for lane in machine.policy.lanes.indices {
      let (waiting, inFlight) = machine.pendingCount(in: LaneID(UInt8(lane)))
      pending += [waiting, inFlight]
    }
    let spacing = machine.policy.minimumDialSpacing
    return Likeness(
      phase: explanation.phase, wait: explanation.waitsFor, path: path, lifecycle: lifecycle,
      demand: demand, wanted: wanted, isWritable: machine.primary?.writable ?? true,
      pending: pending, expiresNext: machine.nextDeadline != explanation.until,
      mayDial: lastDialAt.map { now - $0 >= spacing } ?? true)
  }
}

extension MessageID {
  /// The first message of a lane.
  fileprivate init(_ lane: LaneID) { self.init(lane: lane, sequence: 1) }
}
