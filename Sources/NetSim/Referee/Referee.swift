package import ConnectionFSM

/// A strict owner of a machine: it keeps its own books of transports and messages, carries out each
/// effect on them, and objects to the first one that is illegal.
///
/// The books are kept independently of the machine, so that a machine which is wrong about itself
/// is found out. A value, so that an exploration can branch.
package struct Referee: Sendable {
  /// One transport that was opened and not let go of.
  struct Live: Sendable {
    let epoch: Epoch
    var isClosing = false
    var isOpen = false
    /// Its session was answered well.
    var isReady = false
  }

  let policy: Policy
  private(set) var transports = Few<Live>()
  var books: MessageBooks
  private var wanted = false
  private var endpoints: ClosedRange<UInt32> = 0...0
  private var lastEpoch = Epoch(0)
  private var requested: Epoch?
  private var unended = Few<Epoch>()
  private var lastDialAt: Instant?
  /// Until when the verdict on the last end holds dials that nobody asked for.
  private var delayedUntil: Instant?
  /// The application asked for a dial that has not come yet; that one need not keep the spacing.
  private var isAsked = false

  /// Makes a referee for a machine at rest.
  package init(policy: Policy) {
    self.policy = policy
    books = MessageBooks(policy: policy)
  }

  /// How many transports are live.
  package var liveTransports: Int { transports.count }

  /// Whether a transport of this epoch is live.
  package func isLive(_ epoch: Epoch) -> Bool { transports.contains { $0.epoch == epoch } }

  /// Judges one step.
  /// - Throws: The first broken promise.
  package mutating func judge(
    _ input: Input, at now: Instant, before: Machine, after: Machine, disposition: Disposition,
    effects: Effects
  ) throws(Violation) {
    try judgeDisposition(disposition, of: input, at: now, before, after, effects)
    // Nothing has changed: what held before still holds.
    if case .ignored = disposition { return }
    if let broken = after.brokenInvariant { throw Violation("machine", "\(broken)") }
    try take(input, disposition: disposition, at: now)
    if !effects.isEmpty {
      for place in effects.indices { try carryOut(effects[place], input: input, at: now) }
    }
    try judgeSituation(after: after, from: before.phase, input: input, at: now)
  }

  private func judgeDisposition(
    _ disposition: Disposition, of input: Input, at now: Instant, _ before: Machine,
    _ after: Machine, _ effects: Effects
  ) throws(Violation) {
    if let epoch = input.epoch, !isLive(epoch), requested != epoch,
      disposition != .ignored(.staleEpoch)
    {
      throw Violation("I2", "\(input) belongs to no live attempt and was \(disposition)")
    }
    if case .ignored = disposition {
      if !effects.isEmpty { throw Violation("I2", "\(input) was \(disposition) and had effects") }
      // Mostly not even the time differs, and a copy costs more than the comparison.
      if !after.isEqualButForClock(to: before) {
        throw Violation("I2", "\(input) was \(disposition) and changed the machine")
      }
    }
  }

  private mutating func take(
    _ input: Input, disposition: Disposition, at now: Instant
  ) throws(Violation) {
    switch input {
    case .connect(let endpoint, let count):
      wanted = true
      isAsked = true
      endpoints = endpoint.rawValue...endpoint.rawValue + UInt32(max(count, 1)) - 1
      delayedUntil = nil
    case .close, .drain:
      wanted = false
      isAsked = false
    case .offer(let lane, let byteCount):
      try books.offered(disposition, lane: lane, byteCount: byteCount, at: now)
    case .transport(let epoch, .opened): mark(epoch) { $0.isOpen = true }
    case .session(let epoch, .ready), .session(let epoch, .resumed):
      mark(epoch) { $0.isReady = true }
    case .transport(let epoch, .failed), .transport(let epoch, .closed):
      transports.removeAll { $0.epoch == epoch }
    case .credentials: requested = nil
    case .cancel, .resized, .demandChanged, .lifecycleChanged, .pathChanged, .policyReplaced,
      .deadlineReached, .session, .transport:
      break
    }
  }

  private mutating func mark(_ epoch: Epoch, _ change: (inout Live) -> Void) {
    guard let place = transports.firstIndex(where: { $0.epoch == epoch }) else { return }
    change(&transports[place])
  }
}

