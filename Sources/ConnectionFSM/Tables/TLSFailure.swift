/// Why TLS was not established, or did not end in order.
public enum TLSFailure: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// The chain of certificates leads to no root that is trusted.
  case untrusted
  /// A certificate's time is over, or has not begun.
  case expired
  /// The certificate is another host's.
  case hostMismatch
  /// The certificate is not the one that the application pinned.
  case pinMismatch
  /// The two sides share no version or no cipher.
  case noCommonVersion
  /// The transport below was reset in the handshake.
  case reset
  /// The stream ended in the handshake, or later without the close of the protocol above.
  case closed
  /// One side reported a fault of its own (alert internal_error).
  case internalError
  /// The peer demands a certificate of ours (RFC 8446 section 4.3.2): none was given, or it refused
  /// the one that was.
  case certificateRequired
}
