public import ConnectionFSM

/// Runs one machine against a scripted or a serving network, in virtual time.
///
/// The owner of the machine here is a strict one: a referee carries out each effect on its own
/// books and stops the run at the first illegal one. Nothing sleeps: time jumps to the next thing
/// that happens.
public struct Simulation: Sendable {
  /// What a run has to tell, in order.
  public enum Event: Sendable {
    /// A step of the machine.
    case step(TraceRecord)
    /// Something else worth a line: what the network or the device did.
    case note(Instant, String)
  }

  /// Something that is to come.
  enum Coming: Sendable {
    case step(Int)
    case report(Epoch, TransportEvent)
  }

  // At one instant the story comes first, then the network, then the client's own deadlines: what
  // has arrived is read before a deadline is judged.
  enum Actor: UInt32 {
    case story
    case network
  }

  let scenario: Scenario
  let actions: [Action]
  private(set) var machine: Machine
  private var effects = Effects()
  private var referee: Referee
  var network: Network
  var coming = EventQueue<Coming>()
  private(set) var ledger = Ledger()
  private var sequence: UInt64 = 0
  private(set) var now = Instant.origin
  private var isAsleep = false
  /// What arrived while the device slept.
  private var unread: [(Epoch, TransportEvent)] = []

  /// Makes a run of a scenario.
  /// - Parameters:
  ///   - scenario: The story.
  ///   - seed: What all randomness is drawn from; the scenario's own seed replays it as recorded.
  /// - Throws: ``ScenarioError``, which names the step.
  public init(_ scenario: Scenario, seed: UInt64) throws(ScenarioError) {
    guard scenario.policy.sessionDeadline == nil, scenario.policy.credentialsDeadline == nil else {
      throw ScenarioError(
        step: nil,
        "the simulated network answers no session and no credentials: leave both "
          + "deadlines out of the policy")
    }
    self.scenario = scenario
    machine = Machine(policy: scenario.policy, seed: seed)
    referee = Referee(policy: scenario.policy)
    network = Network(seed: seed)
    var actions: [Action] = []
    for (index, step) in scenario.steps.enumerated() {
      actions.append(try ActionReader(step: step, place: index + 1).read())
    }
    self.actions = actions
    if case .network = actions.first, let first = scenario.steps.first {
      // A timeline that starts with what the network does means: connect, then that.
      coming.schedule(.step(-1), at: Self.instant(first), by: Actor.story.rawValue)
    }
    var last = 0.0
    for (index, step) in scenario.steps.enumerated() {
      guard step.t >= last else {
        throw ScenarioError(step: index + 1, "t is earlier than that of the step before")
      }
      last = step.t
      coming.schedule(.step(index), at: Self.instant(step), by: Actor.story.rawValue)
    }
  }

  private static func instant(_ step: Scenario.Step) -> Instant {
    .origin + TimeSpan(seconds: step.t)
  }
}

// MARK: Running

extension Simulation {
  /// Every message that has ended, by its label, and how: “m1 written”.
  public var outcomes: [String] { ledger.allOutcomes }

  /// How many transports are live.
  var liveTransports: Int { referee.liveTransports }
}

extension Simulation {
  /// Runs the whole story.
  /// - Parameter observe: Hears everything, in order.
  /// - Throws: ``Violation`` for a broken promise of the machine; ``ScenarioError`` for an
  ///   expectation that was not met or a step that nothing ever consumed.
  public mutating func run(_ observe: (Event) -> Void = { _ in }) throws {
    let end = scenario.steps.last.map(Self.instant) ?? .origin
    while let next = nextInstant, next <= end {
      now = next
      if coming.nextInstant == next, let (_, event) = coming.pop() {
        switch event {
        case .step(let index): try take(step: index, observe)
        case .report(let epoch, let event): try hear(event, of: epoch, observe)
        }
      } else {
        try input(.deadlineReached, observe)
      }
    }
    try requireAllConsumed()
  }

  private var nextInstant: Instant? {
    guard !isAsleep, let deadline = machine.nextDeadline else { return coming.nextInstant }
    guard let event = coming.nextInstant else { return max(deadline, now) }
    return min(max(deadline, now), event)
  }

  private func requireAllConsumed() throws(ScenarioError) {
    let excused = scenario.unconsumed ?? []
    for waiting in network.waiting where waiting.applied == 0 {
      if !excused.contains(waiting.step) {
        throw ScenarioError(
          step: waiting.step,
          "\(scenario.steps[waiting.step - 1].ev) was never consumed: no attempt was left for it; "
            + "list it under “unconsumed” if that is meant")
      }
    }
  }

  private mutating func take(step index: Int, _ observe: (Event) -> Void) throws {
    guard index >= 0 else { return try input(.connect(EndpointID(0)), observe) }
    let step = scenario.steps[index]
    switch actions[index] {
    case .app(let action):
      if step.note != nil { observe(.note(now, step.line)) }
      try take(action, step: step, place: index + 1, observe)
    case .device(let action):
      observe(.note(now, step.line))
      try take(action, observe)
    case .environment(let action):
      observe(.note(now, step.line))
      try take(action, observe)
    case .network(let action, let attempt, let repeats):
      observe(.note(now, step.line))
      try take(action, attempt: attempt, repeats: repeats, place: index + 1, observe)
    case .expectation(let expectation):
      try check(expectation, place: index + 1)
    case .mark: break
    }
  }

