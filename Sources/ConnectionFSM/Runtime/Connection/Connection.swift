/// A connection that comes back: connect once, send and receive, close.
///
/// It contains no decisions of its own: a ``Machine`` decides by the ``Policy``, a ``Transport``
/// carries. All of it happens on the transport's ``EventLoop``; every method here may be called
/// from anywhere, also from inside a callback, and takes effect in the order of the calls.
///
/// Letting go of the last reference ends the link at once, and messages without an end are reported
/// cancelled or in doubt.
public final class Connection: Sendable {
  private let loop: any EventLoop
  private let driver: Driver

  /// Makes a connection at rest.
  ///
  /// - Parameters:
  ///   - transport: What carries the messages; handed over.
  ///   - policy: The knobs.
  ///   - seed: What random waits are drawn from; nil draws one from the system. Give one to replay.
  ///   - beat: The words of the policy's beat; needed where it has one.
  ///   - credentials: Who is asked for credentials before each dial; needed where the policy has a
  ///     ``Policy/credentialsDeadline``, and only there.
  ///   - trace: Called on the loop with every step of the machine, before its effects are
  ///     performed.
  /// - Throws: ``ConnectionError`` if the policy asks for what the transport cannot do.
  public init(
    _ transport: sending any Transport, policy: Policy, seed: UInt64? = nil,
    beat: BeatMessage? = nil, credentials: CredentialsProvider? = nil,
    trace: (@Sendable (TraceRecord) -> Void)? = nil
  ) throws(ConnectionError) {
    if let heartbeat = policy.heartbeat, !heartbeat.isServerDriven, !transport.canPing {
      throw .heartbeatNeedsPing
    }
    if policy.sessionDeadline != nil { throw .stageNeedsProvider }
    if policy.credentialsDeadline != nil, credentials == nil { throw .credentialsNeedProvider }
    if credentials != nil {
      if policy.credentialsDeadline == nil { throw .providerNeedsDeadline }
      if !transport.canAuthenticate { throw .credentialsNeedAuthentication }
    }
    if let expected = policy.beat {
      guard let beat else { throw .beatNeedsMessage }
      if expected.answerTimeout != nil, beat.isAnswer == nil { throw .beatNeedsAnswer }
    }
    loop = transport.eventLoop
    driver = Driver(
      transport: transport, policy: policy, seed: seed ?? Self.systemSeed(), beat: beat,
      credentials: credentials, trace: trace)
  }

  /// The only use of the system's generator: two clients of one server must not share a seed.
  private static func systemSeed() -> UInt64 {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }

  deinit {
    loop.execute { [driver] in
      driver.shutDown()
      driver.observers.finish()
    }
  }
}

// MARK: Wishes

extension Connection {
  /// Wants a connection to the endpoint, now and after every loss, until ``close()``.
  ///
  /// While one to the same endpoint exists or is on its way this changes nothing; a wait for the
  /// next attempt is cut short; a connection to another endpoint is let go of first (F01, F04), and
  /// messages that still wait go to the new one: ``close()`` before, if they must not. After a
  /// close whose peer has not answered yet, the new connection follows the answer, and messages are
  /// turned away until then.
  public func connect(to endpoint: Endpoint) {
    loop.execute { [driver] in driver.connect(to: endpoint) }
  }

  /// Wants no connection any more: what was given to the link is sent, what waits is cancelled, and
  /// nothing dials until the next connect (I1). Returns once that is done, even in a cancelled
  /// task.
  public func close() async {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { [driver] in driver.close { continuation.resume() } }
      if !isRunning { continuation.resume() }
    }
  }

  /// Sends a message and waits for its end.
  ///
  /// While there is no link the message waits in its lane, as the policy says. Cancelling the task
  /// takes the message back if no link was given it yet; what was given ends as it would have.
  /// - Returns: How it ended: for instance written, acknowledged, expired, or in doubt.
  /// - Throws: Why it was turned away at the door.
  @discardableResult
  public func send(
    _ message: Message, in lane: LaneID = LaneID(0)
  ) async throws(Rejection) -> Outcome {
    let ticket = SendTicket()
    let result: Result<Outcome, Rejection> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        offer(message, in: lane, ticket) { continuation.resume(returning: $0) }
      }
    } onCancel: { [loop, driver] in
      loop.execute { driver.cancel(ticket) }
    }
    return try result.get()
  }

  /// Sends a message without waiting; the completion, if any, is called on the loop with its end
  /// (on the caller's thread, with a rejection, if the loop has stopped).
  public func post(
    _ message: Message, in lane: LaneID = LaneID(0),
    completion: (@Sendable (Result<Outcome, Rejection>) -> Void)? = nil
  ) {
    offer(message, in: lane, nil, completion)
  }

  private func offer(
    _ message: Message, in lane: LaneID, _ ticket: SendTicket?,
    _ completion: (@Sendable (Result<Outcome, Rejection>) -> Void)?
  ) {
    let isRunning = loop.execute { [driver] in
      driver.offer(message, in: lane, ticket, completion: completion)
    }
    // Nothing is left that could take it.
    if !isRunning { completion?(.failure(.closed)) }
  }

  /// Tells what the device's network looks like; a hint, see ``PathPolicy``.
  public func pathChanged(to path: Path) {
    loop.execute { [driver] in driver.submit(.pathChanged(path)) }
  }

  /// Tells what the device lets the application do: in the background nothing is dialled by itself,
  /// suspended not at all.
  public func lifecycleChanged(to lifecycle: Lifecycle) {
    loop.execute { [driver] in driver.submit(.lifecycleChanged(lifecycle)) }
  }

  /// Tells whether anyone needs the connection; without demand nothing is dialled.
  public func demandChanged(to isNeeded: Bool) {
    loop.execute { [driver] in driver.submit(.demandChanged(isNeeded)) }
  }
}

