public import ConnectionFSM

/// A server that a fleet comes back to: how fast it shakes hands, how many may stand in line, and
/// what made its clients leave.
///
/// One handshake after the other, first come, first served, each as long as the next.
public struct FleetServer: Hashable, Sendable {
  /// What takes the clients' links away.
  public enum Outage: Hashable, Sendable {
    /// All links are lost at once, and dials are refused for that long.
    case restart(down: TimeSpan)
    /// All links are lost at once, and dials vanish for that long.
    case silence(TimeSpan)
    /// The server closes its links evenly over that long, and goes on to serve.
    case drain(over: TimeSpan)
    /// That share of the links, 1 to 100 percent, is lost at once; the server goes on to serve.
    case zoneLoss(percent: Int)
  }

  /// How a server sheds load: what it answers, at once, to a dial that finds the line too long.
  public struct Shedding: Hashable, Sendable {
    /// How many may stand in line, the one that is served included; from 1.
    public var queueLimit: Int
    /// The hint beside its 503, whole seconds; nil gives none.
    public var retryAfter: UInt16?

    /// Makes a rule.
    public init(queueLimit: Int, retryAfter: UInt16? = nil) {
      self.queueLimit = queueLimit
      self.retryAfter = retryAfter
    }
  }

  /// How long one handshake keeps the server busy; longer than zero.
  public var serviceTime: TimeSpan
  /// How many dials may stand in line, the one that is served included; from 1. One more vanishes.
  public var backlog: Int
  /// What takes the clients' links away.
  public var outage: Outage
  /// When the server refuses in words instead; nil, the default, never.
  public var shedding: Shedding?
  /// How long a message travels one way. Default 25 ms.
  public var latency: LatencyRange

  /// Makes a server.
  public init(
    serviceTime: TimeSpan, backlog: Int, outage: Outage, shedding: Shedding? = nil,
    latency: LatencyRange = LatencyRange(.milliseconds(25), .milliseconds(25))
  ) {
    self.serviceTime = serviceTime
    self.backlog = backlog
    self.outage = outage
    self.shedding = shedding
    self.latency = latency
  }
}

// MARK: Validation

extension FleetServer {
  func validate() throws(FleetError) {
    guard serviceTime > .zero, serviceTime <= .seconds(3600) else {
      throw FleetError(setting: "server.serviceTime", mend: "must be above 0, at most an hour")
    }
    guard (1...1_000_000_000).contains(backlog) else {
      throw FleetError(setting: "server.backlog", mend: "must be 1 to 1,000,000,000")
    }
    if let shedding, !(1...1_000_000_000).contains(shedding.queueLimit) {
      throw FleetError(
        setting: "server.shedding.queueLimit", mend: "must be 1 to 1,000,000,000, or no shedding")
    }
    switch outage {
    case .restart(let span), .silence(let span), .drain(let span):
      guard span >= .zero, span <= FleetConditions.longest else {
        throw FleetError(setting: "server.outage", mend: "must last 0 to 365 days")
      }
    case .zoneLoss(let percent):
      guard (1...100).contains(percent) else {
        throw FleetError(setting: "server.outage", mend: "must be a loss of 1 to 100 percent")
      }
    }
  }

  /// How many of so many clients lose their link.
  func lost(of clients: Int) -> Int {
    guard case .zoneLoss(let percent) = outage else { return clients }
    return max(1, Int((Int64(clients) * Int64(percent)) / 100))
  }

  /// When a client, of so many, loses its link.
  func loss(of client: UInt32, count: Int) -> Instant {
    guard case .drain(let span) = outage else { return .origin }
    // In double precision: the product of the two may not fit.
    return .origin
      + .nanoseconds(Int64(Double(span.nanoseconds) * (Double(client) / Double(count))))
  }
}
