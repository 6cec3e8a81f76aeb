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
    /// The application wants a connection, which the story takes for granted.
    case connect
    /// The path was over this interface from the beginning.
    case interface(String)
    /// The same so many times more.
    case again(Int, Int)
    case report(Epoch, Network.Report)
    /// A server that drives the heartbeat pings on the link of this epoch.
    case serverPing(Epoch)
  }

  // At one instant the story comes first, then the network, then the client's own deadlines: what
  // has arrived is read before a deadline is judged.
  enum Actor: UInt32 {
    case story
    case network
  }

  var story: Story
  var machine: Machine
  private var effects = Effects()
  private var referee: Referee
  private var timeBooks: TimeBooks
  var network: Network
  var coming = EventQueue<Coming>()
  var ledger = Ledger()
  /// How many steps the machine has made.
  private(set) var sequence: UInt64 = 0
  /// How many fresh links the application has asked for.
  var link: UInt32 = 0
  var interfaces: [String] = []
  private(set) var now = Instant.origin
  private var isAsleep = false
  /// What arrived while the device slept.
  private var unread: [(Epoch, Network.Report)] = []
  /// Whether anybody hears what happens: steps are recorded and notes are worded only then.
  var isWatched = true
  /// What it has met is counted here, where somebody wants to know.
  var cells: Cells?
  /// The steps whose callbacks have not run.
  var callbacks: [Int] = []

  /// Makes a run of a scenario.
  /// - Parameters:
  ///   - scenario: The story.
  ///   - seed: What all randomness is drawn from; the scenario's own seed replays it as recorded.
  /// - Throws: ``ScenarioError``, which names the step.
  public init(_ scenario: Scenario, seed: UInt64) throws(ScenarioError) {
    self.init(try Story(scenario), seed: seed)
  }

  init(_ story: Story, seed: UInt64) {
    self.story = story
    machine = Machine(policy: story.policy, seed: seed)
    referee = Referee(policy: story.policy)
    timeBooks = TimeBooks(policy: story.policy)
    network = Network(
      seed: seed,
      isSessionScripted: story.steps.contains {
        if case .network(.session, _, _, _) = $0.action { true } else { false }
      })
    schedule()
  }

  private mutating func schedule() {
    if let first = story.steps.first,
      case .environment(.pathSwitch(let from, _)) = story.steps.first(where: \.action.isPathSwitch)?
        .action
    {
      coming.schedule(.interface(from), at: first.at, by: Actor.story.rawValue)
    }
    let beginning = beginning
    for (index, step) in story.steps.enumerated() {
      if index == beginning { coming.schedule(.connect, at: step.at, by: Actor.story.rawValue) }
      coming.schedule(.step(index), at: step.at, by: Actor.story.rawValue)
      if case .callback = step.action { callbacks.append(index) }
    }
  }

  /// The step that takes a connect before it for granted: the first one, if it is of the network;
  /// in a story that never connects, the first that makes no sense without.
  private var beginning: Int? {
    if case .network = story.steps.first?.action { return 0 }
    if story.steps.contains(where: \.action.connects) { return nil }
    return story.steps.firstIndex { step in
      switch step.action {
      case .app(.send), .network: true
      case .app, .device, .environment, .provider, .callback, .expectation, .fleet, .mark: false
      }
    }
  }
}

// MARK: Running

extension Simulation {
  /// Every message that has ended, by its label, and how: “m1 written”.
  public var outcomes: [String] { ledger.allOutcomes }

  /// How many transports are live.
  var liveTransports: Int { referee.liveTransports }

  /// When each dial was made.
  package var dials: [Instant] { ledger.dials.map(\.at) }

  /// How many messages ended how.
  var endCounts: [(name: String, count: Int)] { ledger.endCounts }

  /// Every wait before a dial, in order.
  package var waits: [TimeSpan] { ledger.waits }
}

extension Simulation {
  /// Runs the whole story.
  /// - Parameter observe: Hears everything, in order.
  /// - Throws: ``Violation`` for a broken promise of the machine; ``ScenarioError`` for an
  ///   expectation that was not met or a step that nothing ever consumed.
  public mutating func run(_ observe: (Event) -> Void = { _ in }) throws {
    while try advance(observe) {}
  }

