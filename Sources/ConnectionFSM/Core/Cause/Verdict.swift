/// What follows from a cause: its class, and the modifiers.
///
/// Made by refining one of the three classes: `.transient.capped(5)`, `.terminal.refreshing`,
/// `.transient.after(.seconds(5), spread: .seconds(25))`.
public struct Verdict: Hashable, BitwiseCopyable, Sendable {
  /// Whose fault it was, and whether another try can help.
  public let failureClass: FailureClass
  /// How many retries such causes together are worth until a link is stable again (`+cap`); nil is
  /// any number, zero stops at once.
  public private(set) var retryLimit: UInt8?
  /// How long to wait at least before anyone but the user may dial (`+after`, `+slow`): 0 to 1 h.
  public private(set) var minimumDelay = TimeSpan.zero
  /// The ceiling of a random wait on top of ``minimumDelay``, so that a fleet told the same does
  /// not return together: 0 to 1 h.
  public private(set) var spread = TimeSpan.zero
  /// Whether the first retry since the last stable link is made at once (`+now`); it still keeps
  /// ``Policy/minimumDialSpacing``.
  public private(set) var retriesAtOnce = false
  /// Whether one try with fresh credentials may follow where the policy has that stage (`+auth`).
  public private(set) var refreshesCredentials = false

  /// Whether the delay is of the endpoint alone: another one of the list may be dialled before.
  public private(set) var prefersElsewhere = false

  private init(_ failureClass: FailureClass, retryLimit: UInt8?) {
    self.failureClass = failureClass
    self.retryLimit = retryLimit
  }

  /// T: retry with backoff.
  public static var transient: Verdict { Verdict(.transient, retryLimit: nil) }
  /// W: the network's fault, retried and forgotten once the path is back.
  public static var network: Verdict { Verdict(.network, retryLimit: nil) }
  /// X: stop until the application acts.
  public static var terminal: Verdict { Verdict(.terminal, retryLimit: 0) }

  /// The class without modifiers.
  public init(_ failureClass: FailureClass) {
    switch failureClass {
    case .transient: self = .transient
    case .network: self = .network
    case .terminal: self = .terminal
    }
  }
}

// MARK: Modifiers

extension Verdict {
  /// The longest ``minimumDelay`` and ``spread``; what a server asks for beyond is cut to it (F13).
  public static let longestDelay = TimeSpan.seconds(3600)

  /// `+cap n`: so many retries without a stable link, then terminal. All capped causes count
  /// together, so that two of them in turn do not retry for ever.
  public func capped(_ retries: UInt8) -> Verdict { changed { $0.retryLimit = retries } }

  /// `+after`: not before this span, and a random wait up to `spread` later.
  public func after(_ minimum: TimeSpan, spread: TimeSpan) -> Verdict {
    changed {
      $0.minimumDelay = minimum
      $0.spread = spread
    }
  }

  /// `+after` as a server gave it, in seconds, if that is longer: clamped to an hour (F13), spread
  /// by a quarter of it.
  func after(seconds: UInt16?) -> Verdict {
    guard let seconds else { return self }
    let minimum = min(TimeSpan.seconds(Int64(seconds)), Self.longestDelay)
    guard minimum > minimumDelay else { return self }
    return after(minimum, spread: TimeSpan(nanoseconds: minimum.nanoseconds / 4))
  }

  /// `+slow`: at least 30 s, the length asked for after close code 1013.
  public var slow: Verdict { after(.seconds(30), spread: .seconds(30)) }

  /// Another endpoint of the list need not wait (hybi on code 1013: the same address only after a
  /// while).
  public var elsewhere: Verdict { changed { $0.prefersElsewhere = true } }

  /// `+now`: the first retry at once.
  public var now: Verdict { changed { $0.retriesAtOnce = true } }

  /// `+auth`: one retry with fresh credentials, then what the rest of the verdict says.
  public var refreshing: Verdict { changed { $0.refreshesCredentials = true } }

  private func changed(_ change: (inout Verdict) -> Void) -> Verdict {
    var copy = self
    change(&copy)
    return copy
  }

  /// The general rule: while the path is down a transient failure is the network's,
  /// and spends no budget. What a server asked for stands all the same.
  func under(_ path: PathStatus) -> Verdict {
    guard path == .down, failureClass == .transient else { return self }
    return Verdict.network.after(minimumDelay, spread: spread)
  }
}

/// The facts beside the cause that a few rows look at.
public struct Circumstances: Hashable, BitwiseCopyable, Sendable {
  /// What the reachability signal said when the attempt ended.
  public var path: PathStatus
  /// How far the attempt had come.
  public var reach: Reach
  /// Whether the link was in doubt: its path lost or changed, the device just awake.
  public var isInDoubt: Bool
  /// Whether the user asked for restraint on the path, as captive networks do.
  public var isPathConstrained: Bool

  /// How far an attempt had come when it ended.
  public enum Reach: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// Messages never flowed.
    case notOpen
    /// It was open, but not for ``Backoff/stability``.
    case open
    /// It was open for that long.
    case stable
  }

  /// Makes circumstances; without arguments, a dial that failed on a path that is up.
  public init(
    path: PathStatus = .up, reach: Reach = .notOpen, isInDoubt: Bool = false,
    isPathConstrained: Bool = false
  ) {
    self.path = path
    self.reach = reach
    self.isInDoubt = isInDoubt
    self.isPathConstrained = isPathConstrained
  }
}
