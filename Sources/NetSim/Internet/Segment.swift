public import ConnectionFSM

/// A TCP segment as the host that dialled sees it: as it leaves, whether it will arrive or not, or
/// as it arrives.
///
/// The simulator knows bytes and their places, not packets; this is what a capture on that host
/// would hold. What is one piece to the simulator is one segment here, however long.
public struct Segment: Sendable {
  /// What is set in a TCP header, by its bit.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8

    static let fin = Flags(rawValue: 1)
    static let syn = Flags(rawValue: 2)
    static let rst = Flags(rawValue: 4)
    static let psh = Flags(rawValue: 8)
    static let ack = Flags(rawValue: 16)
  }

  /// The two ends of a connection.
  struct Flow: Sendable {
    /// Counted from 0 over all dials of the host.
    let number: UInt32
    /// The host's own address, of the version of the other.
    let local: String
    let localPort: UInt16
    let remote: String
    let remotePort: UInt16
    /// The way that it leaves by, and its place among the host's.
    let interface: String
    let interfacePlace: Int
  }

  /// When it left, or arrived.
  public let instant: Instant
  let flow: Flow
  /// From the host that dialled.
  let isOutgoing: Bool
  let flags: Flags
  /// Counted from the sender's SYN, which is 0.
  let sequence: Int
  /// The next one that is expected of the other, counted from its SYN.
  let acknowledgement: Int
  /// How many bytes the sender has room for.
  let window: Int
  let payload: [UInt8]
}
