/// What has passed over all links of a transport, exactly (F33, I23).
///
/// Bytes are those that the streams took and gave, beneath the protocol and above TLS. A message
/// sent counts once its last byte was taken, one received as it is delivered.
public struct Traffic: Hashable, Sendable {
  /// Bytes read from streams.
  public var bytesReceived: UInt64 = 0
  /// Bytes that streams took.
  public var bytesSent: UInt64 = 0
  /// Bytes of the payloads of messages received, decompressed.
  public var payloadBytesReceived: UInt64 = 0
  /// Bytes of the payloads of messages sent, before compression.
  public var payloadBytesSent: UInt64 = 0
  /// Messages received.
  public var messagesReceived: UInt64 = 0
  /// Messages sent whole, beats among them.
  public var messagesSent: UInt64 = 0

  // What the article calls M.
  private static let megabyte = 1_048_576.0

  /// No traffic.
  public init() {}

  /// Bytes received, in units of 2²⁰ bytes.
  public var megabytesReceived: Double { Double(bytesReceived) / Self.megabyte }
  /// Bytes sent, in units of 2²⁰ bytes.
  public var megabytesSent: Double { Double(bytesSent) / Self.megabyte }
}

/// Where the links of a transport count; all of them live on one loop.
package final class TrafficMeter {
  // Unchecked, as in a link: nothing is called while it is being changed.
  @exclusivity(unchecked) package fileprivate(set) var traffic = Traffic()

  package init() {}

  func received(byteCount: Int) { traffic.bytesReceived += UInt64(byteCount) }

  func received(_ message: Message) {
    traffic.messagesReceived += 1
    traffic.payloadBytesReceived += UInt64(message.bytes.count)
  }

  func sent(byteCount: Int) { traffic.bytesSent += UInt64(byteCount) }

  func sentMessage(payload: Int) {
    traffic.messagesSent += 1
    traffic.payloadBytesSent += UInt64(payload)
  }
}
