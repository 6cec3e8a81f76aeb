/// The package's version, as traces carry it.
public let packageVersion = "0.1.0"

/// The first line of a trace: what is needed to make it again.
public struct TraceHeader: Codable, Equatable, Sendable {
  /// The version of the trace format.
  public let format: Int
  /// The version of the package that wrote it.
  public let package: String
  /// The knobs.
  public let policy: Policy
  /// What the machine's waits were drawn from.
  public let seed: UInt64

  /// Makes the header of a trace.
  public init(policy: Policy, seed: UInt64) {
    format = 1
    package = packageVersion
    self.policy = policy
    self.seed = seed
  }
}

/// One line of a trace for programs: a ``TraceRecord`` in the package's notation, one JSON object a
/// line.
public struct TraceLine: Codable, Equatable, Sendable {
  /// The place in the trace, from 1.
  public let sequence: UInt64
  /// Nanoseconds since the driver's origin.
  public let instant: Int64
  /// The attempt that the step is about.
  public let epoch: UInt64?
  /// What happened.
  public let input: String
  /// What was made of it.
  public let disposition: String
  /// The phase before.
  public let from: String
  /// The phase after.
  public let to: String
  /// What the owner had to do, in order.
  public let effects: [String]
  /// When the machine wanted to be woken next, in nanoseconds.
  public let nextDeadline: Int64?
  /// What led to the phase after.
  public let cause: String?

  /// Writes a record down.
  public init(_ record: TraceRecord) {
    sequence = record.sequence
    instant = record.instant.nanoseconds
    epoch = record.epoch?.rawValue
    input = record.input.description
    disposition = record.disposition.description
    from = "\(record.from)"
    to = "\(record.to)"
    effects = record.effects.map(\.description)
    nextDeadline = record.nextDeadline?.nanoseconds
    cause = record.cause?.description
  }
}
