public import ConnectionFSM

/// What came of a fleet that lost its server.
///
/// Shares and rates are of the clients that lost their link. Times are counted from the first loss.
public struct FleetReport: Equatable, Sendable {
  /// How many clients lost their link.
  public internal(set) var clients = 0
  /// How many of them were connected again at the end.
  public internal(set) var connected = 0
  /// Dials that clients made, from the loss on.
  public internal(set) var dials = 0
  /// Dials that a server which was down refused.
  public internal(set) var refused = 0
  /// Dials that vanished: the line was full, or the server silent.
  public internal(set) var dropped = 0
  /// Dials that the server turned away with a 503.
  public internal(set) var shed = 0
  /// Handshakes that the server took on.
  public internal(set) var served = 0
  /// Those of them whose client had given up by the time the answer arrived, or would have.
  public internal(set) var wasted = 0
  /// Bursts of network activity of all clients. Activity is a dial that leaves or an answer that
  /// arrives; one more than 10 s after the last begins a burst and wakes the radio.
  public internal(set) var radioWakeUps = 0
  /// How long all clients together waited for their next dial, in seconds; a lost link counts from
  /// its loss.
  public internal(set) var waiting = 0.0
  /// How long all clients together were at a dial, in seconds.
  public internal(set) var dialling = 0.0
  /// How long all clients together were connected again, in seconds.
  public internal(set) var open = 0.0
  /// When the run ended: when the last was connected, or at the limit.
  public internal(set) var duration = TimeSpan.zero
  /// What happened in each 100 ms.
  public internal(set) var series: [Bin] = []
  /// When each client that came back did, in order of time.
  var connections: [Instant] = []

  /// What happened within 100 ms.
  public struct Bin: Equatable, Sendable {
    /// How many dials arrived at the server.
    public internal(set) var dials: UInt32 = 0
    /// How many clients were connected at its end.
    public internal(set) var connected: UInt32 = 0
    /// The longest that the server's line was when a dial had arrived.
    public internal(set) var queue: UInt32 = 0
  }

  /// Dials a client.
  public var attempts: Double { Double(dials) / Double(clients) }

  /// The most dials that arrived within one bin of the series.
  public var peak: Int { Int(series.map(\.dials).max() ?? 0) }

  /// The share of served handshakes that gave a client its link; 1 if there were none.
  public var goodput: Double { served == 0 ? 1 : Double(served - wasted) / Double(served) }

  /// Radio wake-ups of a client in an hour.
  public var radioWakeUpsPerHour: Double {
    let hours = Double(duration.nanoseconds) / 3.6e12
    return hours > 0 ? Double(radioWakeUps) / (Double(clients) * hours) : 0
  }

  /// After how long more than that share of the clients was connected again; with 100 percent, all.
  /// - Parameter percent: 0 to 100; beyond it there is nothing to tell.
  /// - Returns: Nil if so many never were.
  public func time(percent: Int) -> TimeSpan? {
    guard (0...100).contains(percent) else { return nil }
    let place = min(clients - 1, Int(Int64(clients) * Int64(percent) / 100))
    guard connections.indices.contains(place) else { return nil }
    return connections[place] - .origin
  }
}
