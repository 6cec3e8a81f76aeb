/// Whether a run is the same each time.
public enum Determinism {
  /// Runs something twice and compares what it recorded, event by event.
  ///
  /// ```swift
  /// try Determinism.check(seed: 7) { seed, log in
  ///   var simulation = try Simulation(scenario, seed: seed)
  ///   try simulation.run { event in
  ///     guard case .step(let record) = event else { return }
  ///     log.record("\(record.input), \(record.from) to \(record.to)", at: record.instant)
  ///   }
  /// }
  /// ```
  ///
  /// Long runs take little memory: the first 65,536 events are kept, of all others digests. A
  /// difference that lies beyond is looked for by two more runs.
  /// - Parameters:
  ///   - seed: What the run draws from; handed to it.
  ///   - run: The run, which records what it does. An error it throws counts as its last event, and
  ///     is thrown on if both runs end alike.
  /// - Returns: A digest of all events: one number by which the run is compared with that of
  ///   another machine, build or version.
  /// - Throws: ``Nondeterminism``, which names the first event that differs, with both sides; or
  ///   what the run throws.
  @discardableResult
  public static func check(
    seed: UInt64, _ run: (_ seed: UInt64, _ log: RunLog) throws -> Void
  ) throws -> UInt64 {
    var firstKept = 0
    var hasDiffered = false
    for _ in 0..<3 {
      let (one, end) = once(seed, keepingFrom: firstKept, run)
      let (two, _) = once(seed, keepingFrom: firstKept, run)
      guard let block = one.firstDifferentBlock(from: two) else {
        // After runs that differed, two equal ones prove nothing.
        if hasDiffered { continue }
        if let end { throw end }
        return one.digest
      }
      if block >= firstKept, let (index, first, second) = one.firstDifference(from: two) {
        throw Nondeterminism.event(seed: seed, index: index, first: first, second: second)
      }
      firstKept = block
      hasDiffered = true
    }
    throw Nondeterminism.elsewhere(seed: seed, equalEvents: firstKept * RunLog.blockSize)
  }

  private static func once(
    _ seed: UInt64, keepingFrom block: Int, _ run: (UInt64, RunLog) throws -> Void
  ) -> (RunLog, (any Error)?) {
    let log = RunLog(keepingFrom: block)
    do {
      try run(seed, log)
      return (log, nil)
    } catch {
      log.recordEnd(error)
      return (log, error)
    }
  }
}

/// Two runs of one seed differ: something in them depends on more than the seed. The usual suspects
/// are the order of a set or dictionary, a clock, the system's random numbers, an address, and a
/// variable that outlives the run.
public enum Nondeterminism: Error, Equatable, Sendable {
  /// The first event that differs, counted from 0, as it was in either run; nil if that run was
  /// over.
  case event(seed: UInt64, index: Int, first: RunLog.Event?, second: RunLog.Event?)
  /// The runs differ beyond so many equal events, but elsewhere each time, so that the place could
  /// not be found.
  case elsewhere(seed: UInt64, equalEvents: Int)
}

extension Nondeterminism: CustomStringConvertible {
  public var description: String {
    switch self {
    case .event(let seed, let index, let first, let second):
      """
      seed \(seed): two runs differ in event \(index), the first that does
        first run:  \(first.map { "\($0)" } ?? "was over")
        second run: \(second.map { "\($0)" } ?? "was over")
      """
    case .elsewhere(let seed, let equalEvents):
      "seed \(seed): runs differ beyond event \(equalEvents), each time elsewhere"
    }
  }
}
