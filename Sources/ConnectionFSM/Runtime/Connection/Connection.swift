/// A connection that comes back: connect once, send and receive, close.
///
/// ```swift
/// let connection = try Connection(transport, policy: Policy())
/// connection.connect()
/// for try await message in connection.messages() { show(message) }
/// ```
///
/// It contains no decisions of its own: a ``Machine`` decides by the ``Policy``, a ``Transport``
/// carries. All of it happens on the transport's ``EventLoop``; every method here may be called
/// from anywhere, also from inside a callback, and takes effect in the order of the calls.
///
/// Letting go of the last reference ends the link at once, and messages without an end are reported
/// cancelled or in doubt.
public final class Connection: Sendable {
  let driver: Driver
  private let lanes: [Lane]
  private let fit: Fit
  private let home: Endpoint

  /// Makes a connection at rest.
  ///
  /// - Parameters:
  ///   - transport: What carries the messages; handed over.
  ///   - policy: The knobs.
  ///   - seed: What random waits are drawn from; nil draws one from the system. Give one to replay.
  ///   - beat: The words of the policy's beat; needed where it has one.
  ///   - credentials: Who is asked for credentials before each dial; needed where the policy has a
  ///     ``Policy/credentialsDeadline``, and only there.
  ///   - session: The words of the session that a link begins with, of topics and of requests;
  ///     needed where the policy has a ``Policy/sessionDeadline``, and only there.
  ///   - sessionSettings: The measures of the session.
  ///   - outbox: What keeps the messages of a lane beyond the life of the process; what it has
  ///     recovered is sent first.
  ///   - monitors: Who hears every step.
  ///   - trace: Called on the loop with every step of the machine, after its effects.
  /// - Throws: ``ConnectionError`` if the policy asks for what the others cannot do.
  public init(
    _ transport: sending some Transport, policy: Policy, seed: UInt64? = nil,
    beat: BeatMessage? = nil, credentials: CredentialsProvider? = nil,
    session: (any SessionDialect)? = nil, sessionSettings: SessionSettings = SessionSettings(),
    outbox: (any Outbox, lane: LaneID)? = nil, monitors: [any ConnectionMonitor] = [],
    trace: (@Sendable (TraceRecord) -> Void)? = nil
  ) throws(ConnectionError) {
    fit = Fit(
      canPing: transport.canPing, canAuthenticate: transport.canAuthenticate, beat: beat,
      hasProvider: credentials != nil, hasSession: session != nil, outboxLane: outbox?.lane)
    try fit.check(policy)
    do throws(PolicyError) { try sessionSettings.validate() } catch {
      throw .settings(knob: "\(error.knob)", mend: "\(error.mend)")
    }
    lanes = policy.lanes
    // A scheme that nobody knows: without a home there is nowhere to dial.
    home = transport.home ?? Endpoint(scheme: "", host: "", port: 0)
    driver = Driver(
      transport, policy: policy, seed: seed ?? Self.systemSeed(),
      attendants: Attendants(
        beat: beat, credentials: credentials, session: session.map { ($0, sessionSettings) },
        outbox: outbox.map { ($0.0, $0.lane) },
        monitors: monitors, trace: trace))
    if !monitors.isEmpty { perform { $0.begin() } }
  }

  /// The only use of the system's generator: two clients of one server must not share a seed.
  private static func systemSeed() -> UInt64 {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }

  deinit { perform { $0.shutDown() } }

  private func perform(
    _ work: @escaping @Sendable (Driver) -> Void, orElse refuse: (@Sendable () -> Void)? = nil
  ) {
    driver.commands.give(.perform(work, orElse: refuse), to: driver)
  }

  /// Asks something on the loop; nil once that has stopped.
  private func ask<Answer: Sendable>(
    _ question: @escaping @Sendable (Driver) -> Answer
  ) async -> Answer? {
    await withCheckedContinuation { continuation in
      perform {
        continuation.resume(returning: question($0))
      } orElse: {
        continuation.resume(returning: nil)
      }
    }
  }
}

// MARK: Connecting

extension Connection {
  /// Wants a connection to the transport's own endpoint (``Transport/home``), now and after every
  /// loss, until ``close(draining:)``. A transport that has none ends it with
  /// `Cause.unsupportedEndpoint`.
  public func connect() { connect(to: [home]) }

