import ConnectionFSM
import Foundation

/// Writes the steps of a machine as segments that replay alone: each begins with a header and with
/// what the machine was before its first step.
///
/// It has a twin of the machine, to which it feeds the same inputs; so it can begin a segment
/// before any step, and the connection need not be asked for its machine.
struct SegmentWriter {
  private let store: any SegmentStore
  private let byteLimit: Int
  private let countLimit: Int

  /// The segments that are there, oldest first.
  private var numbers: [UInt64]
  private var twin: Machine?
  private var effects = Effects()
  private var causality = Causality()
  /// How many bytes of steps the segment still takes.
  private var bytesLeft = 0
  private var hasSteps = false
  private var unwritten: [UInt8] = []
  private let encoder = JSONEncoder()

  // As much as one write is worth; more is not kept in memory.
  private static let chunk = 1 << 16

  /// Makes a writer that goes on behind the segments which are there.
  init(_ store: any SegmentStore, byteLimit: Int, countLimit: Int) throws(RecordingError) {
    self.store = store
    self.byteLimit = byteLimit
    self.countLimit = countLimit
    numbers = try store.numbers().sorted()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// Begins a segment with this machine.
  /// - Parameters:
  ///   - sequence: The step that left the machine so; 0 for none.
  ///   - missing: How many steps before this segment were not written.
  mutating func begin(
    _ machine: Machine, after sequence: UInt64, missing: UInt64
  ) throws(RecordingError) {
    try flush()
    let number = (numbers.last ?? 0) + 1
    while numbers.count >= countLimit {
      try store.remove(numbers[0])
      numbers.removeFirst()
    }
    try store.begin(number)
    numbers.append(number)
    let header = try line(
      TraceHeader(startingWith: machine, after: sequence, missing: missing))
    // A machine with many messages leaves little room, or none; without steps it is worth nothing.
    bytesLeft = max(byteLimit - header.count, byteLimit / 2)
    hasSteps = false
    causality = Causality()
    twin = machine
    try append(header)
  }

  /// Writes a step, in a new segment if this one is full.
  mutating func add(_ record: TraceRecord) throws(RecordingError) {
    guard let machine = twin else { return }
    var step = try line(TraceLine(record, parent: causality.parent(of: record)))
    if step.count > bytesLeft, hasSteps {
      try begin(machine, after: record.sequence - 1, missing: 0)
      step = try line(TraceLine(record, parent: causality.parent(of: record)))
    }
    bytesLeft -= step.count
    hasSteps = true
    try append(step)
    if let policy = record.policy {
      // The lanes are those that the machine itself has agreed to.
      _ = try? twin?.adopt(policy, at: record.instant, into: &effects)
    } else {
      twin?.handle(record.input, at: record.instant, into: &effects)
    }
  }

  /// Gives the system what is not written yet.
  mutating func flush() throws(RecordingError) {
    guard !unwritten.isEmpty else { return }
    try store.append(unwritten)
    unwritten.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ line: [UInt8]) throws(RecordingError) {
    unwritten += line
    if unwritten.count >= Self.chunk { try flush() }
  }

  private func line(_ value: some Encodable) throws(RecordingError) -> [UInt8] {
    do {
      return [UInt8](try encoder.encode(value)) + [UInt8(ascii: "\n")]
    } catch {
      // Text and whole numbers alone: JSON can say all of it. Still no reason to trap.
      throw .system(step: "encode", path: "a step", .other, reason: "\(error)")
    }
  }
}
