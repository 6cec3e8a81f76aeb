/// Why a chat cannot be joined with a login, or a message cannot be said.
public enum ChatError: Error, Equatable, Sendable {
  /// A name needs at least one character.
  case emptyName
  /// A colon ends the name, on the wire both ways.
  case nameHoldsColon
  /// The name would end the line.
  case nameHoldsNewline
  /// The password would end the line, and what follows would be read as a message.
  case passwordHoldsNewline
  /// A server without a delimiter would cut the password at its colon.
  case passwordHoldsColon
  /// The longest line must have room for the login and for a message of one byte.
  case maximumLengthTooSmall(Int, least: Int)
  /// Only text can be said.
  case messageIsNoText
  /// The text would be read as several lines.
  case messageHoldsNewline
  /// A server without a delimiter would cut the text at its colon.
  case messageHoldsColon
  /// The line, as it is sent or as the server sends it to all, is longer than the longest.
  case messageTooLong(count: Int, limit: Int)
}

extension ChatError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .emptyName: "name: is empty; give at least one character"
    case .nameHoldsColon: "name: holds a colon, which ends a name on the wire; leave it out"
    case .nameHoldsNewline: "name: holds a line's end; leave it out"
    case .passwordHoldsNewline: "password: holds a line's end, which would end it"
    case .passwordHoldsColon:
      "password: holds a colon, where a bare server would cut it; use a server with a delimiter"
    case .maximumLengthTooSmall(let length, let least):
      "maximumLength: is \(length); give at least \(least), the login's length"
    case .messageIsNoText: "message: is no text; send Message(_:) of a text"
    case .messageHoldsNewline: "message: holds a line's end; send its lines one by one"
    case .messageHoldsColon:
      "message: holds a colon, where a bare server would cut it; leave it out, or use a server "
        + "with a delimiter"
    case .messageTooLong(let count, let limit):
      "message: makes a line of \(count) bytes, more than maximumLength \(limit); split it"
    }
  }
}