  /// Wants a connection to the endpoint, now and after every loss, until ``close(draining:)``.
  ///
  /// While one to the same endpoint exists or is on its way this changes nothing; a wait for the
  /// next attempt is cut short; a connection to another endpoint is let go of first (F01, F04), and
  /// messages that still wait go to the new one: close before, if they must not. After a close
  /// whose peer has not answered yet, the new connection follows the answer, and messages are
  /// turned away until then.
  public func connect(to endpoint: Endpoint) { connect(to: [endpoint]) }

  /// Wants a connection to any of these endpoints, the first preferred: all are tried before the
  /// backoff takes a step. Up to 255; an empty list changes nothing.
  public func connect(to endpoints: [Endpoint]) {
    guard !endpoints.isEmpty else { return }
    perform { $0.connect(to: endpoints) }
  }

  /// Dials at once, for a “Retry now” button: cuts a wait short, and lets go of a link or an
  /// attempt that exists. Changes nothing where no connection is wanted.
  public func reconnectNow() { perform { $0.reconnect() } }

  /// Wants no connection any more, and nothing dials until the next connect (I1). Returns once the
  /// link is gone, even in a cancelled task.
  ///
  /// - Parameter draining: Whether what waits is sent first, within ``Policy/drainDeadline``.
  ///   Otherwise only what was given to the link is sent, and what waits is cancelled.
  public func close(draining: Bool = false) async {
    await withCheckedContinuation { continuation in
      perform {
        $0.close(draining: draining) { continuation.resume() }
      } orElse: {
        continuation.resume()
      }
    }
  }

  /// Replaces the policy: deadlines that follow from it move at once, a drawn wait stays.
  /// - Throws: ``ConnectionError`` if its lanes are others, or if it asks for what transport or
  ///   attendants cannot do; the old policy stays.
  public func update(policy: Policy) throws(ConnectionError) {
    guard policy.lanes == lanes else { throw .lanesDiffer }
    try fit.check(policy)
    perform { $0.adopt(policy) }
  }

  /// Tells what the device's network looks like; a hint, see ``PathPolicy``.
  public func pathChanged(to path: Path) { perform { $0.submit(.pathChanged(path)) } }

  /// Tells what the device lets the application do: in the background nothing is dialled by itself,
  /// suspended not at all.
  public func lifecycleChanged(to lifecycle: Lifecycle) {
    perform { $0.submit(.lifecycleChanged(lifecycle)) }
  }

  /// Tells whether anyone needs the connection; without demand nothing is dialled.
  public func demandChanged(to isNeeded: Bool) { perform { $0.submit(.demandChanged(isNeeded)) } }
}

// MARK: Sending

extension Connection {
  /// Sends a message and waits for its end.
  ///
  /// While there is no link the message waits in its lane, as the policy says. Cancelling the task
  /// takes the message back if no link was given it yet; what was given ends as it would have.
  /// - Parameters:
  ///   - message: What is sent.
  ///   - lane: In which lane.
  ///   - key: An earlier message of this key that still waits in the lane is evicted, and this one
  ///     takes its place in the order. Without effect in the lane of an outbox.
  /// - Returns: How it ended: for instance written, acknowledged, expired, or in doubt.
  /// - Throws: Why it was turned away at the door.
  @discardableResult
  public func send(
    _ message: Message, in lane: LaneID = LaneID(0), replacing key: String? = nil
  ) async throws(Rejection) -> Outcome {
    let ticket = SendTicket(key: key)
    var offer = Offer(message: message, lane: lane, ticket: ticket)
    let result: Result<Outcome, Rejection> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        offer.completion = { continuation.resume(returning: $0) }
        driver.commands.give(.offer(offer), to: driver)
      }
    } onCancel: { [driver] in
      driver.commands.give(.cancel(ticket), to: driver)
    }
    return try result.get()
  }

  /// Sends a message without waiting; the completion, if any, is called on the loop with its end
  /// (on the caller's thread, with a rejection, if the loop has stopped).
  public func post(
    _ message: Message, in lane: LaneID = LaneID(0), replacing key: String? = nil,
    completion: (@Sendable (Result<Outcome, Rejection>) -> Void)? = nil
  ) {
    let ticket = key.map { SendTicket(key: $0) }
    driver.commands.give(
      .offer(Offer(message: message, lane: lane, ticket: ticket, completion: completion)),
      to: driver)
  }
}

// MARK: Topics and requests

