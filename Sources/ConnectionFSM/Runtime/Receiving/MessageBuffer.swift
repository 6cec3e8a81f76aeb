import Synchronization

/// The messages that wait for one consumer, between the loop that fills it and the task that
/// empties it.
final class MessageBuffer: Sendable {
  typealias Next = Result<Message?, MessagesError>

  fileprivate struct State {
    var messages = FIFO<Message>()
    /// The keys of the messages, where they have any.
    var keys = FIFO<String?>()
    /// Where the message of a key waits, counted from the first message ever.
    var places: [String: Int] = [:]
    /// How many messages have left the buffer at its head.
    var left = 0
    var missed = Messages.Missed()
    var end: Next?
    var isHolding = false
    // One, but for sequences that several tasks share.
    var waiting = FIFO<(id: Int, continuation: CheckedContinuation<Next, Never>)>()
    var lastWait = 0
  }

  private let limit: Int
  private let policy: SlowConsumerPolicy
  private let state = Mutex(State())
  /// Called when a buffer that held the connection back has room again.
  private let relaxed: @Sendable () -> Void

  init(limit: Int, policy: SlowConsumerPolicy, relaxed: @escaping @Sendable () -> Void) {
    self.limit = max(limit, 1)
    self.policy = policy
    self.relaxed = relaxed
  }

  var missed: Messages.Missed { state.withLock(\.missed) }

  /// Whether the connection had better not read on because of this consumer.
  var isHolding: Bool { state.withLock(\.isHolding) }

  /// Whether it takes nothing any more.
  var isOver: Bool { state.withLock { $0.end != nil } }

  /// What a consumer wants behind a message.
  enum Answer {
    case wantsMore, wantsToHold, hasLeft
  }
}

// MARK: The loop's side

extension MessageBuffer {
  /// Takes a message for the consumer.
  func append(_ message: Message) -> Answer {
    let key: String? = if case .conflate(let key) = policy { key(message) } else { nil }
    let (continuation, answer) = state.withLock { state in
      if let waiting = state.waiting.popFirst() {
        return (waiting.continuation as CheckedContinuation<Next, Never>?, Answer.wantsMore)
      }
      if state.end == nil { state.add(message, key, limit, policy) }
      if state.end != nil { return (nil, .hasLeft) }
      return (nil, state.isHolding ? .wantsToHold : .wantsMore)
    }
    continuation?.resume(returning: .success(message))
    return answer
  }

  /// Nothing more will come.
  func finish(throwing error: MessagesError? = nil) {
    let end = error.map { Next.failure($0) } ?? .success(nil)
    let waiting = state.withLock { state in
      state.end = state.end ?? end
      return state.waiting.removeAll()
    }
    // All that wait in a sequence that several share hear of it.
    for (_, continuation) in waiting { continuation.resume(returning: end) }
  }
}

extension MessageBuffer.State {
  fileprivate mutating func add(
    _ message: Message, _ key: String?, _ limit: Int, _ policy: SlowConsumerPolicy
  ) {
    if let key, let place = places[key] {
      messages[place - left] = message
      missed.conflated += 1
      return
    }
    if messages.count >= limit {
      switch policy {
      case .disconnect: end = .failure(.fellBehind)
      case .suspendReading: if messages.count >= 2 * limit { end = .failure(.fellBehind) }
      case .dropOldest, .conflate:
        removeFirst()
        missed.dropped += 1
      }
      // A full buffer means a lost message: say so instead of going on with a gap.
      if end != nil { return }
    }
    switch policy {
    case .disconnect, .dropOldest: break
    case .suspendReading: if messages.count + 1 >= limit { isHolding = true }
    case .conflate:
      if let key { places[key] = left + messages.count }
      keys.append(key)
    }
    messages.append(message)
  }

  @discardableResult
  fileprivate mutating func removeFirst() -> Message? {
    guard let message = messages.popFirst() else { return nil }
    left += 1
    if let key = keys.popFirst(), let key { places[key] = nil }
    return message
  }
}

// MARK: The consumer's side

extension MessageBuffer {
  /// What is there now; nil if the consumer has to wait.
  func pop() -> Next? {
    let (next, hasRelaxed) = state.withLock { state in state.pop(relaxedAt: limit / 2) }
    if hasRelaxed { relaxed() }
    return next
  }

  func wait(isolation: isolated (any Actor)?) async -> Next {
    let id = state.withLock { state in
      state.lastWait += 1
      return state.lastWait
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (next, hasRelaxed) = state.withLock { state in
          // What came in the meantime is not waited for.
          let popped = state.pop(relaxedAt: limit / 2)
          if popped.next != nil { return popped }
          if Task.isCancelled { return (.success(nil), false) }
          state.waiting.append((id, continuation))
          return popped
        }
        if hasRelaxed { relaxed() }
        if let next { continuation.resume(returning: next) }
      }
    } onCancel: {
      let waiting = state.withLock { state in state.waiting.remove { $0.id == id } }
      waiting?.continuation.resume(returning: .success(nil))
    }
  }
}

extension MessageBuffer.State {
  fileprivate mutating func pop(
    relaxedAt mark: Int
  ) -> (next: MessageBuffer.Next?, hasRelaxed: Bool) {
    guard let message = removeFirst() else {
      let next = end
      // An error is told once; behind it there is only the end.
      if case .failure = end { end = .success(nil) }
      return (next, false)
    }
    let hasRelaxed = isHolding && messages.count <= mark
    if hasRelaxed { isHolding = false }
    return (.success(message), hasRelaxed)
  }
}
