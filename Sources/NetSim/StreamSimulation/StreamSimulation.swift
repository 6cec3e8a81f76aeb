public import ConnectionFSM

/// Runs a scenario over bytes: the connection that ships, over a protocol engine, over a simulated
/// internet, in virtual time.
///
/// Everything that it promises is judged while it runs, and the first broken promise ends the run:
///
/// - each step of its trace, by a machine of the same policy and seed and by the referee (F59);
/// - at the seams of each link, that what is written, read and reported is what happened (I2, I12,
///   I23), and that a link which is over is let go of (I18);
/// - each message's end, and that the server has read what that end says, in order (I11, I22);
/// - that what arrives is what was sent, and that an echo which acknowledges a message is delivered
///   (I12, I13);
/// - that callbacks and states are told in order, and never inside another step (I17);
/// - that a `net.heal` after which nothing more befalls brings every message to its end within
///   a bound of the policy (I19), and that nothing waits for ever;
/// - that after the close nothing is left: no socket, deadline, task or connection (I18).
///
/// The server echoes. A story that does not end with a close is closed after its last step.
public struct StreamSimulation: Sendable {
  /// Lives through the story once, over the two engines.
  private let live:
    @Sendable (
      _ observe: ((Simulation.Event) -> Void)?, _ capture: ((Segment) -> Void)?
    ) throws -> Report

  /// What a run came to.
  public struct Report: Sendable {
    /// How many steps the machine took.
    public var steps = 0
    /// How each message ended, in the story's order: “a written”.
    public var outcomes: [String] = []
    /// When the run was over.
    public var end = Instant.origin
    /// How many connections the server has accepted.
    public var connections = 0
  }

  /// Makes a run of a scenario in a protocol that both ends speak alike.
  /// - Parameters:
  ///   - scenario: The story; it says `"over": "bytes"`.
  ///   - seed: What all randomness is drawn from; the scenario's own seed replays it as recorded.
  ///   - engine: Makes an engine for each end of each link. A peer that echoes what it receives
  ///     acknowledges it; it must be able to ping if the policy has a heartbeat.
  /// - Throws: ``ScenarioError``, which names the step.
  public init(
    _ scenario: Scenario, seed: UInt64,
    engine: @escaping @Sendable () -> some ProtocolEngine & SendableMetatype
  ) throws(ScenarioError) {
    try self.init(scenario, seed: seed, engine: engine, serverEngine: engine)
  }

  /// Makes a run of a scenario in a protocol whose two ends differ.
  /// - Parameters:
  ///   - scenario: The story; it says `"over": "bytes"`.
  ///   - seed: What all randomness is drawn from; the scenario's own seed replays it as recorded.
  ///   - engine: Makes an engine for the client's end of each link. It must be able to ping if the
  ///     policy has a heartbeat.
  ///   - serverEngine: Makes an engine for the server's end of each connection. What it receives is
  ///     echoed, and with that acknowledged.
  /// - Throws: ``ScenarioError``, which names the step.
  public init<Engine: ProtocolEngine & SendableMetatype, Peer: ProtocolEngine & SendableMetatype>(
    _ scenario: Scenario, seed: UInt64, engine: @escaping @Sendable () -> Engine,
    serverEngine: @escaping @Sendable () -> Peer
  ) throws(ScenarioError) {
    let story = try StreamStory(scenario)
    live = { observe, capture in
      let run = StreamRun(
        story, seed: seed, engine: engine, serverEngine: serverEngine, observe, capture)
      return try VirtualTime.run(limit: story.limit) { try await run.live(on: $0) }
    }
  }

  /// Runs the whole story.
  /// - Parameters:
  ///   - observe: Hears everything, in order: the trace, what befalls, and what the server and the
  ///     application read.
  ///   - capture: Hears every TCP segment that leaves or reaches the client.
  /// - Throws: ``Violation`` for a broken promise; ``ScenarioError`` for an expectation that was
  ///   not met; `ConnectionError` where policy and engine do not fit.
  public func run(
    _ observe: ((Simulation.Event) -> Void)? = nil, capture: ((Segment) -> Void)? = nil
  ) throws -> Report {
    do {
      return try live(observe, capture)
    } catch let error as VirtualTimeError {
      throw Violation(error)
    }
  }
}

extension Policy {
  /// How long after a `net.heal` every message must have come to its end, at the latest; nil
  /// without a heartbeat, which alone finds a dead peer out.
  ///
  /// What may have to pass, one after the other: either the open link is dead, which a ping finds
  /// out (its interval, its timeout as often as it may be missed, and once more for a verdict that
  /// came late), or a dial is under way that leads nowhere (its deadline); a wait of the backoff,
  /// or of the spacing of dials; the jitter and the debouncing of a path that came back; a dial;
  /// and 10 s for the messages themselves, on a link of 1 ms.
  package var timeToHealth: TimeSpan? {
    guard let heartbeat else { return nil }
    let connect = connectDeadlineLimit ?? connectDeadline
    var detection = heartbeat.interval + heartbeat.timeout
    for _ in 0..<heartbeat.misses { detection = detection + heartbeat.timeout }
    let wait = max(
      backoff.longestWait, minimumDialSpacing, patience.map { $0.slowWait } ?? .zero)
    let returning = path.debounce + path.returnJitter
    return max(detection, connect) + wait + returning + connect + .seconds(10)
  }
}

extension Violation {
  /// What a simulation that could not go on means for the connection that it ran.
  init(_ error: VirtualTimeError) {
    switch error {
    case .stuck, .timeLimit, .endless: self.init("I19", "\(error)")
    case .leaked: self.init("I18", "\(error)")
    case .escaped: self.init("F59", "\(error)")
    }
  }
}

/// A scenario over bytes whose words are understood.
struct StreamStory: Sendable {
  struct Step: Sendable {
    let at: Instant
    let action: StreamAction
  }

  let policy: Policy
  let steps: [Step]
  let buffer: Int?
  let messages: [StreamMessage]
  /// How much virtual time a run may take: its close is cut after the policy's deadlines.
  let limit: TimeSpan

  init(_ scenario: Scenario) throws(ScenarioError) {
    guard scenario.over == .bytes else {
      throw ScenarioError(
        step: nil, "is told of a bare machine: run it as a Simulation, or say \"over\": \"bytes\"")
    }
    policy = scenario.policy
    let cast = try Cast(scenario)
    var reader = StreamReader(lanes: policy.lanes.count)
    var steps: [Step] = []
    var last = 0.0
    for (index, step) in scenario.steps.enumerated() {
      let action = try reader.read(step, place: index + 1, cast: cast)
      guard step.t >= last else {
        throw ScenarioError(step: index + 1, "t is earlier than that of the step before")
      }
      last = step.t
      steps.append(Step(at: .origin + TimeSpan(seconds: step.t), action: action))
    }
    self.steps = steps
    buffer = reader.buffer
    messages = steps.flatMap(\.action.messages)
    let end = steps.last.map { $0.at - .origin } ?? .zero
    limit =
      end + (policy.timeToHealth ?? .zero) + policy.closeDeadline + policy.drainDeadline
      + .seconds(60)
  }
}

extension StreamAction {
  fileprivate var messages: [StreamMessage] {
    switch self {
    case .call(let call): call.messages
    case .callback(_, let calls): calls.flatMap(\.messages)
    case .lifecycle, .faults, .heal, .expectation, .mark: []
    }
  }
}

extension StreamCall {
  fileprivate var messages: [StreamMessage] {
    switch self {
    case .send(let messages): messages
    case .connect, .close, .release, .cancel, .demand: []
    }
  }
}
