public import ConnectionFSM

extension CheckProfile {
  /// The connection that ships, over a protocol engine, over a simulated internet of bytes: it
  /// checks the driver, the payloads, the link over the stream and the engine as well, and is some
  /// forty times slower than ``machine``.
  ///
  /// - Parameter engine: Makes an engine for each end of each link, as ``StreamSimulation`` wants
  ///   it.
  public static func connection(
    engine: @escaping @Sendable () -> some ProtocolEngine & SendableMetatype
  ) -> CheckProfile {
    connection(named: "connection", engine: engine, serverEngine: engine)
  }

  /// The same in a protocol whose two ends differ.
  ///
  /// - Parameters:
  ///   - name: Its name in summaries.
  ///   - engine: Makes an engine for the client's end of each link, as ``StreamSimulation`` wants
  ///     it.
  ///   - serverEngine: Makes an engine for the server's end.
  public static func connection(
    named name: String, engine: @escaping @Sendable () -> some ProtocolEngine & SendableMetatype,
    serverEngine: @escaping @Sendable () -> some ProtocolEngine & SendableMetatype
  ) -> CheckProfile {
    let simulation: @Sendable (Scenario) throws -> StreamSimulation = {
      try StreamSimulation($0, seed: $0.seed, engine: engine, serverEngine: serverEngine)
    }
    return CheckProfile(
      name: name, range: .connection,
      run: { seed, cells in
        let scenario = StreamSwarm.scenario(seed: seed)
        let watch = ConnectionWatch(scenario, cells)
        var tale = watch.tale(of: simulation)
        cells = watch.cells
        tale.failure = watch.failure
        return tale
      },
      draw: { StreamSwarm.scenario(seed: $0) },
      judge: { scenario in
        let watch = ConnectionWatch(scenario, nil)
        _ = watch.tale(of: simulation)
        return watch.failure
      },
      tries: 1000)
  }
}

extension CellRange {
  /// What a connection does: it has no sessions, credentials or payloads that are replaced.
  static let connection = CellRange(
    inputs: [
      .connect, .close, .offer, .cancel, .demand, .noDemand, .foreground, .background,
      .deviceSuspends, .pathUp, .pathDown, .deadline, .lateDeadline, .opened, .failed, .closed,
      .received, .pong, .written, .acknowledged, .writable, .blocked, .staleAnswer,
    ],
    words: StepWords.connection,
    phases: Phase.allCases.filter { $0 != .waitingForCredentials && $0 != .authenticating })
}

/// Looks at a run over bytes as it goes on.
private final class ConnectionWatch {
  private let scenario: Scenario
  private(set) var cells: Cells
  private(set) var failure: CheckFailure?
  private let counts: Bool
  private var tale = CheckProfile.Tale()
  private var nextStep = 0
  private var phase = Phase.idle
  private var due: Instant?
  private var now = Instant.origin

  init(_ scenario: Scenario, _ cells: Cells?) {
    self.scenario = scenario
    self.cells = cells ?? Cells(.connection)
    counts = cells != nil
  }

  func tale(of simulation: (Scenario) throws -> StreamSimulation) -> CheckProfile.Tale {
    do {
      let report = try simulation(scenario).run { [self] in look($0) }
      for outcome in report.outcomes {
        let name = outcome.split(separator: " ").dropFirst().joined(separator: " ")
        tale.messages[name, default: 0] += 1
        tale.digest.add(outcome)
      }
      tale.digest.add(report.end.nanoseconds)
    } catch {
      let step = (error as? ScenarioError)?.step.map { scenario.steps[$0 - 1] }
      failure = CheckFailure(seed: scenario.seed, error, step: step, at: now)
    }
    tale.digest.add(tale.steps)
    return tale
  }

  private func look(_ event: Simulation.Event) {
    switch event {
    case .note(let instant, _): come(to: instant)
    case .step(let record):
      come(to: record.instant)
      tale.steps += 1
      for place in record.effects.indices {
        if case .openTransport = record.effects[place] { tale.dials += 1 }
      }
      if counts {
        cells.note(
          record.input, record.disposition, at: record.instant, due: due, from: record.from,
          to: record.to)
      }
      phase = record.to
      due = record.nextDeadline
    }
  }

  /// The steps of the story up to an instant have come.
  private func come(to instant: Instant) {
    now = instant
    guard counts else { return }
    while nextStep < scenario.steps.count,
      .origin + TimeSpan(seconds: scenario.steps[nextStep].t) <= instant
    {
      cells.note(scenario.steps[nextStep].ev, in: phase)
      nextStep += 1
    }
  }
}
