import ConnectionFSM

/// Whether machines of equal form behave equally: the assumption of every exploration, tried out.
///
/// Explores a slice, and wherever two different machines have one form, makes every move with both:
/// dispositions, effects and the forms they lead to must be the same, apart from names.
package struct FormCheck {
  /// Two machines of one form that part.
  package struct Conflict: Error, CustomStringConvertible {
    package let description: String
  }

  private struct Subject {
    var machine: Machine
    var referee: Referee
  }

  /// What came of a move, in the names that the form has.
  private struct Behaviour: Equatable {
    let disposition: Disposition
    let effects: [Effect]
    let form: CanonicalForm.Fingerprint
  }

  private let slice: Slice
  private let limits: CanonicalForm.Limits
  private var effects = Effects()

  package init(_ slice: Slice) {
    self.slice = slice
    limits = CanonicalForm.Limits(policy: slice.policy)
  }

  /// Explores so many situations and compares as many pairs as it meets, up to a limit.
  /// - Returns: How many pairs were compared.
  package mutating func check(states stateLimit: Int, pairs pairLimit: Int) throws -> Int {
    var queue = [
      Subject(
        machine: Machine(policy: slice.policy, seed: 0),
        referee: Referee(policy: slice.policy))
    ]
    var known = [form(of: &queue[0]): 0]
    var place = 0
    var pairs = 0
    while place < queue.count, pairs < pairLimit {
      for move in slice.moves {
        for dice in 0..<Dice.all.count {
          guard let (behaviour, next) = try behaviour(of: queue[place], move, dice: dice) else {
            break
          }
          if let twin = known[behaviour.form] {
            if queue[twin].machine == next.machine { continue }
            pairs += 1
            try compare(queue[twin], next)
          } else if queue.count < stateLimit {
            known[behaviour.form] = queue.count
            queue.append(next)
          }
        }
      }
      place += 1
    }
    return pairs
  }

  private func form(of subject: inout Subject) -> CanonicalForm.Fingerprint {
    var form = CanonicalForm(limits: limits)
    subject.machine.add(to: &form)
    subject.referee.add(to: &form)
    return form.fingerprint()
  }

  private mutating func compare(_ one: Subject, _ other: Subject) throws {
    for move in slice.moves {
      for dice in 0..<Dice.all.count {
        let first = try behaviour(of: one, move, dice: dice)
        let second = try behaviour(of: other, move, dice: dice)
        if first?.0 != second?.0 {
          throw Conflict(
            description: """
              slice \(slice.name): equal forms part at “\(move)”
              \(String(describing: first?.0)) from
              \(one)
              \(String(describing: second?.0)) from
              \(other)
              """)
        }
        if first == nil { break }
      }
    }
  }

  /// What comes of a move; nil if there is none of the kind, or these dice make no difference.
  private mutating func behaviour(
    of subject: Subject, _ move: Move, dice: Int
  ) throws -> (Behaviour, Subject)? {
    let before = subject.machine
    guard let step = move.step(from: before.bearings, scale: slice.scale) else { return nil }
    var next = subject
    let (disposition, draws) = next.machine.handle(
      step.input, at: step.instant, into: &effects, throwing: Dice.all[dice])
    try next.referee.judge(
      step.input, at: step.instant, before: before, after: next.machine,
      disposition: disposition, effects: effects)
    if dice >= 1 << draws { return nil }
    let names = Names(before)
    var renamed = disposition
    if case .taken(let id) = disposition {
      renamed = .taken(MessageID(lane: id.lane, sequence: 0))
    }
    let behaviour = Behaviour(
      disposition: renamed, effects: effects.map(names.rename), form: form(of: &next))
    return (behaviour, next)
  }
}

/// The names of a machine's attempts and messages by their places.
private struct Names {
  let newest: Epoch
  let current: Epoch
  let standby: Epoch?
  let destination: EndpointID
  let messages: [[MessageID]]

  init(_ machine: Machine) {
    newest = machine.newestEpoch
    current = machine.primary?.epoch ?? newest
    standby = machine.standby?.epoch
    destination = machine.bearings.destination
    messages = machine.policy.lanes.indices.map { index in
      let lane = LaneID(UInt8(index))
      let (waiting, inFlight) = machine.pendingCount(in: lane)
      return (0..<waiting + inFlight).compactMap { machine.message($0, in: lane) }
    }
  }

  func rename(_ effect: Effect) -> Effect {
    switch effect {
    case .requestCredentials(let epoch): .requestCredentials(rename(epoch))
    case .openTransport(let epoch, let endpoint): .openTransport(rename(epoch), rename(endpoint))
    case .startSession(let epoch, let resuming):
      .startSession(rename(epoch), resuming: resuming)
    case .closeTransport(let epoch): .closeTransport(rename(epoch))
    case .abortTransport(let epoch): .abortTransport(rename(epoch))
    case .sendPing(let epoch, _): .sendPing(rename(epoch), 0)
    case .sendBeat(let epoch, _): .sendBeat(rename(epoch), 0)
    case .transmit(let epoch, let range): .transmit(rename(epoch), rename(range))
    case .settle(let range, let outcome): .settle(rename(range), outcome)
    case .ended(let epoch, let cause): .ended(rename(epoch), cause)
    case .pressureChanged: effect
    }
  }

  /// The one that was asked for last is 0.
  private func rename(_ endpoint: EndpointID) -> EndpointID {
    EndpointID(endpoint.rawValue ^ destination.rawValue)
  }

  /// The current one is 1, the standby 2, the next 3, any other 0.
  private func rename(_ epoch: Epoch) -> Epoch {
    if epoch == current { return Epoch(1) }
    if epoch == standby { return Epoch(2) }
    return Epoch(epoch > newest ? 3 : 0)
  }

  /// The places of the live messages that are meant.
  private func rename(_ range: MessageRange) -> MessageRange {
    let lane = range.first.lane
    let live = messages[Int(lane.rawValue)]
    return MessageRange(
      MessageID(lane: lane, sequence: UInt64(live.count { $0 < range.first })),
      MessageID(lane: lane, sequence: UInt64(live.count { $0 <= range.last })))
  }
}
