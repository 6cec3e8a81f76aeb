/// Every knob of a connection, checked once when it is made.
///
/// One shared, immutable object: machines of a fleet hold a reference to the same policy.
/// The defaults are meant for production and may be tuned from release to release; a test that pins
/// behaviour names its values.
public final class Policy: Sendable {
  /// How long an attempt may take from the dial to `opened`, all phases together.
  ///
  /// Default 10 s: what URLRequest-based managers use, far below the two minutes that
  /// Linux spends on unanswered SYNs.
  public let connectDeadline: TimeSpan
  /// How long the peer may take to answer our close before the link is cut. Default 5 s.
  public let closeDeadline: TimeSpan
  /// When to dial again after a failure.
  public let backoff: Backoff
  /// The shortest time between two dials that nobody asked for; zero turns the bound off.
  /// Default 1 s.
  ///
  /// Holds whatever the backoff says, so that in any window W there are at most 1 + W / spacing
  /// such dials, even against a server that accepts and drops at once.
  public let minimumDialSpacing: TimeSpan
  /// How a silent peer is found out; nil sends no pings and detects nothing.
  public let heartbeat: Heartbeat?
  /// What the reachability signal may do.
  public let path: PathPolicy
  /// How long the session stage may take after the transport opened; nil has no such stage, and
  /// `opened` leads straight to open.
  public let sessionDeadline: TimeSpan?
  /// How long the credentials provider may take before each dial; nil asks for none.
  public let credentialsDeadline: TimeSpan?
  /// The lanes of the pending-send queue, in order of priority: 1 to 4. Default one at most once,
  /// and one at least once without a time to live.
  public let lanes: [Lane]
  /// The application's own verdicts, asked in order before the tables: at most 32.
  /// Default none.
  public let overrides: [VerdictOverride]

  /// Makes a policy.
  /// - Throws: ``PolicyError``, which names the knob and the mend.
  public init(
    connectDeadline: TimeSpan = .seconds(10),
    closeDeadline: TimeSpan = .seconds(5),
    backoff: Backoff = Backoff(),
    minimumDialSpacing: TimeSpan = .seconds(1),
    heartbeat: Heartbeat? = Heartbeat(),
    path: PathPolicy = PathPolicy(),
    sessionDeadline: TimeSpan? = nil,
    credentialsDeadline: TimeSpan? = nil,
    lanes: [Lane] = [Lane(.atMostOnce), Lane(.atLeastOnce, timeToLive: nil)],
    overrides: [VerdictOverride] = []
  ) throws(PolicyError) {
    self.connectDeadline = connectDeadline
    self.closeDeadline = closeDeadline
    self.backoff = backoff
    self.minimumDialSpacing = minimumDialSpacing
    self.heartbeat = heartbeat
    self.path = path
    self.sessionDeadline = sessionDeadline
    self.credentialsDeadline = credentialsDeadline
    self.lanes = lanes
    self.overrides = overrides
    try validate()
  }
}

extension Policy {
  // Every positive span has this ceiling, so that sums of a few of them stay far from overflow.
  static let longestSpan = TimeSpan.seconds(365 * 24 * 3600)

  private func validate() throws(PolicyError) {
    try Self.requirePositive(connectDeadline, "connectDeadline")
    try Self.requirePositive(closeDeadline, "closeDeadline")
    try Self.requireSpan(minimumDialSpacing, "minimumDialSpacing")
    if let sessionDeadline { try Self.requirePositive(sessionDeadline, "sessionDeadline") }
    if let credentialsDeadline {
      try Self.requirePositive(credentialsDeadline, "credentialsDeadline")
    }
    try backoff.validate()
    try heartbeat?.validate()
    try path.validate()
    guard (1...SendQueue.laneLimit).contains(lanes.count) else {
      throw PolicyError("lanes", "there must be 1 to 4 lanes")
    }
    for lane in lanes { try lane.validate() }
    guard overrides.count <= 32 else {
      throw PolicyError("overrides", "there must be at most 32 overrides")
    }
    for override in overrides { try override.validate() }
  }

  static func requirePositive(_ span: TimeSpan, _ knob: StaticString) throws(PolicyError) {
    guard span > .zero else { throw PolicyError(knob, "must be longer than zero") }
    try requireSpan(span, knob)
  }

  static func requireSpan(_ span: TimeSpan, _ knob: StaticString) throws(PolicyError) {
    guard span >= .zero else { throw PolicyError(knob, "must not be negative") }
    guard span <= longestSpan else { throw PolicyError(knob, "must not be above 365 days") }
  }
}

extension Policy: Equatable {
  public static func == (left: Policy, right: Policy) -> Bool {
    left === right
      || left.connectDeadline == right.connectDeadline
        && left.closeDeadline == right.closeDeadline
        && left.backoff == right.backoff
        && left.minimumDialSpacing == right.minimumDialSpacing
        && left.heartbeat == right.heartbeat
        && left.path == right.path
        && left.sessionDeadline == right.sessionDeadline
        && left.credentialsDeadline == right.credentialsDeadline
        && left.lanes == right.lanes
        && left.overrides == right.overrides
  }
}
