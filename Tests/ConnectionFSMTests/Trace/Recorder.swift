import ConnectionFSM

/// A machine that is watched: each step is recorded, told and counted.
struct Recorder {
  private(set) var machine: Machine
  private(set) var records: [TraceRecord] = []
  private(set) var statistics = Statistics()
  /// The step that led to each, in order.
  private(set) var parents: [UInt64?] = []
  private var causality = Causality()
  private var effects = Effects()
  private(set) var now = Instant.origin

  init(_ policy: Policy, seed: UInt64 = 1) { machine = Machine(policy: policy, seed: seed) }

  /// Feeds an input, now or at a later instant.
  @discardableResult
  mutating func feed(_ input: Input, at instant: Instant? = nil) -> TraceRecord {
    now = instant ?? now
    return note(machine.handle(input, at: now, into: &effects, recordingAs: nextSequence))
  }

  /// Replaces the policy, by one that has the same lanes.
  @discardableResult
  mutating func adopt(_ policy: Policy, at instant: Instant? = nil) throws -> TraceRecord {
    now = instant ?? now
    return note(try machine.adopt(policy, at: now, into: &effects, recordingAs: nextSequence))
  }

  private var nextSequence: UInt64 { UInt64(records.count + 1) }

  private mutating func note(_ record: TraceRecord) -> TraceRecord {
    records.append(record)
    statistics.add(record)
    parents.append(causality.parent(of: record))
    return record
  }

  /// The steps as they are written down.
  var lines: [TraceLine] { zip(records, parents).map { TraceLine($0, parent: $1) } }

  /// Says something on behalf of the newest transport.
  @discardableResult
  mutating func transport(_ event: TransportEvent, at instant: Instant? = nil) -> TraceRecord {
    feed(.transport(machine.newestEpoch, event), at: instant)
  }

  /// Serves the next deadline when it is due.
  @discardableResult
  mutating func serveDeadline() -> TraceRecord {
    feed(.deadlineReached, at: max(now, machine.nextDeadline ?? now))
  }

  /// What all the steps so far meant.
  var moments: [Moment] { records.flatMap(\.moments) }

  /// The steps from the one that begins the chain to this one.
  func chain(to sequence: UInt64) -> [UInt64] {
    var chain = [sequence]
    while let parent = parents[Int(chain[0]) - 1] { chain.insert(parent, at: 0) }
    return chain
  }
}
