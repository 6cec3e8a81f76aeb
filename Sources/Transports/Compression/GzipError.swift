/// Why bytes are not one compressed message.
public enum GzipError: Error, Equatable, Sendable {
  /// The bytes at this offset are no gzip or zlib data, in zlib's own words.
  case corrupt(offset: Int, reason: String)
  /// What was inflated has another checksum or another length than its trailer says.
  case checksum
  /// The bytes end before the data does.
  case truncated
  /// So many bytes follow the end of the data; a message is one gzip member.
  case trailingBytes(Int)
  /// More would come out than this many bytes.
  case tooLong(limit: Int)
}

extension GzipError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .corrupt(let offset, let reason):
      "compressed data: broken at its byte \(offset) (\(reason)); it must be gzip or zlib"
    case .checksum:
      "compressed data: its checksum or length is not that of what came out"
    case .truncated:
      "compressed data: ends before its trailer"
    case .trailingBytes(let count):
      "compressed data: has \(count) bytes behind its end; send one gzip member a message"
    case .tooLong(let limit):
      "compressed data: inflates to more than \(limit) bytes; send less, or raise maximumInflated"
    }
  }
}
