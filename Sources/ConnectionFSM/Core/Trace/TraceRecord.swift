/// One step of a machine, complete enough to be replayed and compared.
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
  /// The phase after.
  public let to: Phase
  /// What the owner had to do.
  public let effects: Effects
  /// When the machine wanted to be woken next.
  public let nextDeadline: Instant?
  /// What led to the phase after, where it is one that has a cause.
  public let cause: Cause?

  /// The attempt that the step is about: the input's own, else the current one; nil without any.
  public let epoch: Epoch?
}

extension Machine {
  /// Handles an input and records the step: for drivers that are watched.
  public mutating func handle(
    _ input: Input, at instant: Instant, into effects: inout Effects, recordingAs sequence: UInt64
  ) -> TraceRecord {
    let from = phase
    let before = primary?.epoch
    let disposition = handle(input, at: instant, into: &effects)
    return TraceRecord(
      sequence: sequence, instant: now, input: input, disposition: disposition, from: from,
      to: phase, effects: effects, nextDeadline: nextDeadline,
      cause: phase.hasCause ? explain().cause : nil,
      epoch: input.epoch ?? primary?.epoch ?? before)
  }
}

extension Phase {
  /// Whether something that went wrong leads to this phase.
  var hasCause: Bool {
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
