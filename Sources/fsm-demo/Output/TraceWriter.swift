import ConnectionFSM
import Foundation

/// How a trace is written.
enum TraceFormat: String, CaseIterable {
  /// Aligned columns for people.
  case text
  /// One JSON object a line for programs: the header, then the steps.
  case jsonl
}

/// Writes a trace to standard output, line by line.
///
/// The bytes depend on policy, seed and steps alone. Notes (what the network did, what the
/// application saw) are no part of a trace: JSON Lines leave them out.
struct TraceWriter: Sendable {
  private let format: TraceFormat
  private let text = TraceText(colour: Console.usesColour)
  private var causality = Causality()

  init(_ format: TraceFormat) { self.format = format }

  func begin(policy: Policy, seed: UInt64) {
    switch format {
    case .text: Console.print(text.head)
    case .jsonl: write(TraceHeader(policy: policy, seed: seed))
    }
  }

  mutating func step(_ record: TraceRecord) {
    switch format {
    case .text: Console.print(text.line(record))
    case .jsonl: write(TraceLine(record, parent: causality.parent(of: record)))
    }
  }

  func note(_ note: String, at instant: Instant) {
    if format == .text { Console.print(text.note(note, at: instant)) }
  }

  private func write(_ line: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Text, whole numbers and finite spans only: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(line) else { preconditionFailure("unencodable trace") }
    Console.print(String(decoding: bytes, as: UTF8.self))
  }
}
