import ConnectionFSM
import Foundation

/// How a trace is written.
enum TraceFormat: String, CaseIterable {
  /// Aligned columns for people.
  case text
  /// One JSON object a line for programs: the header, then the steps.
  case jsonl
}

/// Writes a trace line by line, as it happens.
///
/// The bytes depend on policy, seed and steps alone. Notes (what the network did, what the
/// application saw) are no part of a trace: JSON Lines leave them out.
struct TraceWriter: Sendable {
  private let format: TraceFormat
  private let output: Output
  private let text: TraceText
  private var causality = Causality()

  init(_ format: TraceFormat, to output: Output = .standard) {
    self.format = format
    self.output = output
    text = TraceText(colour: output.usesColour)
  }

  func begin(policy: Policy, seed: UInt64) {
    switch format {
    case .text: output.print(text.head)
    case .jsonl: write(TraceHeader(policy: policy, seed: seed))
    }
  }

  mutating func step(_ record: TraceRecord) {
    switch format {
    case .text: output.print(text.line(record))
    case .jsonl: write(TraceLine(record, parent: causality.parent(of: record)))
    }
  }

  func note(_ note: String, at instant: Instant) {
    if format == .text { output.print(text.note(note, at: instant)) }
  }

  private func write(_ line: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Text, whole numbers and finite spans only: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(line) else { preconditionFailure("unencodable trace") }
    output.print(String(decoding: bytes, as: UTF8.self))
  }
}
