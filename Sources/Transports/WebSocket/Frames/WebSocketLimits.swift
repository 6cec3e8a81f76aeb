/// How large frames and messages may be, and in what pieces they travel (RFC 6455 section 10.4).
///
/// The limits inwards bound what a peer can make us keep: one that breaks them is told so by close
/// code 1009, and its link ends. Those outwards are asked before a message is taken.
public struct WebSocketLimits: Hashable, Sendable {
  /// The most bytes of a message that arrives, decompressed: 1 to 2⁶² - 1.
  public let maximumMessageLength: Int
  /// The most bytes of one frame that arrives, as it is on the wire.
  public let maximumFrameLength: Int
  /// The most bytes of a message that is sent.
  public let maximumOutgoingLength: Int
  /// The most bytes of one frame that is sent; what is longer goes in several. Between two frames
  /// a pong finds its way, so that this bounds how long a slow uplink can hold one back.
  public let fragmentLength: Int
  /// Whether a message that is not there whole is delivered in pieces as they arrive, each but the
  /// last with `Message.isContinued`. Text may be cut inside a character then. Otherwise a message
  /// is kept until it is whole.
  public let deliversPieces: Bool

  /// Makes limits.
  /// - Parameters:
  ///   - maximumMessageLength: 1 MiB if not given, as with URLSession.
  ///   - maximumFrameLength: As much as a message if not given.
  ///   - maximumOutgoingLength: 16 MiB if not given.
  ///   - fragmentLength: 128 KiB if not given, as long as browsers make theirs; at least 125.
  ///   - deliversPieces: False if not given.
  /// - Throws: ``FramingError/limitOutOfRange(argument:value:range:)``.
  public init(
    maximumMessageLength: Int = 1 << 20, maximumFrameLength: Int? = nil,
    maximumOutgoingLength: Int = 16 << 20, fragmentLength: Int = 128 << 10,
    deliversPieces: Bool = false
  ) throws(FramingError) {
    let frame = maximumFrameLength ?? maximumMessageLength
    try Self.check(maximumMessageLength, "maximumMessageLength", from: 1)
    try Self.check(frame, "maximumFrameLength", from: 1)
    try Self.check(maximumOutgoingLength, "maximumOutgoingLength", from: 1)
    try Self.check(fragmentLength, "fragmentLength", from: 125)
    self.init(
      message: maximumMessageLength, frame: frame, outgoing: maximumOutgoingLength,
      fragment: fragmentLength, deliversPieces: deliversPieces)
  }

  /// 1 MiB inwards, 16 MiB outwards, whole messages.
  public static let standard = WebSocketLimits(
    message: 1 << 20, frame: 1 << 20, outgoing: 16 << 20, fragment: 128 << 10,
    deliversPieces: false)

  private init(message: Int, frame: Int, outgoing: Int, fragment: Int, deliversPieces: Bool) {
    maximumMessageLength = message
    maximumFrameLength = frame
    maximumOutgoingLength = outgoing
    fragmentLength = fragment
    self.deliversPieces = deliversPieces
  }

  private static func check(
    _ value: Int, _ argument: String, from least: Int
  ) throws(FramingError) {
    // Half of what an Int holds, so that sums of lengths cannot overflow.
    let range = least...Int.max / 2
    guard range.contains(value) else {
      throw .limitOutOfRange(argument: argument, value: value, range: range)
    }
  }
}
