import Foundation

/// A chart over time as SVG, made for one width: text keeps its size, whatever the screen.
struct FleetChart {
  struct Line {
    /// Which of the styles of the page it has.
    let style: Int
    /// Seconds and values, rising in time.
    let points: [(time: Double, value: Double)]
    /// Whether the area below is filled.
    let isFilled: Bool
  }

  let lines: [Line]
  /// The last second shown.
  let end: Double
  /// The greatest value shown.
  let top: Double
  /// Whether heights are square roots, so that what is small beside a great peak is seen.
  let isRoot: Bool
  let unit: String
  /// Until when the server was down; nothing at 0.
  let shaded: Double
  let bound: Double?
  /// What a reader who cannot see it is told.
  let label: String
  let width: Double
  let height: Double

  private static let left = 52.0
  private static let bottom = 22.0
  private static let above = 16.0

  var svg: String {
    var parts = [
      "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(label)\">"
    ]
    if shaded > 0 {
      let right = x(min(shaded, end))
      parts.append(
        "<rect class=\"down\" x=\"\(at(Self.left))\" y=\"\(at(Self.above))\" "
          + "width=\"\(at(right - Self.left))\" height=\"\(at(floor - Self.above))\"/>")
      parts.append(text("down", Self.left + 3, Self.above - 4, "start"))
    }
    for value in isRoot ? Self.rootTicks(to: top) : Self.ticks(to: top, about: 4) {
      parts.append(
        "<path class=\"grid\" d=\"M\(at(Self.left)) \(at(y(value)))H\(at(width - 8))\"/>")
      parts.append(text(Self.short(value) + unit, Self.left - 5, y(value) + 4, "end"))
    }
    for time in Self.ticks(to: end, about: width / 100) {
      let words = time == 0 ? "0" : "\(Self.short(time)) s"
      parts.append(text(words, x(time), height - 6, "middle"))
    }
    parts += lines.map(path)
    if let bound, bound <= end {
      parts.append(
        "<path class=\"bound\" d=\"M\(at(x(bound))) \(at(Self.above))V\(at(floor))\"/>")
      parts.append(text("soonest", x(bound), Self.above - 4, "middle"))
    }
    return parts.joined() + "</svg>"
  }

  private var floor: Double { height - Self.bottom }

  private func x(_ time: Double) -> Double {
    Self.left + time / max(end, 0.1) * (width - Self.left - 8)
  }

  private func y(_ value: Double) -> Double {
    let share = max(0, value) / max(top, 1e-9)
    return floor - (isRoot ? share.squareRoot() : share) * (floor - Self.above)
  }

  private func at(_ number: Double) -> String { String(format: "%.1f", number) }

  private func text(_ words: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(at(x))\" y=\"\(at(y))\" text-anchor=\"\(anchor)\">\(words)</text>"
  }

  private func path(_ line: Line) -> String {
    let points = reduced(line.points)
    guard let first = points.first, let last = points.last else { return "" }
    let corners = points.map { "\(at(x($0.time))) \(at(y($0.value)))" }.joined(separator: "L")
    let stroke = "<path class=\"line s\(line.style)\" d=\"M\(corners)\"/>"
    guard line.isFilled else { return stroke }
    return "<path class=\"area s\(line.style)\" d=\"M\(at(x(first.time))) \(at(floor))L\(corners)"
      + "L\(at(x(last.time))) \(at(floor))Z\"/>" + stroke
  }

  /// A point a pixel at most: the greatest value within it, so that no peak is lost.
  private func reduced(_ points: [(time: Double, value: Double)]) -> [(time: Double, value: Double)]
  {
    var kept: [(time: Double, value: Double)] = []
    var column = -1
    for point in points where point.time <= end {
      let own = Int(x(point.time))
      if own != column || kept.isEmpty {
        kept.append(point)
        column = own
      } else if point.value > kept[kept.count - 1].value {
        kept[kept.count - 1] = point
      }
    }
    return kept
  }

  /// Closer together where a root scale is wide.
  private static func rootTicks(to top: Double) -> [Double] {
    [0, 0.04, 0.25, 1].map { rounded($0 * top) }
  }

  /// About so many round values from 0 on.
  private static func ticks(to top: Double, about count: Double) -> [Double] {
    guard top > 0 else { return [0] }
    let raw = top / count
    let power = pow(10, log10(raw).rounded(.down))
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= raw } ?? raw
    return Array(stride(from: 0, through: top, by: step))
  }

  /// One digit that counts.
  private static func rounded(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    let power = pow(10, log10(value).rounded(.down))
    return (value / power).rounded(.down) * power
  }

  private static func short(_ value: Double) -> String {
    value == value.rounded() ? Int(value).grouped : String(format: "%.1f", value)
  }
}
