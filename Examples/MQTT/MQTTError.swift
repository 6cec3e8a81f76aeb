/// Bytes that are no MQTT, or a packet that comes when it may not; with the place.
package struct MQTTError: Error, Equatable, Sendable {
  /// What is wrong.
  package enum Problem: Equatable, Sendable {
    /// A type that is reserved, or of a part of the protocol that is not spoken here (QoS 2, wills,
    /// unsubscribing).
    case packetType(UInt8)
    /// Bits beside the type that the type does not allow.
    case flags(UInt8, ofType: UInt8)
    /// A length of more than four bytes.
    case lengthTooLong
    /// A packet longer than the limit, known before its body is there.
    case packetTooLong(Int, limit: Int)
    /// The packet ends inside a field.
    case endsInField
    /// So many bytes are left behind the last field.
    case leftOver(Int)
    /// Text that is no UTF-8, or holds NUL.
    case text
    /// A topic that is empty or holds a wildcard, or an empty filter.
    case topic(String)
    /// A QoS of 2, which is not spoken here, or of 3.
    case qualityOfService(UInt8)
    /// A packet id of 0.
    case zeroPacketID
    /// Another protocol, or another version of this one.
    case version(String, level: UInt8)
    /// A code that is not in the specification.
    case code(UInt8)
    /// A packet that may not come at this point.
    case unexpected(String)
    /// An acknowledgement of a packet that was not sent.
    case unknownPacketID(UInt16)
    /// The broker refuses the connection, with this code.
    case refused(code: UInt8)
    /// The broker refuses a subscription.
    case subscriptionRefused(String)
  }

  /// What is wrong.
  package let problem: Problem
  /// Where the packet begins, counted in bytes of the stream from 0.
  package let offset: Int

  package init(_ problem: Problem, at offset: Int = 0) {
    self.problem = problem
    self.offset = offset
  }
}

extension MQTTError: CustomStringConvertible {
  package var description: String { "packet at byte \(offset): \(words)" }

  private var words: String {
    switch problem {
    case .packetType(let type): "type \(type) is not spoken here"
    case .flags(let flags, let type): "flags \(flags) are not allowed in type \(type)"
    case .lengthTooLong: "its length has more than four bytes"
    case .packetTooLong(let length, let limit):
      "has \(length) bytes, more than the limit of \(limit): raise the limit, or send less"
    case .endsInField: "ends inside a field"
    case .leftOver(let count): "has \(count) bytes behind its last field"
    case .text: "holds text that is no UTF-8 or has NUL in it"
    case .topic(let topic): "“\(topic)” is no topic"
    case .qualityOfService(let level): "QoS \(level) is not spoken here; use 0 or 1"
    case .zeroPacketID: "has the packet id 0"
    case .version(let name, let level): "is for “\(name)” level \(level), not for MQTT 3.1.1"
    case .code(let code): "has the unknown code \(code)"
    case .unexpected(let name): "\(name) may not come at this point"
    case .unknownPacketID(let id): "acknowledges packet \(id), which was not sent"
    case .refused(let code): "the broker refuses the connection with code \(code)"
    case .subscriptionRefused(let filter): "the broker refuses a subscription to “\(filter)”"
    }
  }
}
