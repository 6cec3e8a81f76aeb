/// Makes a recorded run again: feeds the inputs of its trace to a fresh machine, each at its
/// instant, and compares what the machine makes of them with what was recorded.
///
/// A machine's steps depend on policy, seed, inputs and instants alone, and a trace holds all four.
/// So a run that was recorded anywhere, over real sockets too, replays to the last byte by the same
/// release; a difference is a bug, a changed recording, or another release's better judgement.
///
/// ```swift
/// var replay = try Replay(header)
/// for line in lines { statistics.add(try replay.next(line)) }
/// ```
///
/// A recording in several parts goes on with ``goOn(with:)`` between them.
public struct Replay: Sendable {
  /// The version of the package that recorded the run, where it is not this one.
  public let otherVersion: String?

  /// The machine after the step that was replayed last.
  public private(set) var machine: Machine

  private var effects = Effects()
  private var causality = Causality()
  /// The step that was replayed last.
  private var sequence: UInt64
  private var beginsWithRun: Bool

  /// Makes one for a trace that begins with this header.
  /// - Throws: ``ReplayError/unknownFormat(_:)``, ``ReplayError/impossibleStart(_:)``.
  public init(_ header: TraceHeader) throws(ReplayError) {
    otherVersion = header.package == packageVersion ? nil : header.package
    machine = try Self.machine(of: header)
    sequence = header.start?.after ?? 0
    beginsWithRun = header.start == nil
  }

  private static func machine(of header: TraceHeader) throws(ReplayError) -> Machine {
    guard header.format == TraceHeader.currentFormat else { throw .unknownFormat(header.format) }
    guard let start = header.start else { return Machine(policy: header.policy, seed: header.seed) }
    do throws(SnapshotError) {
      return try Machine(restoring: start.machine, policy: header.policy)
    } catch {
      throw .impossibleStart(error)
    }
  }

  /// Goes on with the next part of the same recording. If no step is missing between the two, the
  /// part must begin with just the machine that this replay has come to.
  /// - Returns: How many steps are missing between the parts.
  /// - Throws: ``ReplayError``; the replay is over then.
  public mutating func goOn(with header: TraceHeader) throws(ReplayError) -> UInt64 {
    let machine = try Self.machine(of: header)
    let after = header.start?.after ?? 0
    guard after >= sequence else { throw .partOutOfOrder(after: after, expected: sequence) }
    let missing = after - sequence
    if missing == 0, machine != self.machine { throw .otherMachine(after: sequence) }
    self.machine = machine
    sequence = after
    causality = Causality()
    beginsWithRun = false
    return missing
  }

  /// Replays the next line of the trace.
  /// - Returns: The step, which is as it was recorded.
  /// - Throws: ``ReplayError``: the first difference, or why the line cannot be replayed. The
  ///   replay is over then: whatever followed would differ for that reason.
  public mutating func next(_ line: TraceLine) throws(ReplayError) -> TraceRecord {
    guard sequence < .max else { throw .lineMissing(expected: sequence, found: line.sequence) }
    let expected = sequence + 1
    guard line.sequence == expected else {
      if beginsWithRun, sequence == 0 { throw .beginsLater(first: line.sequence) }
      throw .lineMissing(expected: expected, found: line.sequence)
    }
    let record = try feed(line)
    sequence = expected
    let replayed = TraceLine(record, parent: causality.parent(of: record))
    if replayed == line { return record }
    throw .different(ReplayDifference(recorded: line, replayed: replayed))
  }

  private mutating func feed(_ line: TraceLine) throws(ReplayError) -> TraceRecord {
    let input: Input
    do throws(NotationError) { input = try Input(notation: line.input) } catch {
      throw .unreadableInput(step: line.sequence, error)
    }
    let instant = Instant(nanoseconds: line.instant)
    guard input == .policyReplaced else {
      return machine.handle(input, at: instant, into: &effects, recordingAs: line.sequence)
    }
    guard let policy = line.policy else { throw .policyMissing(step: line.sequence) }
    do throws(PolicyError) {
      return try machine.adopt(policy, at: instant, into: &effects, recordingAs: line.sequence)
    } catch {
      throw .impossiblePolicy(step: line.sequence, error)
    }
  }
}

