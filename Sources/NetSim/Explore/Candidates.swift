package import ConnectionFSM

/// Everything that can happen to a machine next: wishes, conditions, time early, due and late, and
/// answers of the current attempt, of a past one and of one that never was.
///
/// The list depends on the machine alone and is always in the same order.
package enum Candidates {
  /// An input and when it comes.
  package struct Candidate: Sendable, CustomStringConvertible {
    /// What happens.
    package let input: Input
    /// When.
    package let instant: Instant

    package var description: String { "\(instant) \(input)" }
  }

  private static let moment = TimeSpan.seconds(1)
  private static let longSleep = TimeSpan.seconds(100_000)

  /// What can happen to this machine; `now` is the instant of the last step.
  package static func all(for machine: Machine, at now: Instant) -> [Candidate] {
    var inputs: [Input] = [
      .connect(EndpointID(0)), .connect(EndpointID(1)), .close,
      .demandChanged(false), .demandChanged(true),
    ]
    inputs += Lifecycle.allCases.map { .lifecycleChanged($0) }
    inputs += PathStatus.allCases.map { .pathChanged(Path($0)) }
    for index in machine.policy.lanes.indices {
      let lane = LaneID(UInt8(index))
      inputs.append(.offer(lane, byteCount: 1))
      if let newest = machine.newestMessage(in: lane) { inputs.append(.cancel(newest)) }
    }
    inputs += answers(to: machine)
    return inputs.map { Candidate(input: $0, instant: now) } + deadlines(of: machine, at: now)
  }

  /// The timer: a moment too early, due, and after a sleep.
  private static func deadlines(of machine: Machine, at now: Instant) -> [Candidate] {
    let early = Candidate(input: .deadlineReached, instant: now + moment)
    guard let deadline = machine.nextDeadline else { return [early] }
    let due = max(deadline, now)
    return (early.instant < due ? [early] : [])
      + [due, due + longSleep].map { Candidate(input: .deadlineReached, instant: $0) }
  }

  private static func answers(to machine: Machine) -> [Input] {
    let current = machine.newestEpoch
    var inputs: [Input] = []
    for answer in CredentialsAnswer.allCases { inputs.append(.credentials(current, answer)) }
    inputs += [.session(current, .ready), .session(current, .refused(.denied))]
    inputs += events(for: machine).map { .transport(current, $0) }
    let others = [Epoch(current.rawValue &- 1), Epoch(current.rawValue + 1)]
    for epoch in others where epoch.rawValue != .max {
      inputs += [
        .transport(epoch, .opened), .transport(epoch, .failed(.system(.connectionReset))),
        .transport(epoch, .closed(nil)), .transport(epoch, .received(byteCount: 1)),
        .transport(epoch, .pong(1)), .session(epoch, .ready), .credentials(epoch, .available),
      ]
    }
    return inputs
  }

  private static func events(for machine: Machine) -> [TransportEvent] {
    var events: [TransportEvent] = [
      .opened, .failed(.system(.connectionReset)), .failed(.system(.networkUnreachable)),
      .failed(.protocolError), .closed(nil), .closed(CloseCode(1008)), .received(byteCount: 1),
      .pong(1), .writabilityChanged(false), .writabilityChanged(true),
    ]
    for index in machine.policy.lanes.indices {
      if let newest = machine.newestMessage(in: LaneID(UInt8(index))) {
        events += [.written(through: newest), .acknowledged(through: newest)]
      }
    }
    return events
  }
}
