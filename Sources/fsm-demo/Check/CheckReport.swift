import Foundation
import NetSim

/// What a check came to, in lines for a person.
struct CheckReport {
  /// How fast it went; nothing of it stands in a summary.
  struct Speed {
    let seconds: Double
    /// What all threads together had of the cores: on a machine that others use, too, less than
    /// the cores times the seconds.
    let coreSeconds: Double
  }

  /// So many stories must have been run before a cell that was not met says something.
  private static let fewestStories = 1000

  let summary: CheckSummary
  /// Nil for a sum of summaries.
  let speed: Speed?
  private let paint = Paint()

  init(_ summary: CheckSummary, speed: Speed?) {
    self.summary = summary
    self.speed = speed
  }

  var text: String {
    ([head] + figures + coverage).joined(separator: "\n")
  }

  private var head: String {
    let seeds = summary.seeds.map { ($0.first...$0.last).words }.joined(separator: ", ")
    let machine = summary.profile == ProfileName.machine.rawValue
    let ran =
      "\(count(summary.stories, "story", "stories"))"
      + (machine ? "" : " of the profile \(summary.profile)") + ", seeds \(seeds)"
    if summary.stories == 0 { return "No story was run." }
    return summary.failures.isEmpty
      ? paint.title("\(ran): every promise held.")
      : paint.alarm("\(ran): \(summary.failures.count.grouped) failed.")
  }

  // MARK: Figures

  private var figures: [String] {
    var rows = [("steps", summary.steps.grouped, "")]
    if let speed {
      let seconds = max(speed.coreSeconds, 0.001)
      let (stories, steps) = (Double(summary.stories) / seconds, Double(summary.steps) / seconds)
      rows[0].2 =
        "\(Int(stories).grouped) stories, \(Int(steps).grouped) steps a second a core; "
        + "\(CheckProgress.words(speed.seconds)) in all"
    }
    rows.append(("dials", summary.dials.grouped, ""))
    let ends = summary.messages.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    rows.append(
      (
        "messages", summary.messages.values.reduce(0, +).grouped,
        ends.map { "\($0.value.grouped) \(Self.words($0.key))" }.joined(separator: ", ")
      ))
    rows.append(("failures", summary.failures.count.grouped, failures))
    rows.append(("digest", "\(summary.digest)", ""))
    let width = rows.dropLast().map(\.1.count).max() ?? 0
    return [""]
      + rows.flatMap { name, number, rest in
        let start = "  " + name.padded(to: 10)
        if name == "digest" { return [start + number] }
        let lines = rest.wrapped(to: 84 - width)
        let margin = String(repeating: " ", count: 15 + width)
        return [start + number.padded(left: width) + (lines.first.map { "   " + $0 } ?? "")]
          + lines.dropFirst().map { margin + $0 }
      }
  }

  /// `I3 12 (seeds 4, 17, 40 …), I6 1 (seed 9)`
  private var failures: String {
    let byPromise = Dictionary(grouping: summary.failures, by: \.promise)
    return byPromise.sorted { $0.key < $1.key }.map { promise, failures in
      let seeds = failures.prefix(3).map { "\($0.seed)" }.joined(separator: ", ")
      let more = failures.count > 3 ? " …" : ""
      return "\(promise) \(failures.count.grouped) (seed\(failures.count == 1 ? "" : "s") "
        + "\(seeds)\(more))"
    }.joined(separator: ", ")
  }

  private static func words(_ end: String) -> String { end == "inDoubt" ? "in doubt" : end }

  private func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
    "\(number.grouped) \(number == 1 ? one : many)"
  }

  // MARK: Coverage

  private var coverage: [String] {
    let tables = summary.coverage
    let width = tables.map(\.name.count).max() ?? 0
    var lines = ["", paint.title("Coverage")]
    for table in tables {
      let of = table.cells.count
      lines.append(
        "  " + table.name.padded(to: width) + table.met.grouped.padded(left: 8) + " of "
          + of.grouped.padded(left: 5))
    }
    let missing = tables.flatMap(\.cells).filter { $0.count == 0 }
    if missing.isEmpty { return lines }
    let open = missing.filter { $0.reason == nil }
    guard summary.stories >= Self.fewestStories else {
      return lines + ["  What was not met is named from \(Self.fewestStories.grouped) stories on."]
    }
    if !open.isEmpty {
      lines += ["", paint.title("Not met")]
      lines += CellNames.lines(of: open.map(\.name), width: 96).map { "  " + $0 }
    }
    let reasons = Self.grouped(missing.compactMap(\.reason))
    if reasons.isEmpty { return lines }
    lines += ["", paint.title("Cannot be met")]
    let margin = String(repeating: " ", count: 13)
    for (reason, count) in reasons {
      let words = reason.wrapped(to: 87)
      lines.append(count.grouped.padded(left: 7) + "  " + words[0])
      lines += words.dropFirst().map { margin + $0 }
    }
    return lines
  }

  /// Each reason once, and how many cells have it; those that differ in their last word stand in
  /// one line: “idle does not lead to authenticating, open”.
  private static func grouped(_ reasons: [String]) -> [(reason: String, count: Int)] {
    var groups: [(start: String, ends: [String], count: Int)] = []
    for reason in reasons {
      let link = reason.firstRange(of: " does not lead to ")
      let start = link.map { String(reason[..<$0.upperBound]) } ?? reason
      let end = link.map { String(reason[$0.upperBound...]) }
      guard let place = groups.firstIndex(where: { $0.start == start }) else {
        groups.append((start, end.map { [$0] } ?? [], 1))
        continue
      }
      groups[place].count += 1
      if let end, !groups[place].ends.contains(end) { groups[place].ends.append(end) }
    }
    return groups.map { ($0.start + $0.ends.joined(separator: ", "), $0.count) }
  }
}
