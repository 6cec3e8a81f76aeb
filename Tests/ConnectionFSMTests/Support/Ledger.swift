import ConnectionFSM

/// A strict witness: what was dialled, ended, taken, sent and settled, and what must never happen.
///
/// It knows the contract only, nothing of the machine's inside: one transport (I3), or two during a
/// planned replacement (F54), rising epochs (I2), one end an epoch (I8), one end a message that
/// tells the truth (I11), spaced dials (I6).
struct Ledger {
  /// A transport that was dialled and whose end was not told.
  struct Transport {
    let epoch: Epoch
    var isLive = true
    var isClosing = false
    /// Messages of the application may go to it.
    var isReady = false
    /// The newest message of each lane that went to it.
    var sentThrough: [LaneID: MessageID] = [:]
    /// The messages of each lane that it has, unsettled.
    var flying: [LaneID: Set<MessageID>] = [:]
  }

  struct Dial {
    let epoch: Epoch
    let endpoint: EndpointID
    let at: Instant
    let wasAsked: Bool
  }

  struct Message {
    let offeredAt: Instant
    var timesSent = 0
    var carrier: Epoch?
    var outcome: Outcome?
  }

  let lanes: [Lane]
  let spacing: TimeSpan
  /// Two where the policy replaces links by plan, else one.
  let mostLinks: Int
  private(set) var dials: [Dial] = []
  private(set) var ends: [(epoch: Epoch, cause: Cause)] = []
  private(set) var requests: [Epoch] = []
  private(set) var messages: [MessageID: Message] = [:]
  private(set) var pings = 0
  /// What was dialled and has not ended: oldest first, two at most.
  private(set) var transports: [Transport] = []

  /// The newest transport that holds resources, if any.
  var live: Epoch? { transports.last { $0.isLive }?.epoch }
  private var takenCounts: [LaneID: Int] = [:]
  private var livingCount = 0
  private var wasAsked = false
  private var wanted = false

  init(_ policy: Policy) {
    lanes = policy.lanes
    spacing = policy.minimumDialSpacing
    mostLinks = policy.rollover == nil ? 1 : 2
  }

  private func place(of epoch: Epoch) -> Int? { transports.firstIndex { $0.epoch == epoch } }

  private func isUsable(_ epoch: Epoch) -> Bool {
    transports.contains { $0.epoch == epoch && $0.isLive && !$0.isClosing }
  }

  /// How many messages a lane took.
  func offered(to lane: LaneID) -> Int { takenCounts[lane] ?? 0 }

  func outcome(_ id: MessageID) -> Outcome? { messages[id]?.outcome }

  /// Takes notice of a transition; returns what was wrong with it.
  mutating func note(
    _ input: Input, _ disposition: Disposition, _ effects: Effects, at now: Instant, phase: Phase
  ) -> String? {
    var problem: String?
    note(input, disposition, effects, at: now)
    if case .ignored = disposition, !effects.isEmpty { problem = "an ignored input had effects" }
    for effect in effects { problem = problem ?? perform(effect, at: now) }
    for transport in transports where !transport.isLive {
      problem = problem ?? "epoch \(transport.epoch.rawValue) has no end"
    }
    if phase != .closing, phase != .waitingForCredentials { wasAsked = false }
    if phase == .closed, livingCount > 0 {
      problem = problem ?? "I11: a message without an end"
    }
    return problem
  }

  private mutating func note(
    _ input: Input, _ disposition: Disposition, _ effects: Effects, at now: Instant
  ) {
    switch input {
    case .connect:
      wanted = true
      if disposition == .accepted { wasAsked = true }
    case .close, .drain:
      wanted = false
      wasAsked = false
    case .offer:
      guard case .taken(let id) = disposition else { return }
      messages[id] = Message(offeredAt: now)
      takenCounts[id.lane, default: 0] += 1
      livingCount += 1
    case .transport(let epoch, let event):
      guard let place = place(of: epoch) else { return }
      switch event {
      case .failed, .closed: transports[place].isLive = false
      case .opened:
        let hasSession =
          effects.contains { $0 == .startSession(epoch, resuming: false) }
          || effects.contains { $0 == .startSession(epoch, resuming: true) }
        if disposition == .accepted, !hasSession { transports[place].isReady = true }
      case .received, .pong, .written, .acknowledged, .writabilityChanged,
        .viabilityChanged, .drainRequested, .betterPathAvailable:
        return
      }
    case .session(let epoch, let event):
      guard let place = place(of: epoch), disposition == .accepted else { return }
      if event == .ready || event == .resumed { transports[place].isReady = true }
    case .cancel, .resized, .demandChanged, .lifecycleChanged, .pathChanged, .policyReplaced,
      .deadlineReached, .credentials:
      return
    }
  }

