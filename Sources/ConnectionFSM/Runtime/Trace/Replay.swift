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
public struct Replay: Sendable {
  /// The version of the package that recorded the run, where it is not this one.
  public let otherVersion: String?

  private var machine: Machine
  private var effects = Effects()
  private var causality = Causality()
  private var sequence: UInt64 = 0

  /// Makes one for a trace that begins with this header.
  /// - Throws: ``ReplayError/unknownFormat(_:)``.
  public init(_ header: TraceHeader) throws(ReplayError) {
    guard header.format == TraceHeader.currentFormat else { throw .unknownFormat(header.format) }
    otherVersion = header.package == packageVersion ? nil : header.package
    machine = Machine(policy: header.policy, seed: header.seed)
  }

  /// Replays the next line of the trace.
  /// - Returns: The step, which is as it was recorded.
  /// - Throws: ``ReplayError``: the first difference, or why the line cannot be replayed. The
  ///   replay is over then: whatever followed would differ for that reason.
  public mutating func next(_ line: TraceLine) throws(ReplayError) -> TraceRecord {
    let expected = sequence + 1
    guard line.sequence == expected else {
      if sequence == 0 { throw .beginsLater(first: line.sequence) }
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
      "begins with step \(first): only a recording from step 1 on replays, since what the machine "
        + "was at a later step is in no trace; join the parts of the recording before this one "
        + "with it"
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
