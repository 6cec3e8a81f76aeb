import ConnectionFSM

/// One run of a story over bytes, in virtual time.
///
/// Confined to the simulation's thread.
final class StreamRun<
  Engine: ProtocolEngine & SendableMetatype, Peer: ProtocolEngine & SendableMetatype
>: @unchecked Sendable {
  private let story: StreamStory
  private let seed: UInt64
  private let engine: @Sendable () -> Engine
  private let serverEngine: @Sendable () -> Peer
  private let observe: ((Simulation.Event) -> Void)?
  private let capture: ((Segment) -> Void)?
  private var judge: StreamJudge
  /// By when every message must have ended that was offered a second after all was well.
  private var health: (since: Instant, by: Instant)?
  private var isConnected = false
  private var isAsleep = false
  private var count = 0

  init(
    _ story: StreamStory, seed: UInt64, engine: @escaping @Sendable () -> Engine,
    serverEngine: @escaping @Sendable () -> Peer, _ observe: ((Simulation.Event) -> Void)?,
    _ capture: ((Segment) -> Void)?
  ) {
    self.story = story
    self.seed = seed
    self.engine = engine
    self.serverEngine = serverEngine
    self.observe = observe
    self.capture = capture
    judge = StreamJudge(policy: story.policy, seed: seed)
  }

  /// - Returns: What it came to.
  /// - Throws: Whatever ended it early.
  func live(on loop: SimulatedEventLoop) async throws -> StreamSimulation.Report {
    let stage = StreamStage(seed: seed, buffer: story.buffer)
    let world = SimulatedInternet(stage.internet, on: loop)
    let log = StreamLog(
      StreamBooks(story.messages, lanes: story.policy.lanes, heartbeats: heartbeats()), on: loop,
      observe)
    if log.isWatched {
      world.observeFaults { [weak world] fault in
        if let world { log.note(world.snapshot.words(for: fault)) }
      }
    }
    if let capture { world.observeSegments(of: stage.client, capture) }
    let server = SimulatedServer(
      world, host: stage.server, port: StreamStage.port, engine: serverEngine
    ) { message, peer in
      log.read(message, on: peer.number)
      peer.send(message)
    }
    let application = try connect(world, stage, log)
    loop.task("story") { [self] in
      await play(loop, world, stage, application, log)
      await end(world, stage, application, log)
      log.finish()
    }
    try await log.untilOver()
    try log.judgeEnd()
    return StreamSimulation.Report(
      steps: count, outcomes: log.outcomes, end: loop.now, connections: server.acceptedCount)
  }

  /// What a peer reads when it is pinged, where that is a message to it.
  private func heartbeats() -> Set<[UInt8]> {
    var (own, peer) = (engine(), serverEngine())
    var (up, down) = (EngineOutput(), EngineOutput())
    own.start(at: .origin, into: &up)
    peer.start(at: .origin, into: &down)
    // Their handshake: some words each way, at most.
    for _ in 0..<Self.handshake { exchange(&own, &up, &peer, &down) }
    down.events = []
    own.ping(1, into: &up)
    exchange(&own, &up, &peer, &down)
    return Set(
      down.events.compactMap { if case .message(let message) = $0 { message.bytes } else { nil } })
  }

  private static var handshake: Int { 4 }

  /// Gives each the other's words.
  private func exchange(
    _ own: inout Engine, _ up: inout EngineOutput, _ peer: inout Peer, _ down: inout EngineOutput
  ) {
    while own.hasMore { own.writeOn(into: &up) }
    while peer.hasMore { peer.writeOn(into: &down) }
    let (said, answered) = (up.bytes, down.bytes)
    (up.bytes, down.bytes) = ([], [])
    if !said.isEmpty { peer.receive(said.span.bytes, at: .origin, into: &down) }
    if !answered.isEmpty { own.receive(answered.span.bytes, at: .origin, into: &up) }
  }
}

// MARK: The connection

extension StreamRun {
  private func connect(
    _ world: SimulatedInternet, _ stage: StreamStage, _ log: StreamLog
  ) throws -> StreamApplication {
    let watches = LinkWatches(log)
    let engine = engine
    let dialer = WatchedDialer(world.dialer(from: stage.client), watches)
    let transport = StreamTransport(dialer) { WatchedEngine(engine(), watches.begin()) }
    // Set once there is one, and read from the connection's steps.
    let audience = Audience()
    nonisolated(unsafe) let handedOver = transport
    let connection = try Connection(handedOver, policy: story.policy, seed: seed) {
      [self] record in
      heard(record, watches, log)
      audience.application?.hears(record)
    }
    world.observePath(of: stage.client) { [weak connection] path in
      connection?.pathChanged(to: path)
    }
    let application = StreamApplication(connection, on: world.loop(of: stage.client), log)
    audience.application = application
    return application
  }

  private final class Audience: @unchecked Sendable {
    weak var application: StreamApplication?
  }

  private func heard(_ record: TraceRecord, _ watches: LinkWatches, _ log: StreamLog) {
    guard log.failure == nil else { return }
    count += 1
    log.tell(record)
    do { try judge.judge(record, watches) } catch { log.fail(error) }
  }
}

// MARK: The story

