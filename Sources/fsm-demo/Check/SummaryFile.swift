import ConnectionFSM
import Foundation
import NetSim

/// Summaries of checks as files: equal summaries are equal bytes.
enum SummaryFile {
  static func write(_ summary: CheckSummary, to path: String) throws(Failure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    // Text, whole numbers and spans of seconds: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(summary) else {
      preconditionFailure("unencodable summary")
    }
    try OutputFile.write(String(decoding: bytes, as: UTF8.self) + "\n", to: path)
  }

  /// The summary of all that was run for the summaries of these files.
  static func merged(_ paths: [String]) throws(Failure) -> CheckSummary {
    var sum = CheckSummary(profile: ProfileName.machine.rawValue)
    var parts: [(path: String, summary: CheckSummary)] = []
    for path in paths {
      let part = try read(path)
      if parts.isEmpty { sum = CheckSummary(profile: part.profile) }
      do throws(CheckMergeError) {
        try sum.merge(part)
      } catch {
        throw Failure(.badData, problem(error, with: path, parts))
      }
      parts.append((path, part))
    }
    return sum
  }

  private static func problem(
    _ error: CheckMergeError, with path: String, _ parts: [(path: String, summary: CheckSummary)]
  ) -> String {
    switch error {
    case .seedsTwice(let seed):
      let other = parts.first { $0.summary.seeds.contains { $0.first <= seed && seed <= $0.last } }
      return "\(path): seed \(seed) is also in \(other?.path ?? "another file"), and would count "
        + "twice; merge summaries of different seeds"
    case .profiles(let ours, let theirs):
      return "\(path): is of the profile \(theirs), and those before it of \(ours)"
    case .versions(let ours, let theirs):
      return "\(path): is of version \(theirs) of the package, which draws other stories than "
        + "\(ours), which this is; run its seeds again"
    }
  }

  private static func read(_ path: String) throws(Failure) -> CheckSummary {
    // A million failures.
    let bytes = try InputFile.bytes(
      of: path, limit: 256 << 20, mend: "fsm-demo check --summary FILE writes a summary")
    let summary: CheckSummary
    do {
      summary = try JSONDecoder().decode(CheckSummary.self, from: bytes)
    } catch {
      throw Failure(
        .badData, "\(path): is no summary: \(DecodingProblem.describe(error, in: bytes))")
    }
    if let problem = problem(in: summary) { throw Failure(.badData, "\(path): \(problem)") }
    return summary
  }

  /// What no check writes, and no sum survives.
  private static func problem(in summary: CheckSummary) -> String? {
    // Far above what one check counts in years; a sum of half a million of them fits a counter.
    let limit: UInt64 = 1 << 45
    guard ProfileName(rawValue: summary.profile) != nil else {
      let known = ProfileName.allCases.map(\.rawValue).joined(separator: ", ")
      return "profile: “\(summary.profile)” is unknown; there are \(known)"
    }
    let counts = [summary.steps, summary.dials] + summary.messages.values + summary.cells.values
    if counts.contains(where: { $0 > limit }) { return "has a count above \(limit)" }
    var stories: UInt64 = 0
    var last: UInt64?
    for (place, range) in summary.seeds.enumerated() {
      guard range.first <= range.last, last.map({ $0 < range.first }) ?? true else {
        return "seeds[\(place)]: ranges must rise, and end after they begin"
      }
      guard range.last - range.first < limit, stories < limit else {
        return "seeds[\(place)]: is more than \(limit) seeds"
      }
      stories += range.last - range.first + 1
      last = range.last
    }
    return nil
  }
}
