/// How a dead peer is found out: a ping after silence, and a deadline for the answer.
///
/// TCP alone does not tell: a peer that vanished leaves the socket open for about 15 minutes
/// (Linux, tcp_retries2), and for ever if nothing is sent.
public struct Heartbeat: Equatable, BitwiseCopyable, Sendable {
  /// The silence after which a ping is sent; any inbound byte starts it anew. Default 25 s, below
  /// the shortest common idle reaper of proxies.
  public var interval: TimeSpan
  /// How long the answer may take; any inbound byte counts as one. Default 10 s.
  ///
  /// A verdict that comes a second late or more (a sleep, a stalled loop) is not evidence: the peer
  /// is asked once more, with as much time as the first time. The ping travels behind what was sent
  /// before it, so the timeout must cover the longest upload that the peer answers with silence.
  public var timeout: TimeSpan

  /// How many pings in a row may stay without an answer before the peer is given up. Default 1.
  public var misses: UInt8
  /// The server sends the pings, one an ``interval``, and we only listen: the peer is given up
  /// after interval plus timeout without a byte. Default false.
  public var isServerDriven: Bool
  /// Whether any inbound byte answers a ping, or a pong alone. Default true.
  public var anyByteCounts: Bool
  /// The shortest interval that the machine may come down to by itself; nil, the default, keeps
  /// ``interval``.
  ///
  /// A link that dies silently may have met an idle reaper on the way; the next pings twice within
  /// the silence that killed it. Forgotten when the interface changes, since the reaper is another.
  public var shortestInterval: TimeSpan?
  /// By how much the interval grows while the path is expensive or constrained, in percent: 100 and
  /// above. Default 100, which is not at all.
  public var stretch: UInt16

  /// Makes a heartbeat.
  public init(
    interval: TimeSpan = .seconds(25),
    timeout: TimeSpan = .seconds(10),
    misses: UInt8 = 1,
    isServerDriven: Bool = false,
    anyByteCounts: Bool = true,
    shortestInterval: TimeSpan? = nil,
    stretch: UInt16 = 100
  ) {
    self.interval = interval
    self.timeout = timeout
    self.misses = misses
    self.isServerDriven = isServerDriven
    self.anyByteCounts = anyByteCounts
    self.shortestInterval = shortestInterval
    self.stretch = stretch
  }

  func validate() throws(PolicyError) {
    try Policy.requirePositive(interval, "heartbeat.interval")
    try Policy.requirePositive(timeout, "heartbeat.timeout")
    guard anyByteCounts || !isServerDriven else {
      throw PolicyError("heartbeat.anyByteCounts", "must be true where the server sends the pings")
    }
    guard misses > 0 else { throw PolicyError("heartbeat.misses", "must be at least 1") }
    guard (100...10_000).contains(stretch) else {
      throw PolicyError("heartbeat.stretch", "must be 100 to 10,000 percent")
    }
    if let shortestInterval {
      guard !isServerDriven else {
        throw PolicyError(
          "heartbeat.shortestInterval", "must be nil where the server sends the pings")
      }
      try Policy.requirePositive(shortestInterval, "heartbeat.shortestInterval")
      guard shortestInterval <= interval else {
        throw PolicyError("heartbeat.shortestInterval", "must not be above heartbeat.interval")
      }
    }
  }
}
