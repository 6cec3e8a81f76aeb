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
    // By bytes: a mark that combines with what stands before it would hide a colon or a space.
    let bytes = line.utf8
    let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    if let colon, colon > bytes.startIndex, bytes[colon...].starts(with: ": ".utf8) {
      self = .said(
        name: String(line[..<colon]), text: String(Substring(bytes[colon...].dropFirst(2))))
    } else if colon == nil, line.hasSuffix(joined), line.count > joined.count {
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