  /// Does the next thing of the story.
  /// - Parameter observe: Hears everything that came of it, in order.
  /// - Returns: Whether there was one; false at the end of the story.
  /// - Throws: As ``run(_:)``.
  public mutating func advance(_ observe: (Event) -> Void = { _ in }) throws -> Bool {
    guard let next = nextInstant, next <= story.end else {
      try requireAllConsumed()
      return false
    }
    now = next
    if coming.nextInstant == next, let (_, event) = coming.pop() {
      switch event {
      case .step(let index): try take(step: index, observe)
      case .connect: try connect(observe)
      case .interface(let name): try switchPath(to: name, observe)
      case .again(let index, let count): try repeatStep(index, times: count, observe)
      case .report(let epoch, let report): try hear(report, of: epoch, observe)
      case .serverPing(let epoch): try serverPing(on: epoch, observe)
      }
    } else {
      try input(.deadlineReached, observe)
    }
    return true
  }

  private var nextInstant: Instant? {
    guard !isAsleep, let deadline = machine.nextDeadline else { return coming.nextInstant }
    guard let event = coming.nextInstant else { return max(deadline, now) }
    return min(max(deadline, now), event)
  }

  private func requireAllConsumed() throws(ScenarioError) {
    if story.isDrawn { return }
    for place in unconsumedSteps where !story.unconsumed.contains(place) {
      throw ScenarioError(
        step: place,
        "\(story.words(of: place - 1).ev) was never consumed: no attempt was left for it; "
          + "list it under “unconsumed” if that is meant")
    }
  }

  /// The places, from 1, of steps that found nothing they could befall.
  var unconsumedSteps: [Int] {
    network.waiting.filter { $0.applied == 0 }.map(\.step) + network.moot
      + network.providerAnswers.map(\.step) + callbacks.map { $0 + 1 }
  }

  private mutating func take(step index: Int, _ observe: (Event) -> Void) throws {
    let step = story.steps[index]
    cells?.note(step.action.ev, in: machine.phase)
    switch step.action {
    case .app(let action):
      if isWatched, story.words(of: index).note != nil { tell(index, observe) }
      return try take(action, of: step, place: index + 1, observe)
    case .expectation(let expectation): return try check(expectation, place: index + 1)
    case .mark, .callback: return
    case .device, .environment, .provider, .network, .fleet: tell(index, observe)
    }
    switch step.action {
    case .device(let action): try take(action, observe)
    case .environment(let action): try take(action, observe)
    case .provider(let action): try take(action, place: index + 1, observe)
    case .network(let action, let aim, let repeats, let every):
      if every != nil { return try repeatStep(index, times: repeats, observe) }
      try take(action, aim, repeats: repeats, place: index + 1, observe)
    case .fleet:
      try input(.connect(EndpointID(0)), observe)
      let opening = NetworkAction.open(withSession: false)
      try take(opening, .next, repeats: 1, place: index + 1, observe)
    case .app, .expectation, .mark, .callback: break
    }
  }

  /// One at a time, however many: a story may ask for a billion.
  private mutating func repeatStep(
    _ index: Int, times count: Int, _ observe: (Event) -> Void
  ) throws {
    guard case .network(let action, let aim, _, let every?) = story.steps[index].action else {
      return
    }
    if count > 1 {
      coming.schedule(.again(index, count - 1), at: now + every, by: Actor.story.rawValue)
    }
    try take(action, aim, repeats: 1, place: index + 1, observe)
  }

  mutating func take(_ action: DeviceAction, _ observe: (Event) -> Void) throws {
    switch action {
    case .sleep: isAsleep = true
    case .wake:
      isAsleep = false
      let arrived = unread
      unread = []
      for (epoch, report) in arrived { try input(.report(report, of: epoch), observe) }
    case .lifecycle(let lifecycle): try input(.lifecycleChanged(lifecycle), observe)
    case .timer: try input(.deadlineReached, observe)
    }
  }

  mutating func hear(
    _ report: Network.Report, of epoch: Epoch, _ observe: (Event) -> Void
  ) throws {
    network.delivered(report, of: epoch)
    if case .transport(.opened) = report { expectServerPing(on: epoch) }
    if isAsleep {
      unread.append((epoch, report))
    } else {
      try input(.report(report, of: epoch), observe)
    }
  }
}

// MARK: The server's heartbeat

extension Simulation {
  /// Where the policy leaves the pings to the server, one that is up sends them.
  private mutating func expectServerPing(on epoch: Epoch) {
    guard let heartbeat = story.policy.heartbeat, heartbeat.isServerDriven else { return }
    coming.schedule(
      .serverPing(epoch), at: now + heartbeat.interval, by: Actor.network.rawValue)
  }

  private func hasUnread(_ epoch: Epoch) -> Bool { unread.contains { $0.0 == epoch } }

