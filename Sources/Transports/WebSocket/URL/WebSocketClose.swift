public import ConnectionFSM

/// What a close frame of ours says (RFC 6455 section 5.5.1).
public struct WebSocketClose: Hashable, Sendable {
  /// 1000: the purpose of the connection is fulfilled.
  public static let normal = WebSocketClose(checked: 1000)

  /// The code.
  public let code: UInt16
  /// The reason, for people; it may be empty.
  public let reason: String

  /// Makes one.
  /// - Parameters:
  ///   - code: One that a client may send: 1000 to 1003, 1007 to 1010, or 3000 to 4999 (section
  ///     7.4).
  ///   - reason: At most 123 bytes of UTF-8.
  /// - Throws: ``WebSocketOptionError``.
  public init(code: UInt16 = 1000, reason: String = "") throws(WebSocketOptionError) {
    switch code {
    case 1000...1003, 1007...1010, 3000...4999: break
    case _:
      throw WebSocketOptionError(
        "code", "is \(code); give 1000 to 1003, 1007 to 1010, or 3000 to 4999")
    }
    // A control frame holds 125 bytes, of which the code is two.
    guard reason.utf8.count <= 123 else {
      throw WebSocketOptionError(
        "reason", "has \(reason.utf8.count) bytes of UTF-8; a close frame holds 123")
    }
    self.code = code
    self.reason = reason
  }

  private init(checked code: UInt16) {
    self.code = code
    reason = ""
  }
}

/// Where a link's keys and masks come from (RFC 6455 section 10.3).
public enum WebSocketRandom: Hashable, Sendable {
  /// From the system's own source, which nobody can predict.
  case system
  /// From this seed: for simulations alone, since who knows one knows all masks.
  case seeded(UInt64)
}

/// What a link tells beside its messages.
public enum WebSocketNotice: Sendable {
  /// The handshake is done, with this outcome.
  case agreed(WebSocketAgreement)
  /// The peer sent a close frame.
  case closedByPeer(code: CloseCode, reason: String)
}