// MARK: Effects

extension Referee {
  private mutating func carryOut(
    _ effect: Effect, input: Input, at now: Instant
  ) throws(Violation) {
    switch effect {
    case .requestCredentials(let epoch):
      try reserve(epoch, "asked credentials for")
      requested = epoch
    case .openTransport(let epoch, let endpoint):
      if requested == epoch { requested = nil }
      try dial(epoch, to: endpoint, isReserved: epoch == lastEpoch, at: now)
    case .startSession(let epoch, _): try requireOpen(epoch, "started a session on")
    case .closeTransport(let epoch):
      try requireOpen(epoch, "closed")
      mark(epoch) { $0.isClosing = true }
    case .abortTransport(let epoch):
      guard isLive(epoch) else { throw Violation("I3", "aborted \(epoch), which is not live") }
      transports.removeAll { $0.epoch == epoch }
    case .sendPing(let epoch, _), .sendBeat(let epoch, _): try requireOpen(epoch, "pinged")
    case .transmit(let epoch, let range):
      try requireOpen(epoch, "sent on")
      // I14: nothing of the application precedes the login.
      guard
        policy.sessionDeadline == nil
          || transports.contains(where: { $0.epoch == epoch && $0.isReady })
      else { throw Violation("I14", "sent \(range) on \(epoch) before its session was ready") }
      try books.transmitted(range, on: epoch, at: now)
    case .settle(let range, let outcome):
      try books.settled(range, as: outcome, after: input, at: now)
    case .ended(let epoch, let cause):
      guard !isLive(epoch) else {
        throw Violation("I3", "\(epoch) ended and its transport was not let go of")
      }
      guard let place = unended.firstIndex(of: epoch) else {
        throw Violation("I8", "\(epoch) ended twice, or was never dialled")
      }
      unended.remove(at: place)
      books.linkIsGone(epoch)
      let verdict = policy.verdict(on: cause, in: Circumstances())
      if verdict.minimumDelay > .zero || verdict.spread > .zero {
        delayedUntil = now + verdict.minimumDelay + verdict.spread
      }
    case .pressureChanged: break
    }
  }

  private mutating func reserve(_ epoch: Epoch, _ verb: String) throws(Violation) {
    guard wanted else { throw Violation("I1", "\(verb) \(epoch), which nobody wants") }
    guard epoch > lastEpoch else { throw Violation("I2", "\(verb) \(epoch) after \(lastEpoch)") }
    lastEpoch = epoch
  }

  private mutating func dial(
    _ epoch: Epoch, to endpoint: EndpointID, isReserved: Bool, at now: Instant
  ) throws(Violation) {
    if isReserved, unended.contains(epoch) { throw Violation("I2", "dialled \(epoch) twice") }
    if !isReserved { try reserve(epoch, "dialled") }
    guard wanted else { throw Violation("I1", "dialled \(epoch), which nobody wants") }
    // Make before break is the one exception: beside one link that is open, never a third.
    let mayStandBy =
      policy.rollover != nil && transports.count == 1 && unended.count == 1
      && transports[0].isOpen && !transports[0].isClosing
    guard transports.isEmpty && unended.isEmpty || mayStandBy else {
      throw Violation("I3", "dialled \(epoch) beside \(transports.map(\.epoch)), \(unended)")
    }
    guard endpoints.contains(endpoint.rawValue) else {
      throw Violation("F04", "dialled \(endpoint) and not what was last asked for")
    }
    if !isAsked, let lastDialAt, now - lastDialAt < policy.minimumDialSpacing {
      throw Violation("I6", "dialled \(epoch) only \(now - lastDialAt) s after the last dial")
    }
    isAsked = false
    lastDialAt = now
    transports.append(Live(epoch: epoch))
    unended.append(epoch)
  }

  private func requireOpen(_ epoch: Epoch, _ verb: String) throws(Violation) {
    guard let transport = transports.first(where: { $0.epoch == epoch }), transport.isOpen,
      !transport.isClosing
    else { throw Violation("I2", "\(verb) \(epoch), which is not open") }
  }
}

