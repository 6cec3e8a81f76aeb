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

  /// Makes a heartbeat.
  public init(interval: TimeSpan = .seconds(25), timeout: TimeSpan = .seconds(10)) {
    self.interval = interval
    self.timeout = timeout
  }

  /// From here on a deadline counts as late; a timeout below a second is itself the measure.
  var lateness: TimeSpan { min(.seconds(1), timeout) }

  func validate() throws(PolicyError) {
    try Policy.requirePositive(interval, "heartbeat.interval")
    try Policy.requirePositive(timeout, "heartbeat.timeout")
  }
}