  private mutating func take(_ action: DeviceAction, _ observe: (Event) -> Void) throws {
    switch action {
    case .sleep: isAsleep = true
    case .wake:
      isAsleep = false
      let arrived = unread
      unread = []
      for (epoch, event) in arrived { try input(.transport(epoch, event), observe) }
    case .lifecycle(let lifecycle): try input(.lifecycleChanged(lifecycle), observe)
    }
  }

  private mutating func hear(
    _ event: TransportEvent, of epoch: Epoch, _ observe: (Event) -> Void
  ) throws {
    network.delivered(event, of: epoch)
    if isAsleep {
      unread.append((epoch, event))
    } else {
      try input(.transport(epoch, event), observe)
    }
  }
}

// MARK: The machine's turn

extension Simulation {
  /// One step of the machine: judged, recorded, performed.
  mutating func input(_ input: Input, _ observe: (Event) -> Void) throws {
    let before = machine
    sequence += 1
    let record = machine.handle(input, at: now, into: &effects, recordingAs: sequence)
    observe(.step(record))
    let ending = effects.map { effect -> [MessageID] in
      guard case .settle(let range, _) = effect else { return [] }
      return referee.books.live(in: range)
    }
    try referee.judge(
      input, at: now, before: before, after: machine, disposition: record.disposition,
      effects: effects)
    ledger.note(record, machine: machine)
    for (effect, ids) in zip(effects, ending) { perform(effect, ending: ids) }
    pump()
  }

  private mutating func perform(_ effect: Effect, ending: [MessageID]) {
    switch effect {
    case .openTransport(let epoch, _): answer(network.dialled(epoch))
    case .closeTransport: answer(network.closeAsked())
    case .abortTransport: network.letGo()
    case .sendPing(_, let number), .sendBeat(_, let number): answer(network.pinged(number))
    case .transmit(_, let range):
      let ids = referee.books.live(in: range)
      for id in ids { ledger.sent(id) }
      answer(network.given(ids, acknowledges: acknowledges))
    case .settle(_, let outcome):
      for id in ending { ledger.ended(id, "\(outcome)") }
    case .requestCredentials, .startSession, .ended, .pressureChanged: break
    }
  }

  private func acknowledges(_ id: MessageID) -> Bool {
    scenario.policy.lanes[Int(id.lane.rawValue)].delivery == .atLeastOnce
  }

  private mutating func answer(_ answers: [Network.Answer]) {
    for answer in answers {
      coming.schedule(
        .report(answer.epoch, answer.event), at: now + answer.delay, by: Actor.network.rawValue)
    }
  }

  /// Lets what waits for an attempt befall the one there is now.
  mutating func pump() { answer(network.pump()) }
}

// MARK: The story's turn

extension Simulation {
  private mutating func take(
    _ action: AppAction, step: Scenario.Step, place: Int, _ observe: (Event) -> Void
  ) throws {
    switch action {
    case .connect(let endpoint): try input(.connect(endpoint), observe)
    case .close: try input(.close, observe)
    case .demand(let demand): try input(.demandChanged(demand), observe)
    case .cancel(let label):
      guard let id = ledger.id(of: label) else {
        throw ScenarioError(step: place, "no message “\(label)” was taken before")
      }
      try input(.cancel(id), observe)
    case .send(let labels):
      for label in labels {
        guard !ledger.knows(label) else {
          throw ScenarioError(step: place, "there is a message “\(label)” already")
        }
        ledger.offered = label
        let byteCount = step.bytes ?? UInt32(clamping: label.utf8.count)
        try input(.offer(LaneID(step.lane ?? 0), byteCount: byteCount), observe)
      }
    }
  }

  private mutating func take(_ action: EnvironmentAction, _ observe: (Event) -> Void) throws {
    switch action {
    case .nothing: break
    case .latency(let latency): network.latency = latency
    case .serverUp: answer(network.serverUp())
    case .serverDown: answer(network.serverDown())
    case .path(let status, let isLie):
      if !isLie { answer(network.pathChanged(isDown: status == .down)) }
      try input(.pathChanged(Path(status)), observe)
    }
  }

  private mutating func take(
    _ action: NetworkAction, attempt: UInt64?, repeats: Int, place: Int,
    _ observe: (Event) -> Void
  ) throws {
    if let attempt, let stale = network.stale(action, attempt: Epoch(attempt)) {
      return try input(.transport(Epoch(attempt), stale), observe)
    }
    let waiting = Network.Waiting(
      action: action, attempt: attempt.map { Epoch($0) }, repeats: repeats, step: place)
    answer(network.befall(waiting))
    pump()
  }
}

extension Scenario.Step {
  /// The step as a line of the trace, with its author's remark.
  fileprivate var line: String {
    let event = arg.map { "\(ev) \($0)" } ?? ev
    return note.map { "\(event): \($0)" } ?? event
  }
}
