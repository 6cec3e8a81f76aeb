/// Performs a machine's effects over a transport and feeds back what happens. Contains no policy.
///
/// Confined to the transport's loop. One transition at a time: what a transport reports from inside
/// an effect waits in line. State first, effects second, observers last (monitors, completions,
/// states), so that nothing an observer does can change the transition it hears of (I17).
/// `Sendable` only in that its reference may be captured by work for the loop; nothing of it is
/// touched anywhere else.
final class Driver: @unchecked Sendable {
  // One place for both, unchecked: calls are never re-entrant (`isBusy` sees to it), and the
  // dynamic exclusivity checks cost several times the transition itself.
  @exclusivity(unchecked) var machine: Machine
  @exclusivity(unchecked) private var effects = Effects()

  let loop: any EventLoop
  let transport: any Transport
  @exclusivity(unchecked) var payloads: PayloadStore<Offer>
  /// Those that were named last, and the id of the first: the machine knows numbers only.
  var endpoints: [Endpoint] = []
  var firstEndpoint = EndpointID(0)

  @exclusivity(unchecked) var isBusy = false
  @exclusivity(unchecked) var deferred: [Report] = []
  /// The deadline the loop knows of. A later one is not told to it: the loop comes early, and the
  /// driver arms anew then, so that traffic which keeps moving a deadline costs no timer work.
  @exclusivity(unchecked) var armedAt: Instant?

  /// What callers ask for.
  let commands: Commands
  @exclusivity(unchecked) private var batch: [Command] = []
  /// Commands are carried out, all at one instant: a clock costs as much as a transition.
  @exclusivity(unchecked) private var isInBatch = false
  private var batchTime = Instant.origin
  /// The link that was told of more messages to follow at once.
  @exclusivity(unchecked) private var unflushed: Epoch?

  @exclusivity(unchecked) var desk: CredentialsDesk?
  @exclusivity(unchecked) var outbox: OutboxDesk?
  @exclusivity(unchecked) var session: Session?
  let hasSession: Bool
  /// What the session wants, and the transition that runs puts off.
  @exclusivity(unchecked) var actions: [SessionAction] = []
  /// The lane whose messages the session numbers.
  let numberedLane: LaneID?
  /// Who waits for the answer to a request.
  var requests: [UInt64: RequestCompletion] = [:]
  /// The messages that a later one of their key replaces while they wait.
  var keyed: [LaneKey: MessageID] = [:]
  let beat: BeatMessage?
  /// The number of the last beat, which its answer answers.
  var lastBeat: UInt32 = 0
  private let trace: ((TraceRecord) -> Void)?
  let monitors: [any ConnectionMonitor]
  private let isWatched: Bool
  private var sequence: UInt64 = 0
  /// The step that observers are to hear of.
  private var record: TraceRecord?
  let observers = Observers()
  var isReleased = false
  /// What the running transition has found.
  @exclusivity(unchecked) private(set) var phaseBefore = Phase.idle
  private var closing: [() -> Void] = []
  /// What the running transition owes to senders, in order.
  @exclusivity(unchecked) private var owed: [(Offer.Completion, Result<Outcome, Rejection>)] = []
  private var owesClosing = false

  /// Which message a later one replaces.
  struct LaneKey: Hashable {
    let lane: LaneID
    let key: String
  }

  /// What a transport said while a transition ran.
  enum Report {
    case input(Input)
    case message(Epoch, Message)
    /// The lane of the outbox may have room.
    case roomForKept
  }

  init(_ transport: any Transport, policy: Policy, seed: UInt64, attendants: Attendants) {
    machine = Machine(policy: policy, seed: seed)
    loop = transport.eventLoop
    self.transport = transport
    payloads = PayloadStore(laneCount: policy.lanes.count)
    commands = Commands(loop: loop)
    beat = attendants.beat
    desk = attendants.credentials.map { CredentialsDesk($0) }
    outbox = attendants.outbox.map { OutboxDesk($0.0, for: $0.1) }
    hasSession = attendants.session != nil
    // An earlier process may have left requests in the outbox, and their answers will come: the ids
    // of this one begin far from theirs. 52 bits, which every JSON can carry.
    let firstRequest = attendants.outbox == nil ? 1 : Self.mixed(seed) >> 12
    session = attendants.session.map {
      Session($0.dialect, $0.settings, firstRequest: firstRequest)
    }
    numberedLane =
      session == nil
      ? nil
      : policy.lanes.firstIndex { $0.delivery == .atLeastOnce }.map { LaneID(UInt8($0)) }
    trace = attendants.trace
    monitors = attendants.monitors
    isWatched = trace != nil || !monitors.isEmpty
  }

