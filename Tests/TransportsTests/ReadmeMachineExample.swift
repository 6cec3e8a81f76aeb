// An example of README.md; `BlocksTests` checks that the page shows it.

import ConnectionFSM

func drive(policy: Policy, now: Instant) -> Instant? {
  var machine = Machine(policy: policy, seed: 1)
  var effects = Effects()
  machine.handle(.connect(EndpointID(0)), at: now, into: &effects)
  for effect in effects { print(effect) }  // dial #1 @0
  return machine.nextDeadline  // the one timer a driver has
}
