package import ConnectionFSM

/// One long life of a machine under random inputs, with every promise checked after each.
package struct RandomWalk {
  private var machine: Machine
  private var referee: Referee
  private var effects = Effects()
  private var choice: RandomStream
  private var now = Instant.origin
  private let scale: Scale

  /// Starts from a machine at rest; the seed chooses the inputs and the machine's own waits.
  package init(policy: Policy, seed: UInt64, endpoints: UInt8 = 1) {
    scale = Scale(unit: .seconds(1), endpoints: endpoints)
    machine = Machine(policy: policy, seed: seed)
    referee = Referee(policy: policy)
    choice = RandomStream(seed: seed, name: "walk.choice")
  }

  /// Walks so many steps.
  /// - Throws: A ``Counterexample`` with the last steps before the broken promise.
  /// - Returns: How often each phase was entered, by `Phase.rawValue`.
  package mutating func walk(steps: Int) throws(Counterexample) -> [Int] {
    var entered = Array(repeating: 0, count: Phase.allCases.count)
    var recent: [Step] = []
    for _ in 0..<steps {
      var step = anyStep()
      // Half of the steps favour a link that lives: pure chance would hardly ever keep one open.
      if choice.next(through: 1) == 0, let likely = likely() { step = likely }
      if recent.count == 30 { recent.removeFirst() }
      recent.append(step)
      let before = machine
      now = step.instant
      let disposition = machine.handle(step.input, at: now, into: &effects)
      do throws(Violation) {
        try referee.judge(
          step.input, at: now, before: before, after: machine, disposition: disposition,
          effects: effects)
      } catch {
        throw Counterexample(violation: error, steps: recent)
      }
      if before.phase != machine.phase { entered[Int(machine.phase.rawValue)] += 1 }
    }
    return entered
  }

  private mutating func anyStep() -> Step {
    let bearings = machine.bearings
    while true {
      let move = Move.all[Int(choice.next(through: UInt64(Move.all.count - 1)))]
      if let step = move.step(from: bearings, scale: scale) { return step }
    }
  }

  /// What would bring the machine on, or keep it busy.
  private mutating func likely() -> Step? {
    let epoch = machine.newestEpoch
    let input: Input
    switch machine.phase {
    case .idle, .closed: input = .connect(EndpointID(0))
    case .connecting: input = .transport(epoch, .opened)
    case .authenticating: input = .session(epoch, .ready)
    case .waitingForCredentials: input = .credentials(epoch, .available)
    case .offline: input = .pathChanged(.up)
    case .suspended: input = .lifecycleChanged(.foreground)
    case .backingOff, .closing:
      guard let deadline = machine.nextDeadline else { return nil }
      return Step(input: .deadlineReached, instant: max(deadline, now))
    case .open:
      let lane = LaneID(UInt8(choice.next(through: UInt64(machine.policy.lanes.count - 1))))
      input = .offer(lane, byteCount: UInt32(choice.next(through: 3)))
    }
    return Step(input: input, instant: now)
  }
}
