import ConnectionFSM

// MARK: The story's turn

extension Simulation {
  mutating func take(
    _ action: AppAction, of step: Story.Step, place: Int, _ observe: (Event) -> Void
  ) throws {
    switch action {
    case .connect(let endpoint?): try input(.connect(endpoint), observe)
    case .connect(nil): try connect(observe)
    case .reconnect:
      // Another name for the same server: what connects to another endpoint lets the old link go.
      link += 1
      try input(.connect(EndpointID(1_000_000 + link)), observe)
    case .close: try input(.close, observe)
    case .drain: try input(.drain, observe)
    case .replace(let label):
      guard ledger.knows(label) else {
        throw ScenarioError(step: place, "no message “\(label)” was sent before")
      }
      guard let id = ledger.id(of: label), let byteCount = step.byteCount else { return }
      try input(.resized(id, byteCount: byteCount), observe)
    case .demand(let demand): try input(.demandChanged(demand), observe)
    case .cancel(let label):
      if let id = ledger.id(of: label) { return try input(.cancel(id), observe) }
      // There is nothing to take back of one that was turned away at the door.
      guard ledger.knows(label) else {
        throw ScenarioError(step: place, "no message “\(label)” was sent before")
      }
    case .send(let labels):
      for label in labels {
        let byteCount = step.byteCount ?? UInt32(clamping: label.utf8.count)
        if let id = ledger.id(of: label), ledger.outcome(of: label) == "pending" {
          // The same again while it waits: a newer payload takes the place of the older.
          try input(.resized(id, byteCount: byteCount), observe)
          continue
        }
        guard !ledger.knows(label) else {
          throw ScenarioError(step: place, "there is a message “\(label)” already")
        }
        ledger.offered = label
        try input(.offer(step.lane, byteCount: byteCount), observe)
      }
    }
  }

  mutating func take(_ action: EnvironmentAction, _ observe: (Event) -> Void) throws {
    switch action {
    case .nothing: break
    case .latency(let latency): network.latency = latency
    case .loss(let percent): network.loss = percent
    case .serverUp: answer(network.serverUp())
    case .serverDown: answer(network.serverDown())
    case .networkDown: network.isDark = true
    case .hosts(let hosts): answer(network.hostsChanged(hosts))
    case .pathSwitch(_, let name): try switchPath(to: name, observe)
    case .heal: try heal(observe)
    case .path(let path, let isLie):
      if !isLie { network.pathIsDown = path.status == .down }
      try input(.pathChanged(path), observe)
    }
  }

  private mutating func heal(_ observe: (Event) -> Void) throws {
    network.moot += callbacks.map { $0 + 1 }
    callbacks = []
    answer(network.healed())
    try take(.wake, observe)
    try input(.lifecycleChanged(.foreground), observe)
    try input(.demandChanged(true), observe)
    try input(.pathChanged(.up), observe)
    pump()
  }

  /// Interfaces are numbered in the order in which the story names them.
  mutating func switchPath(to name: String, _ observe: (Event) -> Void) throws {
    if !interfaces.contains(name) { interfaces.append(name) }
    let number = (interfaces.firstIndex(of: name) ?? 0) + 1
    try input(.pathChanged(Path(.up, interface: UInt16(clamping: number))), observe)
  }

  /// To the story's host, or to all of its hosts as one list.
  mutating func connect(_ observe: (Event) -> Void) throws {
    try input(.connect(EndpointID(0), count: UInt8(clamping: max(1, network.hosts.count))), observe)
  }

  mutating func take(
    _ action: ProviderAction, place: Int, _ observe: (Event) -> Void
  ) throws {
    switch action {
    case .asked: network.isProviderScripted = true
    case .answers(let given):
      network.isProviderScripted = true
      network.providerAnswers.append((given, place))
      answer(network.answerRequest())
    case .answersLate(let given, let epoch):
      try input(.credentials(epoch ?? network.lastEpoch, given), observe)
    }
  }

  mutating func take(
    _ action: NetworkAction, _ aim: Aim, repeats: Int, place: Int, _ observe: (Event) -> Void
  ) throws {
    if case .sessionAgain(let answer) = action {
      return try input(.session(network.lastEpoch, answer.event), observe)
    }
    // In a drawn story an attempt that was not made yet has no answer that could wait for it.
    if story.isDrawn, case .generation(let number) = aim, Epoch(number) > network.lastEpoch {
      return network.unborn.append(place)
    }
    if let (epoch, report) = network.stale(action, aim, repeats: repeats) {
      return try input(.report(report, of: epoch), observe)
    }
    let waiting = Network.Waiting(action: action, aim: aim, repeats: repeats, step: place)
    for answer in network.befall(waiting) {
      // A step befalls at its own time, before the next step.
      if answer.delay == .zero {
        try hear(answer.report, of: answer.epoch, observe)
      } else {
        self.answer([answer])
      }
    }
    pump()
  }
}

extension Scenario {
  /// How many clients the story is told of, where it is one of a fleet's.
  package var fleetSize: Int? {
    get throws(ScenarioError) {
      for step in try Story(self).steps {
        if case .fleet(let count) = step.action { return count }
      }
      return nil
    }
  }
}

extension CallbackMoment {
  /// Whether a step of the machine reaches this moment.
  func isReached(from: Phase, to: Phase, _ effects: Effects) -> Bool {
    switch self {
    case .connecting:
      from != to && [.connecting, .backingOff, .offline, .waitingForCredentials].contains(to)
    case .open: from != to && to == .open
    case .closed: effects.contains { if case .ended = $0 { true } else { false } }
    }
  }
}

extension Scenario.Step {
  /// The step as a line of the trace, with its author's remark.
  var line: String {
    let event = arg.map { "\(ev) \($0)" } ?? ev
    return note.map { "\(event): \($0)" } ?? event
  }
}
