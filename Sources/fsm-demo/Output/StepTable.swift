import ConnectionFSM

/// Steps of a trace for people, each with its number before the columns of the trace.
struct StepTable {
  private let text = TraceText(colour: false)
  private let width: Int

  /// Makes a table of steps up to this number.
  init(upTo sequence: UInt64) { width = max(4, String(sequence).count) }

  var head: String { aligned("step") + text.head }

  func line(_ step: TraceLine) -> String { aligned(String(step.sequence)) + text.line(step) }

  private func aligned(_ number: String) -> String {
    String(repeating: " ", count: width - number.count) + number + "  "
  }
}