  /// Another number of the seed's, for what must not move the machine's draws.
  private static func mixed(_ seed: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed ^ 0x5245_5155_4553_5453)  // “REQUESTS”
    return generator.next() | 1
  }

  /// Says that the connection exists.
  func begin() {
    for monitor in monitors { monitor.connection(startsWith: machine) }
  }
}

// MARK: Commands

extension Driver {
  /// Carries out what has come in since. What comes in meanwhile is the next work's.
  func carryOutCommands() {
    commands.take(into: &batch)
    isInBatch = batch.count > 1
    if isInBatch { batchTime = loop.now }
    for command in batch {
      switch command {
      case .offer(let offer): self.offer(offer)
      case .cancel(let ticket): cancel(ticket)
      case .perform(let work, _): work(self)
      }
    }
    isInBatch = false
    // What a burst needed is not kept for ever.
    batch.removeAll(keepingCapacity: batch.count <= 4096)
    guard let epoch = unflushed.take() else { return }
    isBusy = true
    transport.flush(epoch)
    isBusy = false
    drain()
  }

  /// Takes an input from outside; in line, if a transition is running.
  func submit(_ input: Input) {
    guard !isBusy else { return deferred.append(.input(input)) }
    transition(input) { _ in }
    drain()
  }

  /// Offers a message to the machine: it is taken, or its sender hears why not.
  /// - Returns: False if it was turned away.
  @discardableResult
  func submit(_ offer: Offer) -> Bool {
    precondition(!isBusy, "offers come as work of the loop, never from inside a transition")
    var isTaken = false
    // Beyond 4 GiB - 1 the count saturates, which no lane admits.
    let byteCount = UInt32(clamping: offer.message.bytes.count)
    transition(.offer(offer.lane, byteCount: byteCount)) { disposition in
      switch disposition {
      case .taken(let id):
        isTaken = true
        offer.ticket?.id = id
        if let key = offer.ticket?.key { keyed[LaneKey(lane: offer.lane, key: key)] = id }
        payloads.insert(offer, for: id)
      case .rejected(let rejection):
        if let completion = offer.completion { owed.append((completion, .failure(rejection))) }
      case .accepted, .ignored: break
      }
    }
    drain()
    return isTaken
  }

  /// Puts a message in the place of a waiting one; false if that does not wait any more.
  func replace(_ id: MessageID, with offer: Offer) -> Bool {
    let byteCount = UInt32(clamping: offer.message.bytes.count)
    var isReplaced = false
    transition(.resized(id, byteCount: byteCount)) { disposition in
      guard case .accepted = disposition else { return }
      isReplaced = true
      offer.ticket?.id = id
      let replaced = payloads.replace(offer, for: id)
      replaced?.ticket?.id = nil
      owe(replaced?.completion, .success(.evicted))
    }
    drain()
    return isReplaced
  }

  /// Calls back once the link is gone; at once, if there is nothing left to close.
  func whenClosed(_ completion: @escaping () -> Void) {
    guard machine.phase == .closing else { return completion() }
    closing.append(completion)
  }

  /// Tells a sender, behind the transition that runs.
  func owe(_ completion: Offer.Completion?, _ result: Result<Outcome, Rejection>) {
    if let completion { owed.append((completion, result)) }
  }
}

// MARK: Transitions

extension Driver {
  /// One transition: the machine, then what the disposition asks for, then the effects, then
  /// observers.
  @inline(__always)
  func transition(_ input: Input, _ disposed: (Disposition) -> Void) {
    isBusy = true
    let before = machine.situation
    phaseBefore = before.phase
    let now = isInBatch ? batchTime : loop.now
    if isWatched {
      disposed(recordedHandle(input, at: now))
    } else {
      disposed(machine.handle(input, at: now, into: &effects))
    }
    // By place: an iterator begins with a copy of the whole buffer.
    for place in 0..<effects.count { perform(effects[place]) }
    if let asked = desk?.asks, !machine.waitsForCredentials(of: asked) { desk?.stopAsking() }
    rearm()
    isBusy = false
    if isWatched { tellRecord() }
    if !owed.isEmpty || owesClosing { settleDebts() }
    let after = machine.situation
    if after != before { stateChanged(from: before.phase, to: after.phase) }
  }

  /// Apart: a record is large, and mostly there is none.
  @inline(never)
  private func recordedHandle(_ input: Input, at now: Instant) -> Disposition {
    sequence += 1
    let record = machine.handle(input, at: now, into: &effects, recordingAs: sequence)
    self.record = record
    return record.disposition
  }

  @inline(never)
  private func tellRecord() {
    guard let record = record.take() else { return }
    trace?(record)
    for monitor in monitors { monitor.connection(made: record, leaving: machine) }
  }