  private mutating func serverPing(on epoch: Epoch, _ observe: (Event) -> Void) throws {
    guard let place = network.place(of: epoch) else { return }
    expectServerPing(on: epoch)
    // One that waits unread says as much as many.
    guard network.isServed(network.links[place]), !(isAsleep && hasUnread(epoch)) else { return }
    try hear(.transport(.received(byteCount: 1)), of: epoch, observe)
  }
}

extension Input {
  static func report(_ report: Network.Report, of epoch: Epoch) -> Input {
    switch report {
    case .transport(let event): .transport(epoch, event)
    case .session(let event): .session(epoch, event)
    case .credentials(let answer): .credentials(epoch, answer)
    }
  }
}

extension Action {
  fileprivate var isPathSwitch: Bool {
    if case .environment(.pathSwitch) = self { return true }
    return false
  }

  fileprivate var connects: Bool {
    switch self {
    case .app(.connect), .fleet: true
    case .app, .device, .network, .environment, .provider, .callback, .expectation, .mark: false
    }
  }
}

// MARK: The machine's turn

extension Simulation {
  /// One step of the machine: judged, recorded, performed.
  mutating func input(_ input: Input, _ observe: (Event) -> Void) throws {
    let before = machine
    sequence += 1
    let disposition: Disposition
    if isWatched {
      let record = machine.handle(input, at: now, into: &effects, recordingAs: sequence)
      disposition = record.disposition
      observe(.step(record))
    } else {
      disposition = machine.handle(input, at: now, into: &effects)
    }
    // Whom an effect ends is known before the books are told.
    let ending = effects.isEmpty ? [] : endedMessages()
    try referee.judge(
      input, at: now, before: before, after: machine, disposition: disposition, effects: effects)
    try timeBooks.judge(input, at: now, before: before, after: machine, disposition, effects)
    ledger.note(disposition, effects, from: before.phase, to: machine, at: now)
    cells?.note(
      input, disposition, at: now, due: before.nextDeadline, from: before.phase,
      to: machine.phase)
    for place in effects.indices { perform(effects[place]) }
    for (id, outcome) in ending { ledger.ended(id, outcome) }
    if !network.waiting.isEmpty { pump() }
    if !callbacks.isEmpty { try runCallbacks(from: before.phase, observe) }
  }

  /// The live messages that the effects end, and how.
  // Mutating, like all that a step calls on the way: else the whole simulation is copied for it.
  private mutating func endedMessages() -> [(id: MessageID, outcome: Outcome)] {
    var ending: [(id: MessageID, outcome: Outcome)] = []
    for place in effects.indices {
      guard case .settle(let range, let outcome) = effects[place] else { continue }
      for id in referee.books.live(in: range) { ending.append((id, outcome)) }
    }
    return ending
  }

  /// What the application does inside a callback: after the transition and its effects, and before
  /// anything else (I17). A handler is in place for all that happens at its instant.
  private mutating func runCallbacks(from phase: Phase, _ observe: (Event) -> Void) throws {
    let due = callbacks.first { index in
      guard case .callback(let moment, _) = story.steps[index].action else { return false }
      return story.steps[index].at <= now
        && moment.isReached(from: phase, to: machine.phase, effects)
    }
    guard let due, case .callback(_, let calls) = story.steps[due].action else { return }
    callbacks.removeAll { $0 == due }
    tell(due, observe)
    for call in calls { try take(call, of: story.steps[due], place: due + 1, observe) }
  }

  private mutating func tell(_ index: Int, _ observe: (Event) -> Void) {
    if isWatched { observe(.note(now, story.words(of: index).line)) }
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .openTransport(let epoch, let endpoint): answer(network.dialled(epoch, endpoint))
    case .closeTransport(let epoch): answer(network.closeAsked(epoch))
    case .abortTransport(let epoch): network.letGo(epoch)
    case .sendPing(let epoch, let number), .sendBeat(let epoch, let number):
      answer(network.pinged(epoch, number))
    case .transmit(let epoch, let range):
      let ids = referee.books.live(in: range)
      for id in ids { ledger.sent(id) }
      answer(network.given(ids, to: epoch, lanes: story.policy.lanes))
    case .requestCredentials(let epoch): answer(network.credentialsAsked(epoch))
    case .startSession(let epoch, let resuming):
      answer(network.sessionStarted(epoch, resuming: resuming))
    case .settle, .ended, .pressureChanged: break
    }
  }

  mutating func answer(_ answers: [Network.Answer]) {
    for answer in answers {
      coming.schedule(
        .report(answer.epoch, answer.report), at: now + answer.delay, by: Actor.network.rawValue)
    }
  }

  /// Lets what waits for an attempt befall the one there is now.
  mutating func pump() { answer(network.pump()) }
}