  private mutating func perform(_ effect: Effect, at now: Instant) -> String? {
    switch effect {
    case .requestCredentials(let epoch):
      requests.append(epoch)
      let isAllowed = wanted && transports.count < mostLinks
      return isAllowed ? nil : "I1: credentials for a dial that must not be"
    case .openTransport(let epoch, let endpoint): return dial(epoch, endpoint, at: now)
    case .startSession(let epoch, _):
      return isUsable(epoch) ? nil : "a session without its transport"
    case .closeTransport(let epoch):
      guard isUsable(epoch), let place = place(of: epoch) else {
        return "a close of what is not open"
      }
      transports[place].isClosing = true
      return nil
    case .abortTransport(let epoch):
      guard let place = place(of: epoch), transports[place].isLive else {
        return "an abort of what is gone"
      }
      transports[place].isLive = false
      return nil
    case .sendPing(let epoch, _), .sendBeat(let epoch, _):
      pings += 1
      return isUsable(epoch) ? nil : "I5: a ping without an open link"
    case .transmit(let epoch, let range): return transmit(range, on: epoch, at: now)
    case .settle(let range, let outcome):
      for place in transports.indices {
        transports[place].flying[range.first.lane] = transports[place].flying[range.first.lane]?
          .filter { !range.contains($0) }
      }
      return each(in: range) { message, lane in message.settle(outcome, as: lane) }
    case .ended(let epoch, let cause):
      guard let place = place(of: epoch) else {
        return "I8: a second end of epoch \(epoch.rawValue)"
      }
      guard !transports[place].isLive else { return "an end before the transport was let go" }
      transports.remove(at: place)
      ends.append((epoch, cause))
      return nil
    case .pressureChanged: return nil
    }
  }

  private mutating func transmit(
    _ range: MessageRange, on epoch: Epoch, at now: Instant
  ) -> String? {
    guard isUsable(epoch), let place = place(of: epoch) else {
      return "a message for a transport that is gone"
    }
    if transports.last(where: { $0.isReady })?.epoch != epoch {
      return "F54: a message for a link that is not the newest ready one"
    }
    let lane = range.first.lane
    for other in transports where other.epoch != epoch {
      if other.flying[lane]?.isEmpty == false { return "F54: two links share the order of a lane" }
    }
    if let last = transports[place].sentThrough[lane], range.first <= last { return "out of order" }
    transports[place].sentThrough[lane] = range.last
    for sequence in range.first.sequence...range.last.sequence {
      let id = MessageID(lane: lane, sequence: sequence)
      guard let message = messages[id], message.outcome == nil else { continue }
      transports[place].flying[lane, default: []].insert(id)
    }
    return each(in: range) { $0.send(on: epoch, as: $1, at: now) }
  }

  private mutating func dial(_ epoch: Epoch, _ endpoint: EndpointID, at now: Instant) -> String? {
    defer {
      dials.append(Dial(epoch: epoch, endpoint: endpoint, at: now, wasAsked: wasAsked))
      transports.append(Transport(epoch: epoch))
      wasAsked = false
    }
    if !wanted { return "I1: a dial that nobody wants" }
    if transports.count >= mostLinks { return "I3: a transport too many" }
    if let first = transports.first, !first.isReady || first.isClosing {
      return "F54: a replacement for what is not open"
    }
    if let last = dials.last {
      if epoch <= last.epoch { return "I2: an epoch that does not rise" }
      if !wasAsked, now - last.at < spacing { return "I6: an unasked dial too soon" }
    }
    return nil
  }

  private mutating func each(
    in range: MessageRange, _ act: (inout Message, Lane) -> String?
  ) -> String? {
    let lane = range.first.lane
    guard range.last.lane == lane, range.first <= range.last else { return "a broken range" }
    var touched = 0
    for sequence in range.first.sequence...range.last.sequence {
      let id = MessageID(lane: lane, sequence: sequence)
      guard var message = messages[id], message.outcome == nil else { continue }
      touched += 1
      let problem = act(&message, lanes[Int(lane.rawValue)])
      messages[id] = message
      if message.outcome != nil { livingCount -= 1 }
      if let problem { return "\(problem): \(render(id))" }
    }
    return touched > 0 ? nil : "a range without a living message"
  }
}

extension Ledger.Message {
  fileprivate mutating func send(on epoch: Epoch, as lane: Lane, at now: Instant) -> String? {
    if carrier == epoch { return "sent twice on one link" }
    if lane.delivery == .atMostOnce, timesSent > 0 { return "at most once, sent twice" }
    if let life = lane.timeToLive, now - offeredAt >= life { return "sent after its time to live" }
    timesSent += 1
    carrier = epoch
    return nil
  }

  fileprivate mutating func settle(_ outcome: Outcome, as lane: Lane) -> String? {
    self.outcome = outcome
    switch outcome {
    case .written: return lane.delivery == .atMostOnce && timesSent > 0 ? nil : "not written"
    case .acknowledged:
      return lane.delivery == .atLeastOnce && timesSent > 0 ? nil : "not acknowledged"
    case .expired, .evicted, .cancelled: return timesSent == 0 ? nil : "sent, and said not to be"
    case .inDoubt: return timesSent > 0 ? nil : "in doubt, and never sent"
    }
  }
}