extension Connection {
  /// The messages of a topic from now on, by whatever links; subscribed to as long as somebody
  /// holds the sequence, however many do, and again on each new link. Needs a session.
  ///
  /// - Parameters:
  ///   - topic: In the peer's words.
  ///   - limit: How many messages may wait for this consumer.
  ///   - policy: What happens when there are more.
  public func messages(
    of topic: String, bufferingUpTo limit: Int = 1024,
    whenFull policy: SlowConsumerPolicy = .disconnect
  ) -> Messages {
    let buffer = MessageBuffer(limit: limit, policy: policy) { [driver] in
      driver.commands.give(.perform({ $0.consumerRelaxed() }), to: driver)
    }
    perform {
      $0.subscribe(buffer, to: topic)
    } orElse: {
      buffer.finish()
    }
    return Messages(
      Messages.Interest(buffer) { [driver] in
        driver.commands.give(.perform({ $0.unsubscribe(buffer, from: topic) }), to: driver)
      })
  }

  /// Sends a message as a request and waits for its answer. Needs a session.
  ///
  /// In a lane at least once the request outlives a link and is sent again; otherwise the end of
  /// the link is its end.
  /// - Parameters:
  ///   - message: What is asked.
  ///   - lane: In which lane.
  ///   - timeout: How long the answer may take, from now on, waiting for a link included.
  /// - Returns: The answer.
  /// - Throws: ``RequestError``: why there is none.
  public func request(
    _ message: Message, in lane: LaneID = LaneID(0), timeout: TimeSpan = .seconds(10)
  ) async throws(RequestError) -> Message {
    let ticket = SendTicket()
    let result: Result<Message, RequestError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        perform { driver in
          driver.request(message, in: lane, timeout: timeout, ticket: ticket) {
            continuation.resume(returning: $0)
          }
        } orElse: {
          continuation.resume(returning: .failure(.rejected(.closed)))
        }
      }
    } onCancel: { [driver] in
      driver.commands.give(.cancel(ticket), to: driver)
    }
    return try result.get()
  }
}

// MARK: Receiving and watching

extension Connection {
  /// The messages that arrive from now on, over all links. Any number of consumers may ask.
  ///
  /// - Parameters:
  ///   - limit: How many messages may wait for this consumer.
  ///   - policy: What happens when there are more.
  public func messages(
    bufferingUpTo limit: Int = 1024, whenFull policy: SlowConsumerPolicy = .disconnect
  ) -> Messages {
    let buffer = MessageBuffer(limit: limit, policy: policy) { [driver] in
      driver.commands.give(.perform({ $0.consumerRelaxed() }), to: driver)
    }
    perform {
      $0.observers.add(buffer)
    } orElse: {
      buffer.finish()
    }
    return Messages(
      Messages.Interest(buffer) { [driver] in
        driver.commands.give(.perform({ $0.consumerLeft(buffer) }), to: driver)
      })
  }

  /// The present state, then each change of phase or link as it happens, with what is waited for
  /// then, why, and until when. A consumer that falls behind misses the oldest ones; what an open
  /// link waits for at some later moment, ``explain()`` tells.
  public func states() -> AsyncStream<Explanation> {
    AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
      let ticket = Observers.Ticket()
      continuation.onTermination = { [driver] _ in
        driver.commands.give(.perform({ $0.observers.remove(ticket) }), to: driver)
      }
      perform {
        $0.observers.add(continuation, ticket, present: $0.explain())
      } orElse: {
        continuation.finish()
      }
    }
  }

  /// Calls the handler with each message that arrives from now on, in order, on the main actor: for
  /// code without `async`. It ends with the connection, or when the task is cancelled that is
  /// returned; a handler that falls behind by more than 1024 messages misses the oldest.
  @discardableResult
  public func onMessage(_ handler: @escaping @MainActor (Message) -> Void) -> Task<Void, Never> {
    let messages = messages(whenFull: .dropOldest)
    return Task { @MainActor in
      var arrivals = messages.makeAsyncIterator()
      // It drops, and never throws.
      while let message = try? await arrivals.next() { handler(message) }
    }
  }

  /// Calls the handler with the present state and each change, in order, on the main actor: for
  /// code without `async`. It ends with the connection, or when the task is cancelled that is
  /// returned.
  @discardableResult
  public func onStateChange(
    _ handler: @escaping @MainActor (Explanation) -> Void
  ) -> Task<Void, Never> {
    let states = states()
    return Task { @MainActor in for await state in states { handler(state) } }
  }

  /// What the connection waits for at this moment, why, and until when; nil once its loop has
  /// stopped.
  public func explain() async -> Explanation? { await ask { $0.explain() } }

  /// What has passed over all links so far, exactly, as far as the transport counts; nil once its
  /// loop has stopped.
  public func traffic() async -> Traffic? { await ask { $0.transport.traffic } }
}
