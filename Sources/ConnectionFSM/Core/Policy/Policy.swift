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
  /// How far the connect deadline may grow: it doubles with each dial in a row that it cut. Nil,
  /// the default, keeps it fixed.
  ///
  /// A server that answers more slowly than the deadline does work which the cut throws away; a
  /// fleet that dials again at the same pace then never gets in.
  public let connectDeadlineLimit: TimeSpan?
  /// How long the peer may take to answer our close before the link is cut. Default 5 s.
  public let closeDeadline: TimeSpan
  /// How long a link that is to close may take to send what it was given. Default 5 s.
  public let drainDeadline: TimeSpan
  /// When to dial again after a failure.
  public let backoff: Backoff
  /// The shortest time between two dials that nobody asked for; zero turns the bound off.
  /// Default 1 s.
  ///
  /// Holds whatever the backoff says, so that in any window W there are at most 1 + W / spacing
  /// such dials, even against a server that accepts and drops at once.
  public let minimumDialSpacing: TimeSpan
  /// A second bound on such dials, over a longer time; nil, the default, has none.
  public let retryBudget: RetryBudget?
  /// When the machine slows down in a long outage; nil, the default, never.
  public let patience: Patience?
  /// How a silent peer is found out; nil sends no pings and detects nothing.
  public let heartbeat: Heartbeat?
  /// The application's own heartbeat; nil, the default, has none.
  public let beat: Beat?
  /// What the reachability signal may do.
  public let path: PathPolicy
  /// What background and idleness do to an open link.
  public let lifecycle: LifecyclePolicy
  /// Whether each connect goes through its endpoints in an order of its own, so that clients spread
  /// over them. Default false: the first is preferred.
  public let shufflesEndpoints: Bool
  /// How long the session stage may take after the transport opened; nil has no such stage, and
  /// `opened` leads straight to open.
  public let sessionDeadline: TimeSpan?
  /// How long after its link ended a session may be resumed; nil, the default, begins anew on each
  /// link.
  public let resumeWindow: TimeSpan?
  /// How long the credentials provider may take before each dial; nil asks for none.
  public let credentialsDeadline: TimeSpan?
  /// How fast a backlog leaves; nil, the default, as fast as the link takes it.
  public let pacing: Pacing?
  /// When an open link is replaced by plan; nil, the default, never.
  public let rollover: Rollover?
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
    connectDeadlineLimit: TimeSpan? = nil,
    closeDeadline: TimeSpan = .seconds(5),
    drainDeadline: TimeSpan = .seconds(5),
    backoff: Backoff = Backoff(),
    minimumDialSpacing: TimeSpan = .seconds(1),
    retryBudget: RetryBudget? = nil,
    patience: Patience? = nil,
    heartbeat: Heartbeat? = Heartbeat(),
    beat: Beat? = nil,
    path: PathPolicy = PathPolicy(),
    lifecycle: LifecyclePolicy = LifecyclePolicy(),
    shufflesEndpoints: Bool = false,
    sessionDeadline: TimeSpan? = nil,
    resumeWindow: TimeSpan? = nil,
    credentialsDeadline: TimeSpan? = nil,
    pacing: Pacing? = nil,
    rollover: Rollover? = nil,
    lanes: [Lane] = [Lane(.atMostOnce), Lane(.atLeastOnce, timeToLive: nil)],
    overrides: [VerdictOverride] = []
  ) throws(PolicyError) {
    self.connectDeadline = connectDeadline
    self.connectDeadlineLimit = connectDeadlineLimit
    self.closeDeadline = closeDeadline
    self.drainDeadline = drainDeadline
    self.backoff = backoff
    self.minimumDialSpacing = minimumDialSpacing
    self.retryBudget = retryBudget
    self.patience = patience
    self.heartbeat = heartbeat
    self.beat = beat
    self.path = path
    self.lifecycle = lifecycle
    self.shufflesEndpoints = shufflesEndpoints
    self.sessionDeadline = sessionDeadline
    self.resumeWindow = resumeWindow
    self.credentialsDeadline = credentialsDeadline
    self.pacing = pacing
    self.rollover = rollover
    self.lanes = lanes
    self.overrides = overrides
    try validate()
  }
}
