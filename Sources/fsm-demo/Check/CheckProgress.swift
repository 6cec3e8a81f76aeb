import Foundation

/// How far long work is.
package struct CheckProgress {
  let done: Int
  let total: Int
  let failed: Int
  let unit: String

  package init(done: Int, of total: Int, failed: Int, unit: String = "stories") {
    self.done = done
    self.total = total
    self.failed = failed
    self.unit = unit
  }

  /// A bar, and what is to be known, within 79 columns.
  package func line(after seconds: Double) -> String {
    let share = Double(done) / Double(total)
    let width = 20
    let full = Int(share * Double(width))
    let bar =
      String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let rate = Double(done) / max(seconds, 0.001)
    var parts = [
      bar + "\(Int(share * 100)) %".padded(left: 6), "\(Int(rate).grouped) \(unit) a second",
    ]
    // The first second tells little about the others.
    if seconds > 1, done > 0 { parts.append(Self.words(Double(total - done) / rate) + " left") }
    if failed > 0 { parts.append("\(failed.grouped) failed") }
    // A line that wraps could not be drawn over.
    return String(parts.joined(separator: "  ").prefix(79))
  }

  /// `42 s`, `3 min 20 s`, `2 h 5 min`, `4 days`
  static func words(_ seconds: Double) -> String {
    let seconds = Int(min(seconds.rounded(.up), 1e12))
    return switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
    case ..<(48 * 3600): "\(seconds / 3600) h \(seconds / 60 % 60) min"
    default: "\((seconds / 86_400).grouped) days"
    }
  }
}
