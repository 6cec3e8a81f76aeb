/// The consumers of a connection's messages and states, each with its own bounded buffer, so that a
/// slow one holds up neither the loop nor the others. Confined to the loop.
final class Observers {
  typealias States = AsyncStream<Explanation>

  /// Who a consumer of states is: known before it is added, so that it can be removed whenever it
  /// ends.
  final class Ticket: Sendable {}

  private var messages: [MessageBuffer] = []
  private var states: [(ticket: Ticket, continuation: States.Continuation)] = []
  /// Some consumer of messages wants no more for the moment.
  private(set) var isHolding = false

  func add(_ buffer: MessageBuffer) { messages.append(buffer) }

  /// A new consumer of states hears the present one first.
  func add(_ continuation: States.Continuation, _ ticket: Ticket, present: Explanation) {
    states.append((ticket, continuation))
    continuation.yield(present)
  }

  func remove(_ buffer: MessageBuffer) { messages.removeAll { $0 === buffer } }

  func remove(_ ticket: Ticket) { states.removeAll { $0.ticket === ticket } }

  func received(_ message: Message) {
    var hasLeft = false
    for buffer in messages {
      switch buffer.append(message) {
      case .wantsMore: break
      case .wantsToHold: isHolding = true
      case .hasLeft: hasLeft = true
      }
    }
    guard hasLeft else { return }
    messages.removeAll(where: \.isOver)
    isHolding = messages.contains(where: \.isHolding)
  }

  /// A consumer has room again, or has left.
  /// - Returns: Whether messages are wanted that were not.
  func stopHolding() -> Bool {
    guard isHolding, !messages.contains(where: \.isHolding) else { return false }
    isHolding = false
    return true
  }

  func stateChanged(to explanation: Explanation) {
    for (_, continuation) in states { continuation.yield(explanation) }
  }

  func finish() {
    for buffer in messages { buffer.finish() }
    for (_, continuation) in states { continuation.finish() }
    messages = []
    states = []
    isHolding = false
  }
}
