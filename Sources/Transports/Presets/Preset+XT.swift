public import ConnectionFSM

extension Preset where Framing == WebSocketEngine {
  /// XTWebSocket, a manager over SocketRocket: a WebSocket that says `{"sid": …}` before anything
  /// else and `heart` each 180 s, the first at once after that, and that comes back after 0, 2, 4,
  /// 8, 16, 32, 60, 60 … s.
  ///
  /// What differs from the article, and the bug that ends: a connect always has an effect (B0.1);
  /// there is one wait, and none after the close (B0.2, B0.3); an old link is let go of and its
  /// late end changes nothing (B0.4, B0.5); failures are forgotten after a stable link (B0.6) and
  /// no wait passes the cap (B0.7), nor is any below a second from dial to dial; the beat belongs
  /// to the open link and has one timer, on the connection's own loop (B0.9, B0.10); an unknown
  /// path is tried (B0.11), and one that is back is not missed (B0.12); errors are told by their
  /// symbols (B0.13); what another try cannot help is not tried for ever (B0.14); messages wait
  /// for a link, each with an end that is told (B0.15); nothing precedes the login (B0.17);
  /// binary messages arrive (B0.18); a URL without a host is refused when it is read (B0.19); a
  /// close that the peer does not answer ends after 5 s (B0.20). Its clients return in step
  /// (B0.8), as in the article; a message that arrives may have 1 MiB, not 256.
  ///
  /// For header fields, compression, other limits or credentials give it options of your own:
  /// `preset.framing = WebSocketEngine(options)`, with the same `login`. Credentials need a policy
  /// with a deadline for them, too.
  /// - Parameters:
  ///   - url: Where the server is; connect to its `endpoint`.
  ///   - sid: Whose session it is; the login is made of it.
  ///   - heartbeat: How a silent peer is found out. Nil, as in the article, leaves that to the
  ///     kernel, which can take 15 minutes (B0.16).
  /// - Throws: `PolicyError` for a heartbeat that cannot be, ``WebSocketOptionError`` for a login
  ///   that is longer than a message may be.
  public static func xt(
    _ url: WebSocketURL, sid: String, heartbeat: Heartbeat? = nil
  ) throws -> Preset {
    let login = Message("{\"sid\": \(quoted(sid))}")
    return Preset(
      policy: try .xt(heartbeat: heartbeat),
      framing: WebSocketEngine(try WebSocketOptions(url, login: login)), beat: BeatMessage("heart"))
  }

  /// A text of JSON (RFC 8259 section 7).
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..."\u{1F}":
        quoted += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
      case _: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
