import ConnectionFSM
import Foundation
import NetSim
import Testing

/// Driven once: it is the same for every test.
private let table = Result { try TransitionTable() }

@Suite("Transition table, found out by driving the machine")
struct TransitionTableExportTests {
  @Test("I7: every phase has an outcome for every kind of input", arguments: Phase.allCases)
  func isComplete(phase: Phase) throws {
    let rows = try table.get().rows.filter { $0.phase == phase }
    for kind in InputKind.allCases {
      #expect(rows.contains { $0.input == kind }, "\(kind.rawValue)")
    }
  }

  @Test("I2: an ignored input has no effect and leads nowhere")
  func ignoredChangesNothing() throws {
    for row in try table.get().rows where row.isIgnored {
      #expect(row.next == row.phase && row.effects.isEmpty && row.sometimes.isEmpty)
    }
  }

  @Test("I2: the answer of an older attempt is ignored in every phase")
  func staleIsIgnored() throws {
    let rows = try table.get().rows.filter { $0.input == .stale }
    #expect(rows.count == Phase.allCases.count)
    #expect(rows.allSatisfy { $0.disposition == "ignored staleEpoch" })
  }

  @Test("I1: only connect leads out of closed and idle towards a link")
  func onlyConnectDials() throws {
    let leaving = try table.get().edges.filter { edge in
      [.idle, .closed].contains(edge.from) && edge.to != .closed
    }
    #expect(!leaving.isEmpty)
    for edge in leaving {
      #expect(Set(edge.inputs).isSubset(of: [.connect, .connectElsewhere]))
    }
  }

  @Test("I1: close leads from every phase to closed or closing, or leaves it there")
  func closeCloses() throws {
    for row in try table.get().rows where row.input == .close {
      #expect([.closing, .closed].contains(row.next), "from \(row.phase)")
    }
  }

  @Test(
    "the diagram of the design is in the table",
    arguments: [
      (Phase.idle, Phase.connecting, InputKind.connect),
      (.connecting, .authenticating, .opened),
      (.connecting, .open, .opened),
      (.authenticating, .open, .sessionReady),
      (.open, .closing, .close),
      (.closing, .closed, .closedByPeer),
      (.closing, .closed, .deadline),
      (.open, .backingOff, .failed),
      (.open, .backingOff, .deadline),
      (.backingOff, .connecting, .deadline),
      (.backingOff, .offline, .pathDown),
      (.offline, .backingOff, .pathUp),
      (.offline, .connecting, .deadline),
      (.suspended, .connecting, .demand),
      (.suspended, .waitingForCredentials, .foreground),
      (.waitingForCredentials, .connecting, .credentials),
      (.authenticating, .closed, .sessionRefused),
      (.open, .closed, .failedForGood),
    ])
  func knowsEdge(from: Phase, to: Phase, kind: InputKind) throws {
    let edge = try table.get().edges.first { $0.from == from && $0.to == to }
    #expect(edge?.inputs.contains(kind) == true)
  }

  @Test("the Mermaid diagram lists each edge once, and nothing else")
  func mermaid() throws {
    let table = try table.get()
    let lines = table.mermaid.split(separator: "\n")
    #expect(lines.first == "stateDiagram-v2")
    #expect(lines.count == table.edges.count + 2)
    for edge in table.edges {
      let start = "  \(edge.from) --> \(edge.to): "
      let found = lines.filter { $0.hasPrefix(start) }
      #expect(found.count == 1)
      for input in edge.inputs { #expect(found.first?.contains(input.rawValue) == true) }
    }
  }

  @Test("the diagram of the README is the machine's: Scripts/diagram.sh makes it")
  func readme() throws {
    let readme = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("README.md")
    let page = try String(contentsOf: readme, encoding: .utf8)
    let start = try #require(
      page.range(of: "<!-- states begin: made by Scripts/diagram.sh -->\n```mermaid\n"))
    let end = try #require(page.range(of: "\n```\n<!-- states end -->\n"))
    #expect(try String(page[start.upperBound..<end.lowerBound]) == table.get().mermaid)
  }

  @Test("the DOT diagram lists each edge once")
  func dot() throws {
    let table = try table.get()
    let lines = table.dot.split(separator: "\n")
    #expect(lines.count { $0.contains(" -> ") } == table.edges.count)
    for edge in table.edges {
      #expect(lines.count { $0.hasPrefix("  \(edge.from) -> \(edge.to) [label=\"") } == 1)
    }
  }

  @Test("the Markdown table has a line for every row, and as many cells in each")
  func markdown() throws {
    let table = try table.get()
    let lines = table.markdown.split(separator: "\n")
    #expect(lines.count == table.rows.count + 2)
    #expect(lines.allSatisfy { line in line.count { $0 == "|" } == 7 })
  }

  @Test("the text names every input in every phase within 100 columns")
  func text() throws {
    let sections = try table.get().text.paragraphs
    #expect(sections.count == Phase.allCases.count + 1)
    for (phase, section) in zip(Phase.allCases, sections.dropFirst()) {
      #expect(section.hasPrefix("\(phase)\n"))
      for kind in InputKind.allCases { #expect(section.contains(kind.rawValue)) }
      #expect(section.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
  }
}

extension String {
  fileprivate var paragraphs: [String] {
    var parts: [[Substring]] = [[]]
    for line in split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty { parts.append([]) } else { parts[parts.count - 1].append(line) }
    }
    return parts.map { $0.joined(separator: "\n") }
  }
}
