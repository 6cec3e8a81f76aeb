/// One step of a machine, complete enough to be replayed, compared, and told in words.
public struct TraceRecord: Equatable, Sendable {
  /// The place in the trace, from 1.
  public let sequence: UInt64
  /// When the input was handled.
  public let instant: Instant
  /// What happened.
  public let input: Input
  /// What was made of it.
  public let disposition: Disposition
  /// The phase before.
  public let from: Phase
  /// Where the machine is after the step, what it waits for, why, and until when.
  public let explanation: Explanation
  /// The state that the step led into, with its facts; nil where the state is what it was.
  public let entered: Machine.State?
  /// What the owner had to do.
  public let effects: Effects
  /// When the machine wanted to be woken next.
  public let nextDeadline: Instant?
  /// The attempt that the step is about: the input's own, else the current one; nil without any.
  public let epoch: Epoch?
  /// The attempt that had opened and was not over before the step, of two the newer; nil if there
  /// was none.
  public let openBefore: Epoch?
  /// The attempt that has opened and is not over after the step; nil if there is none.
  public let openAfter: Epoch?
  /// The policy from this step on, where the step replaced it; nil where it is what it was.
  public let policy: Policy?
}

extension TraceRecord {
  /// The phase after.
  public var to: Phase { explanation.phase }
  /// Dials since the last reset, the running one included: the number of the attempt.
  public var attempt: UInt32 { explanation.attempt }
  /// What led to the phase after, where it is one that has a cause.
  public var cause: Cause? { to.hasCause ? explanation.cause : nil }
}

extension Machine {
  /// Handles an input and records the step: for drivers that are watched.
  public mutating func handle(
    _ input: Input, at instant: Instant, into effects: inout Effects, recordingAs sequence: UInt64
  ) -> TraceRecord {
    let from = phase
    let before = state
    let link = primary
    let disposition = handle(input, at: instant, into: &effects)
    return TraceRecord(
      sequence: sequence, instant: now, input: input, disposition: disposition, from: from,
      explanation: explain(), entered: state == before ? nil : state, effects: effects,
      nextDeadline: nextDeadline, epoch: input.epoch ?? primary?.epoch ?? link?.epoch,
      openBefore: link?.opened, openAfter: primary?.opened,
      policy: input == .policyReplaced ? policy : nil)
  }

  /// Replaces the policy and records the step, as ``adopt(_:at:into:)`` does unwatched.
  /// - Throws: ``PolicyError`` if the lanes differ; the machine is what it was.
  public mutating func adopt(
    _ policy: Policy, at instant: Instant, into effects: inout Effects,
    recordingAs sequence: UInt64
  ) throws(PolicyError) -> TraceRecord {
    try take(policy)
    return handle(.policyReplaced, at: instant, into: &effects, recordingAs: sequence)
  }
}

extension Machine.Link {
  /// Its epoch, once it has opened.
  fileprivate var opened: Epoch? {
    switch stage {
    case .authorizing, .connecting, .authenticating: nil
    case .open, .draining, .closing: epoch
    }
  }
}

extension Phase {
  /// Whether something that went wrong leads to this phase.
  fileprivate var hasCause: Bool {
    switch self {
    case .offline, .backingOff, .closed: true
    case .idle, .waitingForCredentials, .suspended, .connecting, .authenticating, .open, .closing:
      false
    }
  }
}

extension Input {
  /// The attempt that an answer belongs to; nil for wishes, conditions and time.
  public var epoch: Epoch? {
    switch self {
    case .credentials(let epoch, _), .transport(let epoch, _), .session(let epoch, _): epoch
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached:
      nil
    }
  }
}
