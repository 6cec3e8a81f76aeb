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
  /// The message is longer than the longest line, or than the longest payload.
  case messageTooLong(count: Int, limit: Int)
  /// A limit of this name cannot have this value.
  case limitOutOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// A key for XOR needs at least one byte.
  case emptyKey
  /// Only objects can be sent.
  case messageIsNoObject
  /// The message is not JSON, or its top level is neither an object nor an array.
  case messageIsNoJSON(JSONError)
  /// The message is of the kind text, and its bytes are not UTF-8.
  case messageIsNoText
  /// The message is a piece of one that arrived, and more of it would have to follow.
  case messageIsPiece
  /// The message's frame is longer than the longest, or than what a legacy peer can read.
  case frameTooLong(count: Int, limit: Int)
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
    case .limitOutOfRange(let argument, let value, let range):
      "\(argument): is \(value); give \(range.lowerBound) to \(range.upperBound)"
    case .emptyKey:
      "key: has no bytes; give at least one, or send plainly"
    case .messageIsNoObject:
      "message: is no object; make one with Message(encoding:), or give it the kind object"
    case .messageIsNoJSON(let error):
      "message: \(error)"
    case .messageIsNoText:
      "message: is text and not UTF-8; make it from a String, or send it as binary"
    case .messageIsPiece:
      "message: is a piece (isContinued), and pieces cannot be sent; put the message together"
    case .frameTooLong(let count, let limit):
      "message: needs a frame of \(count) bytes, more than \(limit); split it, or raise "
        + "maximumFrame; a legacy peer reads 65535 at most"
    }
  }
}
