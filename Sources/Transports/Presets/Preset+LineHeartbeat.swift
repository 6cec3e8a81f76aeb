public import ConnectionFSM

extension Preset where Framing == DelimiterFraming {
  /// What a lost network does, where the article's manager meant to tell it from a lost server.
  public enum NetworkLoss: Sendable {
    /// The connection ends; the application connects again once the user wants it. As the article.
    case stops
    /// The connection waits for the network and comes back with it.
    case waits
  }

  /// LGSocketServe, a manager over GCDAsyncSocket: lines that end with CRLF, a heartbeat line at a
  /// fixed interval, back at once after a drop by the server and not at all after the user's close.
  ///
  /// What differs from the article, and the bug that ends: a connect dials once (B3.1); user,
  /// server and network are different causes, written by the machine (B3.2, B3.3, B3.12); the late
  /// end of an old link changes nothing (B3.5); the heartbeat belongs to the open link and has one
  /// timer (B3.6, B3.7); reading goes on by itself (B3.10), and a line is what ends with CRLF, not
  /// what a read gave (B3.14); times given are the times used (B3.9); dials keep the policy's
  /// spacing, so that a server which accepts and drops is not hammered (B3.11).
  ///
  /// - Parameters:
  ///   - interval: The time between two heartbeats; the first comes after one interval. The article
  ///     names none.
  ///   - text: The heartbeat's line.
  ///   - answer: The line by which the server answers it, and how long that may take, less than the
  ///     interval; nil, as in the article, waits for none, and a dead peer is then found out by the
  ///     kernel alone, which can take 15 minutes (B3.13).
  ///   - networkLoss: What a lost network does.
  /// - Throws: `PolicyError` for an interval that cannot be.
  public static func lineHeartbeat(
    interval: TimeSpan, text: String = "longConnect",
    answer: (line: String, within: TimeSpan)? = nil, networkLoss: NetworkLoss = .stops
  ) throws(PolicyError) -> Preset {
    let framing = try! DelimiterFraming(delimiter: .crlf)  // the defaults fit any delimiter
    guard framing.admits(Message(text)) else {
      throw PolicyError("beat", "must be a line: give a text without CRLF, of at most 64 KiB")
    }
    if let line = answer?.line, !framing.admits(Message(line)) {
      throw PolicyError(
        "beat.answer", "must be a line: give a text without CRLF, of at most 64 KiB")
    }
    let policy = try Policy(
      connectDeadline: .seconds(20),
      // From the first dial after a drop on; the spacing bounds what follows.
      backoff: Backoff(
        strategy: .constant, first: .zero, base: .zero, cap: .seconds(1), jitter: .none),
      minimumDialSpacing: .seconds(1), heartbeat: nil,
      beat: Beat(interval: interval, isImmediate: false, answerTimeout: answer?.within),
      path: PathPolicy(onLoss: .close),
      lanes: [Lane(.atMostOnce, timeToLive: nil, admission: .whileOpen)],
      overrides: networkLoss == .stops ? VerdictOverride.notWithoutNetwork : [])
    var beat = BeatMessage(text)
    if let line = answer?.line { beat.isAnswer = { $0.bytes.elementsEqual(line.utf8) } }
    return Preset(policy: policy, framing: framing, beat: beat)
  }
}
