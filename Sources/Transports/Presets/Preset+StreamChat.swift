import ConnectionFSM

extension Preset where Framing == ChatFraming {
  /// A chat over a raw stream: `iam:` once, then `msg:` for each text, one link that does not come
  /// back by itself, no heartbeat.
  ///
  /// What differs from the article, and the bug that ends: a short write loses nothing (B2.1);
  /// messages have an end on the wire, or the limit of a server without one is stated (B2.2); text
  /// is read by lines (B2.3); an error ends the link and its streams (B2.4); a second connect lets
  /// the first go (B2.5); nothing precedes the login (B2.6); the server's echo can be told from
  /// what others say (B2.7); a dial has a limit (B2.9).
  ///
  /// A link that is lost ends the connection, and messages offered without one are turned away:
  /// connect again when the user wants it. A dead peer is found out by the kernel alone, which can
  /// take 15 minutes.
  /// - Parameters:
  ///   - login: Who joins.
  ///   - isBare: Whether the server knows no delimiter, as the article's.
  /// - Throws: ``ChatError`` for a login that the server could not read whole.
  public static func streamChat(
    _ login: ChatLogin, isBare: Bool = false
  ) throws(ChatError) -> Preset {
    Preset(policy: .onceOnly, framing: try ChatFraming(login, isBare: isBare))
  }
}
