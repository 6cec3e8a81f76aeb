/// The application's own verdict on some causes, before the tables are asked (F05, F14).
public struct VerdictOverride: Equatable, Sendable {
  /// Which causes.
  public enum Pattern: Equatable, Sendable {
    /// Closed by the peer with a code of this range.
    case closeCodes(ClosedRange<UInt16>)
    /// Answered to an upgrade with a status of this range.
    case httpStatuses(ClosedRange<UInt16>)
    /// This error of the operating system.
    case system(SystemError)
    /// All causes of this kind.
    case kind(Cause.Kind)
  }

  /// Which causes.
  public var pattern: Pattern
  /// What follows from them. A Retry-After of the answer still holds, if it is longer.
  public var verdict: Verdict

  /// Makes an override.
  public init(_ pattern: Pattern, _ verdict: Verdict) {
    self.pattern = pattern
    self.verdict = verdict
  }
}

extension VerdictOverride {
  func matches(_ cause: Cause) -> Bool {
    switch (pattern, cause) {
    case (.closeCodes(let codes), .closedByPeer(let code?)): codes.contains(code.rawValue)
    case (.httpStatuses(let statuses), .http(let status, _)): statuses.contains(status)
    case (.system(let error), .system(let given)): error == given
    case (.kind(let kind), _): cause.kind == kind
    case (.closeCodes, _), (.httpStatuses, _), (.system, _): false
    }
  }

  func validate() throws(PolicyError) {
    try Self.requireDelay(verdict.minimumDelay, "overrides.minimumDelay")
    try Self.requireDelay(verdict.spread, "overrides.spread")
  }

  private static func requireDelay(
    _ delay: TimeSpan, _ knob: StaticString
  ) throws(PolicyError) {
    guard delay >= .zero, delay <= Verdict.longestDelay else {
      throw PolicyError(knob, "must be 0 s to 1 h")
    }
  }
}

extension Policy {
  /// The verdict of the first override that matches, else of the tables.
  package func verdict(on cause: Cause, in circumstances: Circumstances) -> Verdict {
    for override in overrides where override.matches(cause) {
      var verdict = override.verdict
      if case .http(_, let seconds) = cause { verdict = verdict.after(seconds: seconds) }
      return verdict.under(circumstances.path)
    }
    return cause.verdict(in: circumstances)
  }
}
