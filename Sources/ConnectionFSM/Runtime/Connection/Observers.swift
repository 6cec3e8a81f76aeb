/// The consumers of a connection's messages and states, each with its own bounded buffer, so that a
/// slow one holds up neither the loop nor the others.
final class Observers {
  typealias Messages = AsyncThrowingStream<Message, any Error>
  typealias States = AsyncStream<Explanation>

  private var messages: [(id: Int, continuation: Messages.Continuation)] = []
  private var states: [(id: Int, continuation: States.Continuation)] = []
  private var lastID = 0
  private var current: Explanation?

  func add(_ continuation: Messages.Continuation) -> Int {
    lastID += 1
    messages.append((lastID, continuation))
    return lastID
  }

  /// A new consumer of states hears the current one first.
  func add(_ continuation: States.Continuation) -> Int {
    lastID += 1
    states.append((lastID, continuation))
    if let current { continuation.yield(current) }
    return lastID
  }

  func remove(_ id: Int) {
    messages.removeAll { $0.id == id }
    states.removeAll { $0.id == id }
  }

  func received(_ message: Message) {
    for (_, continuation) in messages {
      // A full buffer means a lost message: say so instead of going on with a gap.
      if case .dropped = continuation.yield(message) {
        continuation.finish(throwing: SlowConsumer())
      }
    }
  }

  func stateChanged(_ explanation: Explanation) {
    current = explanation
    for (_, continuation) in states { continuation.yield(explanation) }
  }

  func finish() {
    for (_, continuation) in messages { continuation.finish() }
    for (_, continuation) in states { continuation.finish() }
    messages = []
    states = []
  }
}

/// A consumer of messages fell behind by more than its buffer holds; it missed at least one
/// message.
public struct SlowConsumer: Error, CustomStringConvertible {
  public var description: String {
    "a consumer of messages fell behind by more than its buffer: read faster, or ask for more"
  }
}