// MARK: The situation after a step

extension Referee {
  private mutating func judgeSituation(
    after machine: Machine, from: Phase, input: Input, at now: Instant
  ) throws(Violation) {
    let phase = machine.phase
    if from != phase, !from.leads(to: phase) {
      throw Violation("I7", "\(from) does not lead to \(phase)")
    }
    let standby = machine.standby.map { $0.stage == .authorizing ? 0 : 1 } ?? 0
    guard transports.count == (machine.primary == nil ? 0 : 1) + standby else {
      throw Violation("I9", "\(phase) with \(transports.count) live transports")
    }
    if let left = unended.first, machine.primary == nil {
      throw Violation("I8", "\(left) is gone and has no end")
    }
    try books.compare(with: machine)
    if phase == .closed { try books.requireNothingLeft() }
    if input == .deadlineReached, let next = machine.nextDeadline, next <= now {
      throw Violation("I4", "a deadline at \(next) was left unserved at \(now)")
    }
    try judgeWait(of: machine, at: now)
  }

  private func judgeWait(of machine: Machine, at now: Instant) throws(Violation) {
    switch machine.state {
    case .backingOff(let wait):
      let longest = max(
        max(policy.backoff.longestWait, policy.minimumDialSpacing), policy.path.returnJitter,
        max(policy.retryBudget?.interval ?? .zero, policy.patience?.slowWait ?? .zero))
      if wait.until > max(now + longest, delayedUntil ?? now) {
        throw Violation("I6", "waits until \(wait.until)")
      }
    case .offline, .waitingForCredentials:
      guard machine.nextDeadline != nil else { throw Violation("I10", "a hold without an exit") }
    case .linked:
      guard machine.phase == .open, let heartbeat = policy.heartbeat else { return }
      let interval = heartbeat.interval.nanoseconds
      let stretched = interval + interval / 100 * Int64(heartbeat.stretch - 100)
      let longest = max(.nanoseconds(stretched), heartbeat.timeout)
      guard let next = machine.nextDeadline, next - now <= longest else {
        throw Violation("I19", "open, and a dead peer would not be noticed")
      }
    case .idle, .suspended, .closed: return
    }
  }
}

extension Phase {
  /// Whether one step may lead from this phase to another one.
  ///
  /// Written from the diagram of the design, not from the machine. One step may pass through a
  /// phase: a link that ends may be followed at once by the next dial.
  func leads(to next: Phase) -> Bool {
    let isSeeking: Bool
    switch next {
    case .offline, .backingOff, .waitingForCredentials, .suspended, .connecting: isSeeking = true
    case .idle, .authenticating, .open, .closing, .closed: isSeeking = false
    }
    switch self {
    case .idle, .offline, .backingOff, .waitingForCredentials, .suspended, .closing:
      return isSeeking || next == .closed
    case .connecting:
      return isSeeking || next == .authenticating || next == .open || next == .closed
    case .authenticating: return isSeeking || next == .open || next == .closed
    case .open:
      // Authenticating, if a replacement on its way is what is left.
      return isSeeking || next == .authenticating || next == .closing || next == .closed
    case .closed: return isSeeking
    }
  }
}

// MARK: Exploration

extension Referee {
  /// Adds what matters of these books to a form that the machine has been added to.
  func add(to form: inout CanonicalForm) {
    let now = form.names.now
    form.add(wanted)
    form.add(isAsked)
    form.add(endpoints == form.names.destinations)
    form.add(lastEpoch == form.names.newest)
    form.add(requested == nil ? 0 : requested == form.names.newest ? 1 : 2, bits: 2)
    form.add(lastDialAt ?? .longAgo, before: now, limit: policy.minimumDialSpacing)
    form.add(delayedUntil ?? .longAgo, after: now)
    form.add(transports.count, bits: 2)
    for transport in transports {
      form.add(transport.epoch)
      form.add(transport.isOpen)
      form.add(transport.isReady)
      form.add(transport.isClosing)
    }
    form.add(unended.count, bits: 2)
    for epoch in unended { form.add(epoch) }
    books.add(to: &form)
  }
}
