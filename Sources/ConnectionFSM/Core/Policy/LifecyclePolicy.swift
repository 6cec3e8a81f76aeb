/// What becomes of an open link that nobody looks at, and of one that was asleep.
public struct LifecyclePolicy: Equatable, BitwiseCopyable, Sendable {
  /// How long a link stays open in the background; nil, the default, keeps it, zero closes at once.
  ///
  /// Closing sends first what waits. Apple calls a socket defunct once its process is suspended
  /// (TN2277), so a link that is not closed in time is verified on return.
  public var backgroundGrace: TimeSpan?
  /// How long a link stays open that nobody needs; nil keeps it. Default 30 s.
  public var idleGrace: TimeSpan?

  /// Makes a lifecycle policy.
  public init(backgroundGrace: TimeSpan? = nil, idleGrace: TimeSpan? = .seconds(30)) {
    self.backgroundGrace = backgroundGrace
    self.idleGrace = idleGrace
  }

  func validate() throws(PolicyError) {
    if let backgroundGrace {
      try Policy.requireSpan(backgroundGrace, "lifecycle.backgroundGrace")
    }
    if let idleGrace { try Policy.requireSpan(idleGrace, "lifecycle.idleGrace") }
  }
}
