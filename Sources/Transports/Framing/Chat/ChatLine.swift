public import ConnectionFSM

/// What a line of a chat's server says.
///
/// The server sends what was said to all, the one who said it among them (I22). So an application
/// that shows its own messages at once must not show them again: ``isFrom(_:)`` tells those that
/// came back. Two people of one name are one to it, as they are to everybody in the chat.
public enum ChatLine: Hashable, Sendable {
  /// Somebody joined.
  case joined(name: String)
  /// Somebody said something.
  case said(name: String, text: String)
  /// A line of another form, as it is.
  case other(String)

  /// Reads a message of a ``ChatFraming``: `NAME: TEXT`, else `NAME has joined`. The text may hold
  /// colons, the name cannot.
  public init(_ message: Message) { self.init(message.text) }

  init(_ line: String) {
    let joined = " has joined"
    if let separator = line.firstRange(of: ": "), line.first != ":",
      line.firstIndex(of: ":") == separator.lowerBound
    {
      self = .said(
        name: String(line[..<separator.lowerBound]), text: String(line[separator.upperBound...]))
    } else if line.hasSuffix(joined), line.count > joined.count, !line.contains(":") {
      self = .joined(name: String(line.dropLast(joined.count)))
    } else {
      self = .other(line)
    }
  }

  /// Whether it came of what somebody of this name did: with one's own name, whether it is the
  /// server's echo.
  public func isFrom(_ name: String) -> Bool {
    switch self {
    case .joined(let other), .said(let other, _): name == other
    case .other: false
    }
  }
}
