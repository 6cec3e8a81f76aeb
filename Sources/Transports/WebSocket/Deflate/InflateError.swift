/// Why what a peer sent is no compressed message (RFC 7692 section 7.2.2).
public enum InflateError: Error, Equatable, Sendable {
  /// The bytes are no deflated data, in zlib's own words.
  case corrupt(reason: String)
  /// The message ends inside a block.
  case truncated
  /// More would come out than this many bytes.
  case tooLong(limit: Int)
}

extension InflateError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .corrupt(let reason):
      "compressed message: is no deflated data (\(reason)); mend the peer, or offer no compression"
    case .truncated:
      "compressed message: ends inside a block; mend the peer, or offer no compression"
    case .tooLong(let limit):
      "compressed message: inflates to more than \(limit) bytes; raise the limit if that is right"
    }
  }
}
