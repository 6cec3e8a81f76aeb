package import ConnectionFSM

/// One policy that is tried on one fleet and server, with a run a seed.
///
/// A value that does nothing by itself: whoever holds a list of them runs each when and where it
/// likes, on as many threads as it likes, and stops when it likes.
package struct FleetTrial: Sendable {
  /// What came of a trial.
  package struct Outcome: Equatable, Sendable {
    /// The policy that was tried.
    package let policy: Policy
    /// After how long more than 99 percent of the clients were back, in the worst of the runs; nil
    /// if in some run they never were.
    package let recovery: TimeSpan?
    /// The most dials that arrived within 100 ms, in the worst of the runs.
    package let peak: Int

    /// Makes an outcome.
    package init(policy: Policy, recovery: TimeSpan?, peak: Int) {
      self.policy = policy
      self.recovery = recovery
      self.peak = peak
    }
  }

  /// The policy that is tried.
  package let policy: Policy
  private let clients: Int
  private let server: FleetServer
  private let seeds: [UInt64]
  private let limit: TimeSpan

  /// Makes a trial that has not run.
  /// - Parameters:
  ///   - policy: The knobs of every client.
  ///   - clients: How many there are; 1 to 4,294,967,295.
  ///   - server: What they come back to.
  ///   - seeds: What the draws of each run come from; at least one.
  ///   - limit: When a run ends if some client is still not connected.
  /// - Throws: ``FleetError``, which names the setting and the mend.
  package init(
    of policy: Policy, clients: Int, server: FleetServer, seeds: [UInt64] = [1],
    limit: TimeSpan = .seconds(3600)
  ) throws(FleetError) {
    guard !seeds.isEmpty else { throw FleetError(setting: "seeds", mend: "must be at least one") }
    self.policy = policy
    self.clients = clients
    self.server = server
    self.seeds = seeds
    self.limit = limit
    // So that a fleet which cannot be is refused before the first of a thousand trials has run.
    _ = try FleetSimulation(clients: min(clients, 1), policy: policy, server: server, limit: limit)
  }

  /// Runs the fleet once a seed.
  /// - Throws: A promise that the machine broke; a bug of this package.
  package func run() throws -> Outcome {
    var recovery: TimeSpan? = .zero
    var peak = 0
    for seed in seeds {
      let report = try FleetSimulation(
        clients: clients, policy: policy, server: server, seed: seed, limit: limit
      ).run()
      peak = max(peak, report.peak)
      recovery = report.time(percent: 99).flatMap { time in recovery.map { max($0, time) } }
    }
    return Outcome(policy: policy, recovery: recovery, peak: peak)
  }
}

extension Sequence where Element == FleetTrial.Outcome {
  /// The outcomes for which there is none that is at least as good in both recovery and peak and
  /// better in one, the quickest first. Equal ones stay, in their order. Where the clients never
  /// came back there is nothing to advise.
  package var front: [FleetTrial.Outcome] {
    let recovered = compactMap { outcome in outcome.recovery.map { (outcome, $0) } }
    // A stable order of its own: the library does not promise one.
    let ordered = recovered.enumerated().sorted { left, right in
      let (one, other) = (left.element, right.element)
      return (one.1, one.0.peak, left.offset) < (other.1, other.0.peak, right.offset)
    }
    var front: [FleetTrial.Outcome] = []
    for (outcome, _) in ordered.map(\.element) {
      guard let best = front.last else {
        front.append(outcome)
        continue
      }
      let isEqual = outcome.peak == best.peak && outcome.recovery == best.recovery
      if outcome.peak < best.peak || isEqual { front.append(outcome) }
    }
    return front
  }
}
