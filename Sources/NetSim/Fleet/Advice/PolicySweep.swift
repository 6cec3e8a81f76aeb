package import ConnectionFSM

/// The values that a search for a policy goes through, knob by knob.
package struct PolicySweep: Sendable {
  /// The longest steps of the backoff.
  package var caps: [TimeSpan]
  /// The units of the steps after the first.
  package var bases: [TimeSpan]
  /// How the waits after the first are drawn.
  package var jitters: [Backoff.Jitter]
  /// The ceilings of the first wait, which is drawn from zero on whatever the jitter: nothing else
  /// keeps clients apart that lost one server at one moment.
  package var firsts: [TimeSpan]
  /// The shortest times between two dials.
  package var spacings: [TimeSpan]
  /// How long a dial may take.
  package var connectDeadlines: [TimeSpan]

  /// Makes a sweep; without arguments one over what servers of a few thousand clients a second ask
  /// for, some minutes of one core for 10,000 clients.
  package init(
    caps: [TimeSpan] = [5, 10, 15, 20, 30, 60].map { .seconds($0) },
    bases: [TimeSpan] = [1, 2, 4, 8].map { .seconds($0) },
    jitters: [Backoff.Jitter] = [.full, .equal, .decorrelated],
    firsts: [TimeSpan] = [1, 2, 5, 8, 16].map { .seconds($0) },
    spacings: [TimeSpan] = [.zero, .seconds(1)],
    connectDeadlines: [TimeSpan] = [5, 10, 20].map { .seconds($0) }
  ) {
    self.caps = caps
    self.bases = bases
    self.jitters = jitters
    self.firsts = firsts
    self.spacings = spacings
    self.connectDeadlines = connectDeadlines
  }

  /// The product of all values, each in the place of its knobs in a policy that is otherwise the
  /// one given. What cannot be, or is another one in disguise, is left out: a base or first step
  /// above the cap, and a decorrelated base that is not below it.
  /// - Throws: ``PolicyError`` for a value that no policy takes.
  package func policies(like policy: Policy) throws(PolicyError) -> [Policy] {
    var policies: [Policy] = []
    for cap in caps {
      for first in firsts where first <= cap {
        for base in bases where base <= cap {
          for jitter in jitters where jitter != .decorrelated || base < cap {
            let backoff = Backoff(
              first: first, base: base, cap: cap, jitter: jitter,
              firstJitter: jitter == .full ? nil : .full, stability: policy.backoff.stability,
              attemptLimit: policy.backoff.attemptLimit,
              elapsedLimit: policy.backoff.elapsedLimit)
            for spacing in spacings {
              for deadline in connectDeadlines {
                policies.append(
                  try Self.policy(
                    like: policy, backoff: backoff, spacing: spacing, connectDeadline: deadline))
              }
            }
          }
        }
      }
    }
    return policies
  }

  private static func policy(
    like policy: Policy, backoff: Backoff, spacing: TimeSpan, connectDeadline: TimeSpan
  ) throws(PolicyError) -> Policy {
    try Policy(
      connectDeadline: connectDeadline,
      // One that the deadline has outgrown is none.
      connectDeadlineLimit: policy.connectDeadlineLimit.map { max($0, connectDeadline) },
      closeDeadline: policy.closeDeadline, drainDeadline: policy.drainDeadline, backoff: backoff,
      minimumDialSpacing: spacing, retryBudget: policy.retryBudget, patience: policy.patience,
      heartbeat: policy.heartbeat, beat: policy.beat, path: policy.path,
      lifecycle: policy.lifecycle, shufflesEndpoints: policy.shufflesEndpoints,
      sessionDeadline: policy.sessionDeadline, resumeWindow: policy.resumeWindow,
      credentialsDeadline: policy.credentialsDeadline, pacing: policy.pacing,
      rollover: policy.rollover, lanes: policy.lanes, overrides: policy.overrides)
  }
}
