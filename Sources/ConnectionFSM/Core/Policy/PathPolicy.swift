/// What the reachability signal may do. It is a hint: it never ends the wish to be connected.
public struct PathPolicy: Equatable, BitwiseCopyable, Sendable {
  /// What a lost path does to an open link.
  public enum Loss: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// Ping at once and give the answer ``PathPolicy/suspectTimeout``; without a heartbeat,
    /// nothing.
    case probe
    /// End the link at once.
    case close
  }

  /// What a path over another interface does to an open link.
  public enum Switch: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// Ping at once and give the answer ``PathPolicy/suspectTimeout``.
    case probe
    /// End the link and dial at once over the new interface.
    case redial
    /// Nothing: for protocols that move with the path, such as multipath TCP.
    case keep
  }

  /// What a lost path does to an open link. Default probe: many reports of a lost path are false.
  public var onLoss: Loss
  /// What a path over another interface does to an open link. Default probe. A dial that is under
  /// way is made anew in any case but keep: its packets leave by an interface that is not used.
  public var onSwitch: Switch
  /// How long a link in doubt (its path lost or changed, the device just awake) may take to answer;
  /// never longer than ``Heartbeat/timeout``. Default 3 s.
  public var suspectTimeout: TimeSpan
  /// How long to hold dials while the path is said to be down, before one is tried all the same,
  /// since the signal can lie (I10). Default 60 s.
  public var probeInterval: TimeSpan
  /// The ceiling of the random wait after the path came back, where it also absorbs flapping, and
  /// before a retry that a verdict wants at once. Default 0.5 s.
  public var returnJitter: TimeSpan
  /// How long a report must stand before it counts. Default zero, which believes at once: the
  /// spacing of dials already bounds what a flapping path can do. The first report always does.
  public var debounce: TimeSpan

  /// Makes a path policy.
  public init(
    onLoss: Loss = .probe,
    onSwitch: Switch = .probe,
    suspectTimeout: TimeSpan = .seconds(3),
    probeInterval: TimeSpan = .seconds(60),
    returnJitter: TimeSpan = .milliseconds(500),
    debounce: TimeSpan = .zero
  ) {
    self.onLoss = onLoss
    self.onSwitch = onSwitch
    self.suspectTimeout = suspectTimeout
    self.probeInterval = probeInterval
    self.returnJitter = returnJitter
    self.debounce = debounce
  }

  func validate() throws(PolicyError) {
    try Policy.requirePositive(suspectTimeout, "path.suspectTimeout")
    try Policy.requirePositive(probeInterval, "path.probeInterval")
    try Policy.requireSpan(returnJitter, "path.returnJitter")
    try Policy.requireSpan(debounce, "path.debounce")
  }
}
