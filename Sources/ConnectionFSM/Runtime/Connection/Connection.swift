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
  ///   - trace: Called on the loop with every step of the machine, before its effects are
  ///     performed.
  /// - Throws: ``ConnectionError`` if the policy asks for what the transport cannot do.
  public init(
    _ transport: sending any Transport, policy: Policy, seed: UInt64? = nil,
    trace: (@Sendable (TraceRecord) -> Void)? = nil
  ) throws(ConnectionError) {
    if policy.heartbeat != nil, !transport.canPing { throw .heartbeatNeedsPing }
    if policy.sessionDeadline != nil || policy.credentialsDeadline != nil {
      throw .stageNeedsProvider
    }
    loop = transport.eventLoop
    driver = Driver(
      transport: transport, policy: policy, seed: seed ?? Self.systemSeed(), trace: trace)
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
  /// next attempt is cut short; a connection to another endpoint is let go of first (F01, F04).
  public func connect(to endpoint: Endpoint) {
    loop.execute { [driver] in driver.connect(to: endpoint) }
  }

  /// Wants no connection any more: what was given to the link is sent, what waits is cancelled, and
  /// nothing dials until the next connect (I1). Returns once the connection is closed.
  public func close() async {
    loop.execute { [driver] in driver.submit(.close) }
    for await state in states() where state.phase == .closed { return }
  }

  /// Sends a message and waits for its end.
  ///
  /// While there is no link the message waits in its lane, as the policy says.
  /// - Returns: How it ended: for instance written, acknowledged, expired, or in doubt.
  /// - Throws: Why it was turned away at the door.
  @discardableResult
  public func send(
    _ message: Message, in lane: LaneID = LaneID(0)
  ) async throws(Rejection) -> Outcome {
    let result: Result<Outcome, Rejection> = await withCheckedContinuation { continuation in
      post(message, in: lane) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Sends a message without waiting; the completion, if any, is called on the loop with its end.
  public func post(
    _ message: Message, in lane: LaneID = LaneID(0),
    completion: (@Sendable (Result<Outcome, Rejection>) -> Void)? = nil
  ) {
    loop.execute { [driver] in driver.offer(message, in: lane, completion: completion) }
  }

  /// Tells what the device's network looks like; a hint, see ``PathPolicy``.
  public func pathChanged(to status: PathStatus) {
    loop.execute { [driver] in driver.submit(.pathChanged(status)) }
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
      loop.execute { [driver, loop] in
        let id = driver.observers.add(continuation)
        continuation.onTermination = { _ in loop.execute { driver.observers.remove(id) } }
      }
    }
  }

  /// The current state, then each one that follows, with what it waits for and why. A consumer that
  /// falls behind misses the oldest ones.
  public func states() -> AsyncStream<Explanation> {
    AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
      loop.execute { [driver, loop] in
        let id = driver.observers.add(continuation)
        continuation.onTermination = { _ in loop.execute { driver.observers.remove(id) } }
      }
    }
  }

  /// What the connection waits for at this moment, why, and until when.
  public func explain() async -> Explanation {
    await withCheckedContinuation { continuation in
      loop.execute { [driver] in continuation.resume(returning: driver.explain()) }
    }
  }
}

/// A policy and a transport that do not fit, with the mend.
public enum ConnectionError: Error, CustomStringConvertible, Sendable {
  /// The policy has a heartbeat and the transport cannot ping.
  case heartbeatNeedsPing
  /// The policy has a session or a credentials stage and nobody to answer it.
  case stageNeedsProvider

  public var description: String {
    switch self {
    case .heartbeatNeedsPing:
      "the policy has a heartbeat, but the transport cannot ping: give the protocol a ping, or set "
        + "the policy's heartbeat to nil"
    case .stageNeedsProvider:
      "the policy has a session or credentials deadline, but the connection has nobody to ask: set "
        + "both to nil"
    }
  }
}

extension Rejection: Error {}
