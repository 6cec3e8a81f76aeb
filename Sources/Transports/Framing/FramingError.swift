/// Why a framing cannot be made, or a message cannot be sent with it.
public enum FramingError: Error, Equatable, Sendable {
  /// A delimiter needs at least one byte.
  case emptyDelimiter
  /// The longest line must have at least one byte.
  case maximumLengthTooSmall(Int)
  /// The ping line could not be told from two lines, or is longer than the longest line.
  case invalidPingLine
  /// The pong line could never arrive, since it holds the delimiter or is longer than the longest
  /// line.
  case invalidPongLine
  /// A pong line answers a ping line, and there is none; or echoes answer already.
  case pongLineWithoutUse
  /// The message would be read as more than one line.
  case messageHoldsDelimiter
  /// The message is longer than the longest line.
  case messageTooLong(count: Int, limit: Int)
}

extension FramingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .emptyDelimiter:
      "delimiter: has no bytes; give at least one, or use .crlf, .lf or .nul"
    case .maximumLengthTooSmall(let length):
      "maximumLength: is \(length); give at least 1"
    case .invalidPingLine:
      "pingLine: holds the delimiter or exceeds maximumLength; give one line without its delimiter"
    case .invalidPongLine:
      "pongLine: holds the delimiter or exceeds maximumLength; give one line without its delimiter"
    case .pongLineWithoutUse:
      "pongLine: is of use only with a pingLine, and without acknowledgement by echo; leave it out"
    case .messageHoldsDelimiter:
      "message: would be read as several lines; escape the delimiter, or frame by length"
    case .messageTooLong(let count, let limit):
      "message: has \(count) bytes, more than maximumLength \(limit); split it, or raise the limit"
    }
  }
}
