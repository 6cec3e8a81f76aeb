import NetSim

/// What the fleets did over time, in the characters of a terminal: two lines a policy, all on one
/// time axis.
struct FleetSparklines {
  let rows: [FleetRow]

  private static let width = 72
  private static let blocks = Array(" ▁▂▃▄▅▆▇█")

  func text(_ paint: Paint) -> String {
    let name = rows.map(\.name.count).max() ?? 0
    // How many bins a character stands for: one fleet that needs an hour must not press the others
    // together.
    let lengths = rows.map { $0.shown.series.count }.sorted()
    let shown = min(lengths.last ?? 1, 3 * (lengths.isEmpty ? 1 : lengths[(lengths.count - 1) / 2]))
    let step = max(1, (shown + Self.width - 1) / Self.width)
    let peak = rows.map { $0.shown.peak }.max() ?? 0
    let margin = String(repeating: " ", count: name + 2)
    var lines = [
      paint.faint(
        "\(margin)dials in 100 ms, the most of each \(seconds(step)) s (square root); connected"
      )
    ]
    for row in rows {
      let series = row.shown.series
      let pieces = stride(from: 0, to: min(series.count, shown), by: step).map { start in
        series[start..<min(start + step, series.count)]
      }
      let dials = pieces.map { piece in
        let most = piece.map(\.dials).max() ?? 0
        return block((Double(most) / Double(max(1, peak))).squareRoot())
      }
      let clients = Double(row.shown.clients)
      var connected = pieces.map { block(Double($0.last?.connected ?? 0) / clients) }
      // A run ends when all are back, and they stay.
      if series.count <= shown, let last = connected.last {
        connected += Array(repeating: last, count: (shown + step - 1) / step - connected.count)
      }
      let more = series.count > shown ? "…" : ""
      lines.append("\(row.name.padded(to: name))  \(String(dials))\(more)")
      lines.append("\(margin)\(String(connected))\(more)")
    }
    let end = "\(seconds(step * Self.width)) s"
    lines.append(paint.faint("\(margin)0\(end.padded(left: Self.width - 1))"))
    return lines.joined(separator: "\n")
  }

  private func seconds(_ bins: Int) -> String {
    bins.isMultiple(of: 10) ? "\(bins / 10)" : "\(bins / 10).\(bins % 10)"
  }

  /// Anything above nothing is seen.
  private func block(_ share: Double) -> Character {
    guard share > 0 else { return Self.blocks[0] }
    return Self.blocks[min(8, max(1, Int((share * 8).rounded())))]
  }
}