/// Why a trace does not replay.
public enum ReplayError: Error, Sendable {
  /// The trace is written in a format that this release does not read.
  case unknownFormat(Int)
  /// The trace begins in the middle of a run: what the machine was then is not in it.
  case beginsLater(first: UInt64)
  /// The trace says that it begins with a machine which cannot be.
  case impossibleStart(SnapshotError)
  /// A part of a recording begins before the end of the part that was replayed before it.
  case partOutOfOrder(after: UInt64, expected: UInt64)
  /// A part of a recording begins with another machine than the part before it led to.
  case otherMachine(after: UInt64)
  /// Steps are missing, twice there, or out of order.
  case lineMissing(expected: UInt64, found: UInt64)
  /// What happened cannot be read.
  case unreadableInput(step: UInt64, NotationError)
  /// The policy was replaced, and the line does not say by which.
  case policyMissing(step: UInt64)
  /// The policy was replaced by one that the machine cannot have taken.
  case impossiblePolicy(step: UInt64, PolicyError)
  /// The machine makes something else of a step than was recorded.
  case different(ReplayDifference)
}

extension ReplayError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownFormat(let format):
      "format \(format) is not the one that this release reads, \(TraceHeader.currentFormat)"
    case .beginsLater(let first):
      "begins with step \(first), and its header does not say what the machine was before that: "
        + "it replays from step 1 on only; join the parts of the recording before this one with it"
    case .impossibleStart(let error): "start: \(error)"
    case .partOutOfOrder(let after, let expected):
      "begins after step \(after), and the part before it ends with step \(expected): give the "
        + "parts of one recording in their order"
    case .otherMachine(let sequence):
      "begins with another machine than the part before it led to with step \(sequence): they are "
        + "of two recordings, or one of them was changed"
    case .lineMissing(let expected, let found):
      "is step \(found) where step \(expected) must be: lines are missing or changed"
    case .unreadableInput(_, let error): "input: \(error)"
    case .policyMissing: "policy: is missing, and this step replaced it"
    case .impossiblePolicy(_, let error): "\(error)"
    case .different(let difference): "\(difference)"
    }
  }
}

/// A step of which the machine makes something else than was recorded.
public struct ReplayDifference: Equatable, Sendable {
  /// One thing that a line says of its step.
  public struct Field: Equatable, Sendable {
    /// The key of the line.
    public let name: String
    /// What the recording says, in the notation of traces; “none” where it says nothing.
    public let recorded: String
    /// What the replay gives.
    public let replayed: String
  }

  /// The step as it was recorded.
  public let recorded: TraceLine
  /// The step as the machine makes it now.
  public let replayed: TraceLine

  /// What differs; first what the machine did, then what follows from it.
  public var fields: [Field] {
    zip(recorded.facts, replayed.facts).compactMap { old, new in
      old.text == new.text
        ? nil : Field(name: old.name, recorded: old.text, replayed: new.text)
    }
  }
}

extension ReplayDifference: CustomStringConvertible {
  public var description: String {
    let fields = fields.map { "\($0.name): recorded \($0.recorded), replayed \($0.replayed)" }
    return "step \(recorded.sequence) differs: \(fields.joined(separator: "; "))"
  }
}

extension TraceLine {
  /// All that a line says, in the order of ``ReplayDifference/fields``.
  fileprivate var facts: [(name: String, text: String)] {
    func time(_ nanoseconds: Int64?) -> String {
      nanoseconds.map { "\(Instant(nanoseconds: $0))" } ?? "none"
    }
    return [
      ("disposition", disposition), ("to", to),
      ("effects", effects.isEmpty ? "none" : "\(effects)"),
      ("nextDeadline", time(nextDeadline)), ("cause", cause ?? "none"), ("waitsFor", waitsFor),
      ("until", time(until)), ("reason", reason ?? "none"), ("attempt", "\(attempt)"),
      ("epoch", epoch.map { "\(Epoch($0))" } ?? "none"),
      ("parent", parent.map { "step \($0)" } ?? "none"), ("from", from), ("instant", time(instant)),
      ("input", input),
      ("policy", policy == nil ? "none" : "a policy"),
    ]
  }
}
