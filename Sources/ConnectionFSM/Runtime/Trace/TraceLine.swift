/// The package's version, as traces carry it.
public let packageVersion = "0.1.0"

/// The first line of a trace: what is needed to make it again.
public struct TraceHeader: Codable, Equatable, Sendable {
  /// The version of the trace format that this release writes and reads.
  public static let currentFormat = 1

  /// The version of the trace format.
  public let format: Int
  /// The version of the package that wrote it.
  public let package: String
  /// The knobs.
  public let policy: Policy
  /// What the machine's waits were drawn from, from the first step of the trace on.
  public let seed: UInt64
  /// What the machine was before the first step; nil where nothing had happened to it.
  public let start: TraceStart?

  /// Makes the header of a trace that begins with the first step of a run.
  public init(policy: Policy, seed: UInt64) {
    format = Self.currentFormat
    package = packageVersion
    self.policy = policy
    self.seed = seed
    start = nil
  }

  /// Makes the header of a trace that begins with a machine as it is.
  /// - Parameters:
  ///   - machine: What the machine was before the first step of the trace.
  ///   - sequence: The step that left it so; 0 where nothing had happened.
  ///   - missing: How many steps before that one, itself included, were not recorded.
  public init(startingWith machine: Machine, after sequence: UInt64, missing: UInt64) {
    format = Self.currentFormat
    package = packageVersion
    policy = machine.policy
    seed = machine.random.state
    start = TraceStart(
      after: sequence, missing: missing > 0 ? missing : nil, machine: MachineSnapshot(machine))
  }
}

/// Where a trace begins that is a part of a recording.
public struct TraceStart: Codable, Equatable, Sendable {
  /// The step before the first one of the trace; 0 where the trace begins with the run.
  public let after: UInt64
  /// How many steps up to that one were not recorded, since whoever wrote them fell behind; nil
  /// where none are missing.
  public let missing: UInt64?
  /// What the machine was before the first step of the trace.
  public let machine: MachineSnapshot
}

/// One line of a trace for programs: a ``TraceRecord`` in the package's notation, one JSON object a
/// line.
public struct TraceLine: Codable, Equatable, Sendable {
  /// The place in the trace, from 1.
  public let sequence: UInt64
  /// Nanoseconds since the driver's origin.
  public let instant: Int64
  /// The earlier step that led to this one, as ``Causality`` finds it in this trace; nil where it
  /// begins a chain.
  public let parent: UInt64?
  /// The attempt that the step is about.
  public let epoch: UInt64?
  /// Dials since the last reset, the running one included.
  public let attempt: UInt32
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
  /// What the machine waits for, beyond a wish of the application.
  public let waitsFor: String
  /// When the state will act by itself, in nanoseconds; the queue may want to be woken before.
  public let until: Int64?
  /// Why the machine came to rest, where this step led there.
  public let reason: String?
  /// The policy from this step on, where the step replaced it.
  public let policy: Policy?

  /// Writes a record down.
  /// - Parameters:
  ///   - record: The step.
  ///   - parent: What ``Causality/parent(of:)`` says of it.
  public init(_ record: TraceRecord, parent: UInt64?) {
    sequence = record.sequence
    instant = record.instant.nanoseconds
    self.parent = parent
    epoch = record.epoch?.rawValue
    attempt = record.attempt
    input = record.input.description
    disposition = record.disposition.description
    from = "\(record.from)"
    to = "\(record.to)"
    effects = record.effects.map(\.description)
    nextDeadline = record.nextDeadline?.nanoseconds
    cause = record.cause?.description
    waitsFor = "\(record.explanation.waitsFor)"
    until = record.explanation.until?.nanoseconds
    policy = record.policy
    if case .closed(let closed)? = record.entered {
      reason = "\(closed.reason)"
    } else {
      reason = nil
    }
  }
}
