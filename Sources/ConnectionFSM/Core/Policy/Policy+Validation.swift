extension Policy {
  // Every positive span has this ceiling, so that sums of a few of them stay far from overflow.
  static let longestSpan = TimeSpan.seconds(365 * 24 * 3600)

  func validate() throws(PolicyError) {
    try validateDeadlines()
    try backoff.validate()
    try Self.requireSpan(minimumDialSpacing, "minimumDialSpacing")
    try retryBudget?.validate()
    try patience?.validate()
    try heartbeat?.validate()
    try beat?.validate()
    try path.validate()
    try lifecycle.validate()
    try pacing?.validate()
    try rollover?.validate()
    guard (1...SendQueue.laneLimit).contains(lanes.count) else {
      throw PolicyError("lanes", "there must be 1 to 4 lanes")
    }
    for lane in lanes { try lane.validate() }
    guard overrides.count <= 32 else {
      throw PolicyError("overrides", "there must be at most 32 overrides")
    }
    for override in overrides { try override.validate() }
  }

  private func validateDeadlines() throws(PolicyError) {
    try Self.requirePositive(connectDeadline, "connectDeadline")
    if let connectDeadlineLimit {
      try Self.requireSpan(connectDeadlineLimit, "connectDeadlineLimit")
      guard connectDeadlineLimit >= connectDeadline else {
        throw PolicyError("connectDeadlineLimit", "must not be below connectDeadline")
      }
    }
    try Self.requirePositive(closeDeadline, "closeDeadline")
    try Self.requirePositive(drainDeadline, "drainDeadline")
    if let sessionDeadline { try Self.requirePositive(sessionDeadline, "sessionDeadline") }
    if let resumeWindow {
      try Self.requirePositive(resumeWindow, "resumeWindow")
      guard sessionDeadline != nil else {
        throw PolicyError("resumeWindow", "needs a sessionDeadline: there is no session to resume")
      }
    }
    if let credentialsDeadline {
      try Self.requirePositive(credentialsDeadline, "credentialsDeadline")
    }
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
      || left.hasSameTimes(as: right)
        && left.backoff == right.backoff && left.retryBudget == right.retryBudget
        && left.patience == right.patience && left.heartbeat == right.heartbeat
        && left.beat == right.beat && left.path == right.path
        && left.lifecycle == right.lifecycle && left.pacing == right.pacing
        && left.shufflesEndpoints == right.shufflesEndpoints && left.rollover == right.rollover
        && left.lanes == right.lanes && left.overrides == right.overrides
  }

  private func hasSameTimes(as other: Policy) -> Bool {
    connectDeadline == other.connectDeadline && connectDeadlineLimit == other.connectDeadlineLimit
      && closeDeadline == other.closeDeadline && drainDeadline == other.drainDeadline
      && minimumDialSpacing == other.minimumDialSpacing
      && sessionDeadline == other.sessionDeadline && resumeWindow == other.resumeWindow
      && credentialsDeadline == other.credentialsDeadline
  }
}
