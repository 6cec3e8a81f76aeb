import ConnectionFSM

/// A strict witness: what was dialled, ended, taken, sent and settled, and what must never happen.
///
/// It knows the contract only, nothing of the machine's inside: one transport (I3), rising epochs
/// (I2), one end an epoch (I8), one end a message that tells the truth (I11), spaced dials (I6).
struct Ledger {
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
  private(set) var dials: [Dial] = []
  private(set) var ends: [(epoch: Epoch, cause: Cause)] = []
  private(set) var requests: [Epoch] = []
  private(set) var messages: [MessageID: Message] = [:]
  private(set) var pings = 0
  /// The newest message of each lane that went to the live transport.
  private var sentThrough: [LaneID: MessageID] = [:]

  /// The transport that holds resources, if any.
  private(set) var live: Epoch?
  private var takenCounts: [LaneID: Int] = [:]
  private var livingCount = 0
  private var isClosing = false
  private var wasAsked = false
  private var unended: Epoch?
  private var wanted = false

  init(lanes: [Lane], spacing: TimeSpan) {
    self.lanes = lanes
    self.spacing = spacing
  }

  /// How many messages a lane took.
  func offered(to lane: LaneID) -> Int { takenCounts[lane] ?? 0 }

  func outcome(_ id: MessageID) -> Outcome? { messages[id]?.outcome }

  /// Takes notice of a transition; returns what was wrong with it.
  mutating func note(
    _ input: Input, _ disposition: Disposition, _ effects: Effects, at now: Instant, phase: Phase
  ) -> String? {
    var problem: String?
    note(input, disposition, at: now)
    if case .ignored = disposition, !effects.isEmpty { problem = "an ignored input had effects" }
    for effect in effects { problem = problem ?? perform(effect, at: now) }
    if let unended, live == nil { problem = problem ?? "epoch \(unended.rawValue) has no end" }
    if phase != .closing, phase != .waitingForCredentials { wasAsked = false }
    if phase == .closed, livingCount > 0 {
      problem = problem ?? "I11: a message without an end"
    }
    return problem
  }

  private mutating func note(_ input: Input, _ disposition: Disposition, at now: Instant) {
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
      guard epoch == live else { return }
      switch event {
      case .failed, .closed: live = nil
      case .opened, .received, .pong, .written, .acknowledged, .writabilityChanged,
        .viabilityChanged, .drainRequested, .betterPathAvailable:
        return
      }
    case .cancel, .resized, .demandChanged, .lifecycleChanged, .pathChanged, .policyReplaced,
      .deadlineReached, .credentials, .session:
      return
    }
  }

  private mutating func perform(_ effect: Effect, at now: Instant) -> String? {
    switch effect {
    case .requestCredentials(let epoch):
      requests.append(epoch)
      return wanted && live == nil ? nil : "I1: credentials for a dial that must not be"
    case .openTransport(let epoch, let endpoint): return dial(epoch, endpoint, at: now)
    case .startSession(let epoch, _):
      return live == epoch && !isClosing ? nil : "a session without its transport"
    case .closeTransport(let epoch):
      guard live == epoch, !isClosing else { return "a close of what is not open" }
      isClosing = true
      return nil
    case .abortTransport(let epoch):
      guard live == epoch else { return "an abort of what is gone" }
      live = nil
      return nil
    case .sendPing(let epoch, _), .sendBeat(let epoch, _):
      pings += 1
      return live == epoch && !isClosing ? nil : "I5: a ping without an open link"
    case .transmit(let epoch, let range):
      guard live == epoch, !isClosing else { return "a message for a transport that is gone" }
      if let last = sentThrough[range.first.lane], range.first <= last { return "out of order" }
      sentThrough[range.first.lane] = range.last
      return each(in: range) { $0.send(on: epoch, as: $1, at: now) }
    case .settle(let range, let outcome):
      return each(in: range) { message, lane in message.settle(outcome, as: lane) }
    case .ended(let epoch, let cause):
      guard unended == epoch else { return "I8: a second end of epoch \(epoch.rawValue)" }
      guard live == nil else { return "an end before the transport was let go" }
      unended = nil
      ends.append((epoch, cause))
      return nil
    case .pressureChanged: return nil
    }
  }

  private mutating func dial(_ epoch: Epoch, _ endpoint: EndpointID, at now: Instant) -> String? {
    defer {
      dials.append(Dial(epoch: epoch, endpoint: endpoint, at: now, wasAsked: wasAsked))
      (live, unended, isClosing, wasAsked) = (epoch, epoch, false, false)
      sentThrough = [:]
    }
    if !wanted { return "I1: a dial that nobody wants" }
    if live != nil || unended != nil { return "I3: a second transport" }
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
