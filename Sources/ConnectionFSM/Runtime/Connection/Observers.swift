/// The consumers of a connection's messages and states, each with its own bounded buffer, so that a
/// slow one holds up neither the loop nor the others. Confined to the loop.
final class Observers {
  typealias States = AsyncStream<Explanation>

  /// Who a consumer of states is: known before it is added, so that it can be removed whenever it
  /// ends.
  final class Ticket: Sendable {}

  private var ofAll: [MessageBuffer] = []
  private var ofTopics: [String: [MessageBuffer]] = [:]
  private var states: [(ticket: Ticket, continuation: States.Continuation)] = []
  /// Consumers of messages that want no more for the moment.
  private var holding: [MessageBuffer] = []

  /// Whether some consumer of messages wants no more for the moment.
  var isHolding: Bool { !holding.isEmpty }

  func add(_ buffer: MessageBuffer) { ofAll.append(buffer) }

  func add(_ buffer: MessageBuffer, of topic: String) {
    ofTopics[topic, default: []].append(buffer)
  }

  /// A new consumer of states hears the present one first.
  func add(_ continuation: States.Continuation, _ ticket: Ticket, present: Explanation) {
    states.append((ticket, continuation))
    continuation.yield(present)
  }

  func remove(_ buffer: MessageBuffer) {
    ofAll.removeAll { $0 === buffer }
    holding.removeAll { $0 === buffer }
  }

  /// - Returns: False if it was not there any more.
  func remove(_ buffer: MessageBuffer, of topic: String) -> Bool {
    holding.removeAll { $0 === buffer }
    guard let place = ofTopics[topic]?.firstIndex(where: { $0 === buffer }) else { return false }
    ofTopics[topic]?.remove(at: place)
    if ofTopics[topic]?.isEmpty == true { ofTopics[topic] = nil }
    return true
  }

  func remove(_ ticket: Ticket) { states.removeAll { $0.ticket === ticket } }

  func received(_ message: Message, of topic: String?) {
    for buffer in ofAll { give(message, to: buffer) }
    guard let topic, let buffers = ofTopics[topic] else { return }
    for buffer in buffers { give(message, to: buffer) }
  }

  private func give(_ message: Message, to buffer: MessageBuffer) {
    // One that has ended with an error stays until its consumer lets go of it: then its topic is
    // not wanted any more.
    switch buffer.append(message) {
    case .wantsMore: break
    case .wantsToHold: if !holding.contains(where: { $0 === buffer }) { holding.append(buffer) }
    case .hasLeft: holding.removeAll { $0 === buffer }
    }
  }

  /// The peer gives no such topic.
  func refuse(_ topic: String, because reason: String) {
    for buffer in ofTopics.removeValue(forKey: topic) ?? [] {
      buffer.finish(throwing: .topicRefused(reason: reason))
      holding.removeAll { $0 === buffer }
    }
  }

  /// A consumer has room again.
  func lookForRoom() { holding.removeAll { !$0.isHolding } }

  func stateChanged(to explanation: Explanation) {
    for (_, continuation) in states { continuation.yield(explanation) }
  }

  func finish() {
    for buffer in ofAll { buffer.finish() }
    // In whatever order: each has a consumer of its own.
    for buffers in ofTopics.values { for buffer in buffers { buffer.finish() } }
    for (_, continuation) in states { continuation.finish() }
    ofAll = []
    ofTopics = [:]
    states = []
    holding = []
  }
}
