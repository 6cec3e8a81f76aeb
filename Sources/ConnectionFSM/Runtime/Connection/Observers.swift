/// The consumers of a connection's messages and states, each with its own bounded buffer, so that a
/// slow one holds up neither the loop nor the others.
final class Observers {
  typealias Messages = AsyncThrowingStream<Message, any Error>
  typealias States = AsyncStream<Explanation>

  /// Who a consumer is: known before it is added, so that it can be removed whenever it ends.
  final class Ticket: Sendable {}

  private var messages: [(ticket: Ticket, continuation: Messages.Continuation)] = []
  private var states: [(ticket: Ticket, continuation: States.Continuation)] = []

  func add(_ continuation: Messages.Continuation, _ ticket: Ticket) {
    messages.append((ticket, continuation))
  }

  /// A new consumer of states hears the present one first.
  func add(_ continuation: States.Continuation, _ ticket: Ticket, present: Explanation) {
    states.append((ticket, continuation))
    continuation.yield(present)
  }

  func remove(_ ticket: Ticket) {
    messages.removeAll { $0.ticket === ticket }
    states.removeAll { $0.ticket === ticket }
  }

  func received(_ message: Message) {
    for (_, continuation) in messages {
      // A full buffer means a lost message: say so instead of going on with a gap.
      if case .dropped = continuation.yield(message) {
        continuation.finish(throwing: SlowConsumer())
      }
    }
  }

  func stateChanged(to explanation: Explanation) {
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
