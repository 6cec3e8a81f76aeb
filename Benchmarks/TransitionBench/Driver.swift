import ConnectionFSM

/// The least a driver does: owns machine and effects, feeds one and reads the next deadline.
///
/// Both lie in stored properties without the dynamic exclusivity check, which costs several times a
/// transition. That is sound because calls are never re-entrant: nothing inside a transition calls
/// the driver.
final class Driver {
  @exclusivity(unchecked) private var machine: Machine
  @exclusivity(unchecked) private var effects = Effects()
  private(set) var deadline: Instant?
  var now = Instant.origin
  // The one difference of the two feeds, without which the compiler makes them one function.
  private var uncounted = 0

  init(policy: Policy) {
    machine = Machine(policy: policy, seed: 42)
  }

  /// The call that is counted; Scripts/instructions.sh finds it by its name.
  @inline(never)
  func feedCounted(_ input: Input) -> Disposition {
    let disposition = machine.handle(input, at: now, into: &effects)
    deadline = machine.nextDeadline
    return disposition
  }

  /// The same for what happens between the counted calls.
  @inline(never)
  func feed(_ input: Input) -> Disposition {
    uncounted &+= 1
    let disposition = machine.handle(input, at: now, into: &effects)
    deadline = machine.nextDeadline
    return disposition
  }

  /// Whether the last call had no effect.
  var hasNone: Bool { effects.isEmpty }

  /// Whether the last call had this one effect.
  func hasOnly(_ effect: Effect) -> Bool { effects.count == 1 && effects[0] == effect }
}
