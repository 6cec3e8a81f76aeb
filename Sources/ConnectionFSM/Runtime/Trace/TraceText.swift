/// A trace for people: one aligned line a step, and notes between them.
///
/// The bytes depend on the records alone, so that two runs can be compared with `cmp`; colour is
/// added for a terminal only.
public struct TraceText: Sendable {
  private let colour: Bool

  /// Makes a writer; with `colour`, ANSI escapes mark what matters.
  public init(colour: Bool) { self.colour = colour }

  /// The head of the columns.
  public var head: String {
    paint(
      .faint,
      Self.columns("time", "input", "  state", "effects, and until when it waits"))
  }

  /// One step. The state is marked where it changes, and a cause is named once a line.
  public func line(_ record: TraceRecord) -> String {
    var notes = record.effects.map(\.description).joined(separator: ", ")
    if record.disposition != .accepted {
      notes = notes.isEmpty ? "\(record.disposition)" : "\(record.disposition): \(notes)"
    }
    if let next = record.nextDeadline, record.disposition.counts {
      notes += notes.isEmpty ? "until \(Self.time(next))" : "; until \(Self.time(next))"
    }
    if let cause = record.cause, record.from != record.to, !record.ends(with: cause) {
      notes += notes.isEmpty ? "(\(cause))" : " (\(cause))"
    }
    let state = record.from == record.to ? "  \(record.to)" : "→ \(record.to)"
    let text = Self.columns(Self.time(record.instant), Self.input(of: record), state, notes)
    return paint(style(of: record), text)
  }

  /// One step as it was written down, with what the machine waits for thereafter.
  public func line(_ step: TraceLine) -> String {
    var notes = step.disposition == "accepted" ? [] : [step.disposition]
    if !step.effects.isEmpty { notes.append(step.effects.joined(separator: ", ")) }
    if step.waitsFor != "\(Explanation.Wait.nothing)" {
      let until = step.until.map { " until \(Self.time(Instant(nanoseconds: $0)))" } ?? ""
      notes.append("waits for \(step.waitsFor)\(until)")
    }
    let state = step.from == step.to ? "  \(step.to)" : "→ \(step.to)"
    return Self.columns(
      Self.time(Instant(nanoseconds: step.instant)), Self.input(of: step), state,
      notes.joined(separator: "; "))
  }

  /// Something that is no step of the machine: what the network did, what the application saw.
  public func note(_ text: String, at instant: Instant) -> String {
    paint(.outside, Self.columns(Self.time(instant), "· " + text, "", ""))
  }

  /// The input, without the cause that an effect of the same line names.
  private static func input(of record: TraceRecord) -> String {
    if case .transport(let epoch, .failed(let cause)) = record.input, record.ends(with: cause) {
      return "\(epoch) failed"
    }
    return record.input.description
  }

  private static func input(of step: TraceLine) -> String {
    guard let word = step.input.firstRange(of: " failed ") else { return step.input }
    let (epoch, cause) = (step.input[..<word.lowerBound], step.input[word.upperBound...])
    return step.effects.contains("ended \(epoch) \(cause)") ? "\(epoch) failed" : step.input
  }

  /// Milliseconds, rounded down; the machine's own line holds the rest.
  private static func time(_ instant: Instant) -> String {
    let milliseconds = instant.nanoseconds / 1_000_000
    let fraction = String(milliseconds % 1000)
    let zeros = String(repeating: "0", count: max(0, 3 - fraction.count))
    return "\(milliseconds / 1000).\(zeros)\(fraction)"
  }

  // Widths that keep the common lines of a trace within 100 columns; a longer text pushes the rest
  // of its own line only.
  private static func columns(
    _ time: String, _ input: String, _ state: String, _ notes: String
  ) -> String {
    var line = String(repeating: " ", count: max(0, 8 - time.count)) + time + "  "
    line += padded(input, to: 20) + "  " + padded(state, to: 16) + "  " + notes
    while line.last == " " { line.removeLast() }
    return line
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

extension TraceText {
  private enum Style: String {
    case plain = ""
    case faint = "2"
    case outside = "36"
    case good = "32"
    case waiting = "33"
    case bad = "31"
  }

  private func style(of record: TraceRecord) -> Style {
    if !record.disposition.counts { return .faint }
    guard record.from != record.to else { return .plain }
    switch record.to {
    case .open: return .good
    case .offline, .backingOff, .suspended, .waitingForCredentials: return .waiting
    case .closed: return record.cause == .closedByUser ? .good : .bad
    case .idle, .connecting, .authenticating, .closing: return .plain
    }
  }

  private func paint(_ style: Style, _ text: String) -> String {
    colour && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

extension Disposition {
  /// Whether the input changed anything.
  fileprivate var counts: Bool {
    switch self {
    case .accepted, .taken: true
    case .rejected, .ignored: false
    }
  }
}

extension TraceRecord {
  /// Whether an effect says that an attempt ended for this cause.
  fileprivate func ends(with cause: Cause) -> Bool {
    effects.contains { effect in
      if case .ended(_, cause) = effect { return true }
      return false
    }
  }
}
