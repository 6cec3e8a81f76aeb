public import ConnectionFSM

/// What the clients of a fleet live under: how long messages travel, and what the server does.
package struct FleetConditions: Sendable {
  /// Each client dials for the first time at an instant of its own within this span.
  package var startsWithin: TimeSpan
  /// How long a message travels, drawn anew for each and in either direction.
  package var latency: LatencyRange
  /// How many of a million dials the server refuses.
  package var refusalsPerMillion: UInt32
  /// The mean of the exponential time after which the server drops an open link; nil never drops.
  package var meanLifetime: TimeSpan?

  /// Makes conditions.
  package init(
    startsWithin: TimeSpan, latency: LatencyRange, refusalsPerMillion: UInt32,
    meanLifetime: TimeSpan?
  ) {
    self.startsWithin = startsWithin
    self.latency = latency
    self.refusalsPerMillion = refusalsPerMillion
    self.meanLifetime = meanLifetime
  }
}

/// A latency between two bounds, each one as likely as the others.
public struct LatencyRange: Hashable, Sendable {
  /// The shortest.
  public var least: TimeSpan
  /// The longest.
  public var most: TimeSpan

  /// Makes a range.
  public init(_ least: TimeSpan, _ most: TimeSpan) {
    self.least = least
    self.most = most
  }

  /// One latency, by one draw.
  func draw(from random: inout RandomStream) -> TimeSpan {
    .nanoseconds(
      least.nanoseconds
        + random.span(through: .nanoseconds(most.nanoseconds - least.nanoseconds)).nanoseconds)
  }
}

/// A fleet that cannot be run: which setting is at fault, and what would do.
public struct FleetError: Error, CustomStringConvertible {
  /// The setting, as it is spelled in the code.
  public let setting: String
  /// What would do.
  public let mend: String

  public var description: String { "fleet: \(setting): \(mend)" }
}

// MARK: Validation

extension LatencyRange {
  func validate() throws(FleetError) {
    guard least >= .zero, least <= most, most <= FleetConditions.longest else {
      throw FleetError(setting: "latency", mend: "must rise from 0 or more to at most 365 days")
    }
  }
}

extension FleetConditions {
  // As the longest span of a policy, so that sums stay far from overflow.
  static let longest = TimeSpan.seconds(365 * 24 * 3600)

  func validate() throws(FleetError) {
    guard startsWithin >= .zero, startsWithin <= Self.longest else {
      throw FleetError(setting: "startsWithin", mend: "must be 0 to 365 days")
    }
    try latency.validate()
    guard refusalsPerMillion <= 1_000_000 else {
      throw FleetError(setting: "refusalsPerMillion", mend: "must be 0 to 1,000,000")
    }
    if let meanLifetime, meanLifetime <= .zero {
      throw FleetError(setting: "meanLifetime", mend: "must be longer than zero, or nil")
    }
  }

  /// Refuses what the clients of a fleet do not do: they have nobody to ask for credentials, no
  /// session, one link at a time, and a server that answers pings and sends none.
  func validate(_ policy: Policy) throws(FleetError) {
    let unserved: [(isAsked: Bool, setting: String)] = [
      (policy.credentialsDeadline != nil, "policy.credentialsDeadline"),
      (policy.sessionDeadline != nil, "policy.sessionDeadline"),
      (policy.rollover != nil, "policy.rollover"),
      (policy.beat != nil, "policy.beat"),
    ]
    for (isAsked, setting) in unserved where isAsked {
      throw FleetError(setting: setting, mend: "must be nil: a fleet does without")
    }
    guard let heartbeat = policy.heartbeat else { return }
    guard !heartbeat.isServerDriven else {
      throw FleetError(
        setting: "policy.heartbeat.isServerDriven", mend: "must be false: a fleet does without")
    }
    // So that one message at a time is on its way.
    let roundTrip = 2 * latency.most.nanoseconds
    guard heartbeat.timeout.nanoseconds > roundTrip else {
      throw FleetError(
        setting: "policy.heartbeat.timeout", mend: "must be longer than the longest round trip")
    }
  }
}
