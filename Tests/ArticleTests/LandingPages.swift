// Blocks of the modules' first pages; `BlocksTests` checks that the pages show them.

import ConnectionFSM

/// A driver in its shortest form: performs what the machine wants, and arms its one timer.
struct Driver {
  var machine: Machine
  var effects = Effects()
  let perform: (Effect) -> Void
  let arm: (Instant?) -> Void

  mutating func handle(_ input: Input, at now: Instant) {
    machine.handle(input, at: now, into: &effects)
    for effect in effects { perform(effect) }  // dial #1 @0
    arm(machine.nextDeadline)  // when to call back with .deadlineReached
  }
}
