import ConnectionFSM

// The state diagram in the formats of tools that people have. Every edge that was seen, none that
// was not; what leaves the phase as it is, is in the table and not in the picture.

extension TransitionTable {
  /// A Mermaid state diagram, as GitHub renders it in a code block.
  package var mermaid: String {
    var lines = ["stateDiagram-v2", "  [*] --> \(Phase.idle)"]
    for (from, to, inputs) in edges {
      lines.append("  \(from) --> \(to): \(Self.label(inputs, separator: ", "))")
    }
    return lines.joined(separator: "\n")
  }

  /// A Graphviz digraph: `fsm-demo table --format dot | dot -Tsvg`.
  package var dot: String {
    var lines = ["digraph connection {", "  node [shape=box, style=rounded];"]
    for (from, to, inputs) in edges {
      lines.append("  \(from) -> \(to) [label=\"\(Self.label(inputs, separator: "\\n"))\"];")
    }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private static func label(_ inputs: [InputKind], separator: String) -> String {
    inputs.map(\.rawValue).joined(separator: separator)
  }

  /// The whole table in Markdown: every phase with every kind of input.
  package var markdown: String {
    var lines = [
      "| phase | input | next | disposition | effects | sometimes |",
      "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows {
      let cells = [
        "\(row.phase)", row.input.rawValue, row.next == row.phase ? "" : "\(row.next)",
        row.disposition, row.effects.joined(separator: ", "),
        row.sometimes.joined(separator: ", "),
      ]
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n")
  }
}
