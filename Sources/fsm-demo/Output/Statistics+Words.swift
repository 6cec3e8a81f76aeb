import ConnectionFSM

// What a run amounts to, in words.

extension Statistics {
  /// `2 written, 3 acknowledged, 1 expired`; nil without any message.
  var messagesInWords: String? {
    var parts: [String] = []
    for outcome in Outcome.allCases {
      if let count = ended[outcome] { parts.append("\(count) \(outcome.words)") }
    }
    let rejected = rejected.values.reduce(0, +)
    if rejected > 0 { parts.append("\(rejected) rejected") }
    if pending > 0 { parts.append("\(pending) still under way") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// `36 steps, 7 attempts in 75.042 s`
  var figures: String {
    let milliseconds = Instant(nanoseconds: end.nanoseconds / 1_000_000 * 1_000_000)
    return "\(count(steps, "step")), \(count(attempts, "attempt")) in \(milliseconds) s"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

extension Outcome {
  /// The outcome in words for people.
  var words: String {
    switch self {
    case .written, .acknowledged, .expired, .evicted, .cancelled: "\(self)"
    case .inDoubt: "in doubt"
    }
  }
}
