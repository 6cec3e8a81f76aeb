package import ConnectionFSM

/// What is published: a topic and a payload.
///
/// A connection carries ``Message``s, which are bytes; this is what those of an ``MQTTEngine``
/// hold. The lane says the quality of service: 0 in lane 0, 1 in lane 1.
package struct MQTTPublication: Equatable, Sendable {
  package let topic: String
  package let payload: [UInt8]
  /// To the broker: keep it for those who subscribe later. From the broker: it was kept.
  package let isRetained: Bool

  /// - Throws: ``MQTTError`` if the topic is none: empty, longer than 65,535 bytes, or with a
  ///   wildcard.
  package init(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) throws(MQTTError) {
    guard MQTTTopic.isTopic(topic) else { throw MQTTError(.topic(topic)) }
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
  }

  /// - Throws: ``MQTTError``, as for bytes.
  package init(_ topic: String, _ text: String) throws(MQTTError) {
    try self.init(topic, Array(text.utf8))
  }

  /// The payload as text, with anything that is not UTF-8 replaced.
  package var text: String { String(decoding: payload, as: UTF8.self) }

  /// Reads what ``message`` wrote.
  /// - Throws: ``MQTTError``.
  package init(_ message: Message) throws(MQTTError) {
    var fields = MQTTFields(message.bytes[...])
    let isRetained = try fields.byte() != 0
    let topic = try fields.text()
    try self.init(topic, Array(fields.rest()), isRetained: isRetained)
  }

  /// What a connection carries.
  package var message: Message {
    var bytes: [UInt8] = [isRetained ? 1 : 0]
    bytes.appendField(topic.utf8)
    return Message(bytes: bytes + payload)
  }
}

/// Names of topics, and filters for them (MQTT 3.1.1, section 4.7).
package enum MQTTTopic {
  package static func isTopic(_ name: String) -> Bool {
    isFilter(name) && !name.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
  }

  package static func isFilter(_ filter: String) -> Bool {
    (1...Int(UInt16.max)).contains(filter.utf8.count) && !filter.utf8.contains(0)
  }

  /// Whether a topic is meant by a filter: `+` is one level, `#` at the end all that are left.
  package static func matches(_ topic: String, filter: String) -> Bool {
    // Neither wildcard means the broker's own topics.
    if topic.hasPrefix("$"), !filter.hasPrefix("$") { return false }
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    let pattern = filter.split(separator: "/", omittingEmptySubsequences: false)
    for (place, level) in pattern.enumerated() {
      if level == "#" { return true }
      guard place < levels.count, level == "+" || level == levels[place] else { return false }
    }
    return levels.count == pattern.count
  }
}
