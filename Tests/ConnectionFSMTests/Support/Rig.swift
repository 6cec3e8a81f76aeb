import ConnectionFSM
import Testing

/// What a driver holds: a machine, its effects, its time. Nothing but inputs moves it.
///
/// Every effect goes through a ``Ledger``, which fails the test on what no driver should be asked.
struct Rig {
  private(set) var machine: Machine
  private(set) var ledger: Ledger
  private(set) var now = Instant.origin
  private var effects = Effects()

  init(_ policy: Policy, seed: UInt64 = 1) {
    machine = Machine(policy: policy, seed: seed)
    ledger = Ledger(policy)
  }

  var phase: Phase { machine.phase }

  /// The epoch of the newest dial.
  var epoch: Epoch { ledger.dials.last?.epoch ?? Epoch(0) }

  /// Feeds an input, now or at a later instant.
  @discardableResult
  mutating func feed(_ input: Input, at instant: Instant? = nil) -> Step {
    now = instant ?? now
    return witness(input, machine.handle(input, at: now, into: &effects))
  }

  private mutating func witness(_ input: Input, _ disposition: Disposition) -> Step {
    if let problem = ledger.note(input, disposition, effects, at: now, phase: machine.phase) {
      Issue.record("\(problem): \(input) gave \(render(effects)) in \(machine.phase)")
    }
    if let broken = machine.brokenInvariant { Issue.record("\(broken), after \(input)") }
    return Step(disposition: disposition, phase: machine.phase, effects: Array(effects))
  }

  /// Replaces the policy, by one that has the same lanes.
  @discardableResult
  mutating func adopt(_ policy: Policy, at instant: Instant? = nil) throws -> Step {
    now = instant ?? now
    let disposition = try machine.adopt(policy, at: now, into: &effects)
    return witness(.policyReplaced, disposition)
  }

  /// Lets time pass without a word to the machine.
  mutating func advance(to instant: Instant) { now = instant }

  /// Says something on behalf of the newest transport.
  @discardableResult
  mutating func transport(_ event: TransportEvent, at instant: Instant? = nil) -> Step {
    feed(.transport(epoch, event), at: instant)
  }

  /// Goes to the next deadline, or beyond, and serves it.
  @discardableResult
  mutating func serveDeadline(late: TimeSpan = .zero) throws -> Step {
    let deadline = try #require(machine.nextDeadline)
    let step = feed(.deadlineReached, at: max(now, deadline) + late)
    if let next = machine.nextDeadline, next <= now {
      Issue.record("a served deadline is still due")
    }
    return step
  }

  /// Serves every deadline up to an instant, as a punctual driver would, then stands there.
  mutating func run(until instant: Instant) throws {
    while let deadline = machine.nextDeadline, deadline <= instant { try serveDeadline() }
    now = instant
  }
}

/// What one input did.
struct Step {
  let disposition: Disposition
  let phase: Phase
  let effects: [Effect]

  /// The effects in words.
  var text: String { render(effects) }
}

extension Rig {
  /// A machine whose link to `here` is open since the origin, as epoch 1.
  static func opened(_ policy: Policy, seed: UInt64 = 1) -> Rig {
    var rig = Rig(policy, seed: seed)
    rig.feed(.connect(here))
    if rig.phase == .waitingForCredentials { rig.feed(.credentials(Epoch(1), .available)) }
    rig.transport(.opened)
    if rig.phase == .authenticating { rig.feed(.session(rig.epoch, .ready)) }
    return rig
  }
}

extension Rig {
  /// Goes to the deadline of the running wait and serves it, which must dial.
  @discardableResult
  mutating func redial() throws -> Instant {
    let before = ledger.dials.count
    try serveDeadline()
    #expect(ledger.dials.count == before + 1, "no dial at the end of the wait")
    return now
  }

  /// Whether the machine is backing off, and until when.
  var retryAt: Instant? {
    if case .backingOff(let wait) = machine.state { return wait.until }
    return nil
  }

  /// Why the machine is at rest, if it is: the reason and the cause in words.
  var closed: String? {
    guard case .closed(let closed) = machine.state else { return nil }
    return "\(closed.reason) \(render(closed.cause))"
  }

  /// Who holds the machine, if anyone does.
  var hold: Machine.Suspended.Hold? {
    if case .suspended(let suspended) = machine.state { return suspended.hold }
    return nil
  }
}
