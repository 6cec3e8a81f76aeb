extension Policy {
  /// The policy of XTWebSocket, a manager over SocketRocket (F09): waits of 0, 2, 4, 8, 16, 32, 60,
  /// 60 … s without jitter, a beat each 180 s whose first is sent at once, a lost network closes,
  /// messages wait for a link without a time limit.
  ///
  /// What differs from the article, and the bug that ends: failures are forgotten after a stable
  /// link (B0.6) and never pass the cap (B0.7); dials keep ``minimumDialSpacing``; what another try
  /// cannot help is not tried for ever (B0.14); an unknown path is tried (B0.11). Its clients
  /// return in step (B0.8), as in the article.
  /// - Parameter heartbeat: How a silent peer is found out; the article's manager has none (B0.16).
  /// - Throws: ``PolicyError`` for such a heartbeat.
  public static func xt(heartbeat: Heartbeat? = nil) throws(PolicyError) -> Policy {
    try Policy(
      connectDeadline: .seconds(10), backoff: Backoff(.xt), minimumDialSpacing: .seconds(1),
      heartbeat: heartbeat, beat: Beat(interval: .seconds(180), isImmediate: true),
      path: PathPolicy(onLoss: .close),
      lanes: [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
  }

  /// The policy of a manager over URLSession that doubles its wait (F10): 2, 4, 8, 16, 30, 30 … s
  /// without jitter; messages wait for a link without a time limit.
  ///
  /// What differs from the article, and the bug that ends: the user's close is not followed by a
  /// dial (B4.1); the time open forgives failures, and no message is needed for it (B4.7); what
  /// another try cannot help is not tried for ever (B4.12). Its clients return in step, as in the
  /// article.
  /// - Parameter heartbeat: How a silent peer is found out; the article's manager has none (B4.12).
  /// - Throws: ``PolicyError`` for such a heartbeat.
  public static func doubling(heartbeat: Heartbeat? = nil) throws(PolicyError) -> Policy {
    try Policy(
      connectDeadline: .seconds(10), backoff: Backoff(.doubling), minimumDialSpacing: .seconds(1),
      heartbeat: heartbeat, lanes: [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000)])
  }
}

extension VerdictOverride {
  /// Nothing is tried again: each cause ends the connection until the next connect.
  public static var never: [VerdictOverride] {
    Cause.Kind.allCases.map { VerdictOverride(.kind($0), .terminal) }
  }

  /// The network's faults end the connection, everything else follows the tables.
  public static var notWithoutNetwork: [VerdictOverride] {
    [
      VerdictOverride(.kind(.pathLost), .terminal),
      VerdictOverride(.kind(.localAddressLost), .terminal),
      // What Darwin says of a socket whose Wi-Fi is gone (57 there).
      VerdictOverride(.system(.notConnected), .terminal),
      VerdictOverride(.system(.networkDown), .terminal),
      VerdictOverride(.system(.networkUnreachable), .terminal),
    ]
  }
}