  private func stateChanged(from phase: Phase, to after: Phase) {
    if after == .open {
      if observers.isHolding { setReceiving(false) }
      if let epoch = machine.currentEpoch {
        session?.opened(epoch, at: loop.now, into: &actions)
      }
    }
    observers.stateChanged(to: machine.explain())
    if phase != after, outbox?.isEmpty == false { deferred.append(.roomForKept) }
  }

  private func settleDebts() {
    let debts = owed
    owed.removeAll(keepingCapacity: true)
    for (completion, result) in debts { completion(result) }
    guard owesClosing else { return }
    owesClosing = false
    let waiting = closing
    closing = []
    for completion in waiting { completion() }
  }

  func drain() {
    carryOutActions()
    while !deferred.isEmpty {
      let reports = deferred
      deferred.removeAll(keepingCapacity: true)
      for report in reports {
        switch report {
        case .input(let input): transition(input) { _ in }
        case .message(let epoch, let message): deliver(message, from: epoch)
        case .roomForKept: offerKept()
        }
        carryOutActions()
      }
    }
  }

  func rearm() {
    // What is released waits for nothing: a timer would keep it until it fires.
    if isReleased { return disarm() }
    var next = machine.nextDeadline
    if hasSession, let deadline = session?.nextDeadline { next = min(next ?? .never, deadline) }
    guard let next else { return disarm() }
    if let armedAt, armedAt <= next { return }
    armedAt = next
    loop.arm(self, at: next)
  }

  private func disarm() {
    if armedAt != nil { loop.arm(self, at: nil) }
    armedAt = nil
  }
}

// MARK: Effects

extension Driver {
  private func perform(_ effect: Effect) {
    switch effect {
    case .transmit(let epoch, let range): transmit(range, on: epoch)
    case .settle(let range, let outcome): settle(range, outcome)
    case .openTransport(let epoch, let id):
      let credentials = desk?.take(for: epoch)
      transport.open(epoch, to: endpoint(id), with: credentials, observer: self)
    case .closeTransport(let epoch): transport.close(epoch)
    case .abortTransport(let epoch): transport.abort(epoch)
    case .sendPing(let epoch, let number):
      transport.ping(number, on: epoch)
      // Nobody reads: silence says nothing of the peer.
      if observers.isHolding {
        deferred.append(.input(.transport(epoch, .received(byteCount: 0))))
      }
    case .ended(let epoch, let cause):
      desk?.ended(epoch, wereRefused: blamesCredentials(cause))
      session?.ended(epoch, at: loop.now, into: &actions)
      // Whatever the first cause was: the link whose end close() waits for is gone.
      if !closing.isEmpty, machine.phase != .closing { owesClosing = true }
    case .pressureChanged: break
    case .sendBeat(let epoch, let number):
      guard let beat else { preconditionFailure("Connection.init admits no beat without words") }
      lastBeat = number
      transport.send(beat.payload(), id: nil, on: epoch, more: false)
    case .requestCredentials(let epoch):
      desk?.ask(for: epoch, on: loop) { [weak self] in self?.credentialsAnswered(epoch, $0) }
    case .startSession(let epoch, let isResuming):
      session?.start(
        epoch, resuming: isResuming, with: desk?.credentials(of: epoch), at: loop.now,
        into: &actions)
    }
  }

  @inline(__always)
  private func transmit(_ range: MessageRange, on epoch: Epoch) {
    payloads.forEach(in: range) { id, offer, isLast in
      let more = isInBatch || !isLast
      if !hasSession {
        transport.send(offer.message, id: id, on: epoch, more: more)
      } else {
        transport.send(worded(offer, id, on: epoch), id: id, on: epoch, more: more)
      }
    }
    guard isInBatch else { return }
    if let other = unflushed, other != epoch { transport.flush(other) }
    unflushed = epoch
  }

  private func settle(_ range: MessageRange, _ outcome: Outcome) {
    payloads.removeAll(in: range) { id, offer in
      if let ticket = offer.ticket {
        if let key = ticket.key { forget(key, of: id) }
        if let number = ticket.number, keepsMessage(offer, number, endedAs: outcome) { return }
      }
      if let completion = offer.completion { owed.append((completion, .success(outcome))) }
    }
    if outbox?.isEmpty == false { deferred.append(.roomForKept) }
  }

  func explain() -> Explanation { machine.explain() }

  func setReceiving(_ isReceiving: Bool) {
    if let primary = machine.primary { transport.setReceiving(isReceiving, on: primary.epoch) }
    if let standby = machine.standby { transport.setReceiving(isReceiving, on: standby.epoch) }
  }
}
