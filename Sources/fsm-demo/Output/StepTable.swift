import ConnectionFSM

/// Steps of a trace for people, each with its number before the columns of the trace.
struct StepTable {
  private let text = TraceText(colour: false)
  private let width: Int

  /// Makes a table of steps up to this number.
  init(upTo sequence: UInt64) { width = max(4, String(sequence).count) }

  var head: String { aligned("step") + text.head }

  /// A step as it was written down, in a file that may hold anything.
  func line(_ step: TraceLine) -> String {
    aligned(String(step.sequence)) + text.line(step).printable(upTo: 2_000)
  }

  func line(_ step: TraceRecord) -> String { aligned(String(step.sequence)) + text.line(step) }

  func note(_ note: String, at instant: Instant) -> String {
    aligned("") + text.note(note, at: instant)
  }

  private func aligned(_ number: String) -> String {
    String(repeating: " ", count: width - number.count) + number + "  "
  }
}