// MARK: Observation

extension Connection {
  /// The messages that arrive from now on, over all links. Any number of consumers may ask.
  ///
  /// Ends when the connection is released, or throws ``SlowConsumer`` when the consumer has fallen
  /// behind by more than the buffer holds.
  public func messages(bufferingUpTo limit: Int = 1024) -> AsyncThrowingStream<Message, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingOldest(limit)) { continuation in
      let ticket = Observers.Ticket()
      continuation.onTermination = { [loop, driver] _ in
        loop.execute { driver.observers.remove(ticket) }
      }
      let isRunning = loop.execute { [driver] in driver.observers.add(continuation, ticket) }
      if !isRunning { continuation.finish() }
    }
  }

  /// The present state, then each change of phase or link as it happens, with what is waited for
  /// then, why, and until when. A consumer that falls behind misses the oldest ones; what an open
  /// link waits for at some later moment, ``explain()`` tells.
  public func states() -> AsyncStream<Explanation> {
    AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
      let ticket = Observers.Ticket()
      continuation.onTermination = { [loop, driver] _ in
        loop.execute { driver.observers.remove(ticket) }
      }
      let isRunning = loop.execute { [driver] in
        driver.observers.add(continuation, ticket, present: driver.explain())
      }
      if !isRunning { continuation.finish() }
    }
  }

  /// What the connection waits for at this moment, why, and until when; nil once its loop has
  /// stopped.
  public func explain() async -> Explanation? {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { [driver] in continuation.resume(returning: driver.explain()) }
      if !isRunning { continuation.resume(returning: nil) }
    }
  }

  /// What has passed over all links so far, exactly, as far as the transport counts; nil once its
  /// loop has stopped.
  public func traffic() async -> Traffic? {
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { [driver] in continuation.resume(returning: driver.traffic) }
      if !isRunning { continuation.resume(returning: nil) }
    }
  }
}

/// A policy and a transport that do not fit, with the mend.
public enum ConnectionError: Error, CustomStringConvertible, Sendable {
  /// The policy has a heartbeat and the transport cannot ping.
  case heartbeatNeedsPing
  /// The policy has a session stage, and nobody to answer for it.
  case stageNeedsProvider
  /// The policy waits for credentials, and nobody gives any.
  case credentialsNeedProvider
  /// There is a provider of credentials, and the policy does not say how long it may take.
  case providerNeedsDeadline
  /// There is a provider of credentials, and the transport cannot take any to its peer.
  case credentialsNeedAuthentication
  /// The policy has a beat, and nobody said what is sent.
  case beatNeedsMessage
  /// The policy waits for the answer to a beat, and nobody said what it looks like.
  case beatNeedsAnswer

  public var description: String {
    switch self {
    case .heartbeatNeedsPing:
      "the policy has a heartbeat, but the transport cannot ping: give the protocol a ping, let "
        + "the server drive the heartbeat, or set it to nil"
    case .stageNeedsProvider:
      "the policy has a session deadline, but the connection has nobody to ask: set it to nil"
    case .credentialsNeedProvider:
      "the policy has a credentials deadline, but nobody gives credentials: give the connection a "
        + "provider, or set credentialsDeadline to nil"
    case .providerNeedsDeadline:
      "the connection has a provider of credentials, but the policy has no time for it: set "
        + "credentialsDeadline"
    case .credentialsNeedAuthentication:
      "the connection has a provider of credentials, but the transport has no place for them: give "
        + "the protocol one, or the connection no provider"
    case .beatNeedsMessage:
      "the policy has a beat, but nobody says what is sent: give the connection a beat message"
    case .beatNeedsAnswer:
      "the policy waits for the answer to a beat, but nobody says what it looks like: give the "
        + "beat message an isAnswer, or set beat.answerTimeout to nil"
    }
  }
}

extension Rejection: Error {}