extension StreamRun {
  private func play(
    _ loop: SimulatedEventLoop, _ world: SimulatedInternet, _ stage: StreamStage,
    _ application: StreamApplication, _ log: StreamLog
  ) async {
    for (index, step) in story.steps.enumerated() {
      if let health, step.at > health.by { await judgeHealth(health, loop, log) }
      try? await loop.clock.sleep(until: step.at)
      guard log.failure == nil else { return }
      if step.action.isHarmful { health = nil }
      switch step.action {
      case .call(let call):
        if case .connect = call { isConnected = true }
        onDevice(world, stage) { application.call(call) }
      case .callback(let moment, let calls):
        onDevice(world, stage) { application.expect(moment, calls) }
      case .lifecycle(let lifecycle):
        onDevice(world, stage) { application.change(lifecycle) }
      case .faults(let faults): for fault in faults { befall(fault, world) }
      case .heal(let faults): heal(faults, world, stage, application)
      case .expectation(let expectation):
        // After all that the instant brings.
        try? await loop.clock.sleep(until: step.at + .nanoseconds(1))
        judge(expectation, world, stage, log, place: index + 1)
      case .mark: break
      }
    }
    if let health { await judgeHealth(health, loop, log) }
  }

  private func befall(_ fault: Fault, _ world: SimulatedInternet) {
    switch fault {
    case .sleep, .suspend: isAsleep = true
    case .wake: isAsleep = false
    case _: break
    }
    world.inject(fault)
  }

  private func onDevice(
    _ world: SimulatedInternet, _ stage: StreamStage, _ work: @escaping () -> Void
  ) {
    world.loop(of: stage.client).later(work)
  }

  private func heal(
    _ faults: [Fault], _ world: SimulatedInternet, _ stage: StreamStage,
    _ application: StreamApplication
  ) {
    for fault in faults { befall(fault, world) }
    onDevice(world, stage) {
      application.forgetCallbacks()
      application.change(.foreground)
      application.call(.demand(true))
    }
    guard isConnected, let bound = story.policy.timeToHealth else {
      return
    }
    let since = world.snapshot.now + .seconds(1)
    health = (since, since + bound)
  }

  private func judgeHealth(
    _ health: (since: Instant, by: Instant), _ loop: SimulatedEventLoop, _ log: StreamLog
  ) async {
    try? await loop.clock.sleep(until: health.by)
    self.health = nil
    if let label = log.pending(through: health.since) {
      log.fail(
        Violation(
          "I19", "\(label) has no end at \(health.by), though all was well from \(health.since) on")
      )
    }
  }

  private func judge(
    _ expectation: StreamExpectation, _ world: SimulatedInternet, _ stage: StreamStage,
    _ log: StreamLog, place: Int
  ) {
    let problem: String?
    switch expectation {
    case .state(let expected):
      let phase = "\(judge.phase)"
      problem = phase == expected ? nil : "the state is \(phase), not \(expected)"
    case .live(let expected):
      let count = world.snapshot.heldSockets(of: stage.client)
      problem = count == expected ? nil : "the client holds \(count) sockets, not \(expected)"
    case .outcome(let labels, let expected):
      let wrong = labels.first { log.outcome(of: $0) != expected }
      problem = wrong.map {
        "\($0) is \(log.outcome(of: $0) ?? "not offered"), not \(expected)"
      }
    }
    if let problem { log.fail(ScenarioError(step: place, problem)) }
  }
}

// MARK: The end

extension StreamRun {
  /// Closes, and sees to it that nothing is left.
  private func end(
    _ world: SimulatedInternet, _ stage: StreamStage, _ application: StreamApplication,
    _ log: StreamLog
  ) async {
    guard log.failure == nil else { return }
    // An application asleep would never close.
    if isAsleep { befall(.wake(stage.client, sockets: .kept), world) }
    await application.close()
    judgeLeftovers(world, stage, log)
    if application.release() != nil {
      log.fail(Violation("I18", "without a user the connection is still there"))
    }
    guard log.failure == nil else { return }
    let heard = await application.statesHeard()
    guard judge.phase == .closed || judge.phase == .idle else {
      return log.fail(Violation("I18", "let go of, the connection is left \(judge.phase)"))
    }
    judgeLeftovers(world, stage, log)
    judge(states: heard, log)
  }

  /// After a close, and after a release, once it has been told.
  private func judgeLeftovers(
    _ world: SimulatedInternet, _ stage: StreamStage, _ log: StreamLog
  ) {
    guard judge.phase == .closed || judge.phase == .idle else { return }
    let held = world.snapshot.heldSockets(of: stage.client)
    guard judge.liveTransports > 0 || held > 0 else { return }
    log.fail(
      Violation("I18", "after the end \(held) sockets and \(judge.liveTransports) links are left"))
  }

  /// The consumer of states hears the present one, and then each change.
  private func judge(states heard: [Explanation], _ log: StreamLog) {
    for (place, state) in judge.states.enumerated() {
      let told = place + 1 < heard.count ? heard[place + 1] : nil
      guard told != state else { continue }
      return log.fail(
        Violation(
          "I17",
          "the states told \(told.map { "\($0.phase)" } ?? "nothing") as the \(place + 1)., "
            + "and it was \(state.phase)"))
    }
    if heard.count > judge.states.count + 1 {
      log.fail(Violation("I17", "the states told \(heard.count - 1) of \(judge.states.count)"))
    }
  }
}
