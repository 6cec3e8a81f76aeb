public import ConnectionFSM

/// A box on the way (an address translator, a firewall, a load balancer) that forgets connections
/// on which nothing has passed for a while. Any packet of a connection winds its timer up again.
public struct IdleReaper: Equatable, Sendable {
  /// What becomes of a connection once it is forgotten.
  public enum Aftermath: Equatable, Sendable {
    /// Nothing passes any more, in either direction, and nobody is told.
    case silence
    /// Whoever sends next is answered with a reset.
    case resetOnNextPacket
    /// Both ends are sent a FIN at once; what they send after it is answered with a reset.
    case finish
    /// Both ends are sent a reset at once.
    case reset
  }

  /// What it is called.
  public var name: String
  /// For how long nothing must pass.
  public var idle: TimeSpan
  /// How much earlier or later at most it forgets, drawn anew with each packet: boxes note the time
  /// roughly, and look at their tables from time to time. How roughly is rarely published, so one
  /// second is our own figure.
  public var sweep: TimeSpan
  /// What then becomes of the connection.
  public var aftermath: Aftermath
  /// Where the figures were read.
  public var source: String

  /// Makes a reaper.
  public init(
    _ name: String, idle: TimeSpan, sweep: TimeSpan = .seconds(1), aftermath: Aftermath,
    source: String
  ) {
    self.name = name
    self.idle = idle
    self.sweep = sweep
    self.aftermath = aftermath
    self.source = source
  }
}

/// A reaper's memory of one connection.
struct ReaperState: Sendable {
  let reaper: IdleReaper
  /// When it forgets the connection, unless something passes before.
  var expiry: Instant
}
