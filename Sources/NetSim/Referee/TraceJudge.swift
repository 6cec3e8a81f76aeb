package import ConnectionFSM

/// Judges a connection by what it records: each step is taken again by a machine of the same policy
/// and seed, which must give the same record, and the referee looks on.
package struct TraceJudge: Sendable {
  private var machine: Machine
  private var effects = Effects()
  private var referee: Referee

  /// Makes a judge for a connection at rest.
  package init(policy: Policy, seed: UInt64) {
    machine = Machine(policy: policy, seed: seed)
    referee = Referee(policy: policy)
  }

  /// How many transports the connection holds.
  package var liveTransports: Int { referee.liveTransports }

  /// Judges the next step.
  /// - Throws: The first broken promise.
  package mutating func judge(_ record: TraceRecord) throws(Violation) {
    let before = machine
    let replayed = machine.handle(
      record.input, at: record.instant, into: &effects, recordingAs: record.sequence)
    guard replayed == record else {
      throw Violation("F59", "\(record.input) at \(record.instant) is not what its replay gives")
    }
    try referee.judge(
      record.input, at: record.instant, before: before, after: machine,
      disposition: record.disposition, effects: effects)
  }
}
