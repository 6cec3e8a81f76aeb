import ConnectionFSM
import NetSim
import Testing

@Suite("Sequence diagram")
struct SequenceDiagramTests {
  private static func lines(_ name: String) throws -> [String] {
    try Views.show(name, in: SequenceDiagram()).text.split(separator: "\n").map(String.init)
  }

  private static func row(_ words: String, in lines: [String]) throws -> String {
    try #require(lines.first { $0.contains(words) }, "\(words)")
  }

  // Where a change is meant, the new fixture is
  //   fsm-demo simulate --scenario NAME --format sequence
  @Test(
    "the diagram of a built-in scenario is that of its fixture, to the byte",
    arguments: ["dead-peer", "close-during-retry", "queue-with-time-to-live"])
  func golden(name: String) throws {
    let text = try Views.show(name, in: SequenceDiagram()).text
    #expect(try text == Fixtures.text("views/\(name).sequence.txt"))
  }

  @Test(
    "no row is wider than 100 columns, and each begins and ends at a lane", arguments: Views.names)
  func width(name: String) throws {
    let lines = try Self.lines(name)
    #expect(lines.count > 5)
    for line in lines.dropFirst() {
      #expect(line.count == 97, "\(line)")
      #expect(Array(line)[26] == "|" && line.last == "|", "\(line)")
      #expect(line.allSatisfy { $0.isASCII }, "\(line)")
    }
  }

  @Test("a ping without an answer ends in the network, and the one before it arrived")
  func lostPing() throws {
    let lines = try Self.lines("dead-peer")
    let first = try Self.row("#1 ping 1", in: lines)
    #expect(first.hasSuffix(">|"))
    let second = try Self.row("#1 ping 2", in: lines)
    #expect(Array(second)[61] == "x")
    #expect(second.hasSuffix("x" + String(repeating: " ", count: 34) + "|"))
  }

  @Test("what still waits for its answer at the end of the trace ends in dots")
  func underWay() throws {
    let json = """
      { "version": 1, "name": "waiting", "seed": 1, "policy": {}, "unconsumed": [2],
        "steps": [ { "t": 0, "ev": "api.connect" }, { "t": 0.5, "ev": "net.connect_hang" } ] }
      """
    let text = try Views.show(json: json, in: SequenceDiagram()).text
    let dial = try #require(text.split(separator: "\n").first { $0.contains("#1 dial") })
    #expect(dial.contains("---...") && !dial.contains(">") && !dial.contains("x"))
  }

  @Test("a message that a later pong is behind has arrived; one in doubt has not for certain")
  func messages() throws {
    let tour = try Self.lines("tour")
    #expect(try Self.row("message 0:1", in: tour).hasSuffix(">|"))
    let queue = try Self.lines("queue-with-time-to-live")
    #expect(try Self.row("#3 message 1:5", in: queue).contains("-x "))
    #expect(queue.contains { $0.contains("message 1:5 in doubt") })
  }

  @Test("the bytes that acknowledgements came in have no row, and each acknowledgement has one")
  func acknowledgements() throws {
    let json = """
      { "version": 1, "name": "acknowledged", "seed": 1, "policy": {},
        "steps": [
          { "t": 0, "ev": "api.connect" }, { "t": 0.1, "ev": "net.open" },
          { "t": 0.5, "ev": "api.send", "arg": "m1", "lane": 1 },
          { "t": 0.6, "ev": "api.send", "arg": "m2", "lane": 1 },
          { "t": 1, "ev": "net.msg" }, { "t": 1, "ev": "net.ack" }, { "t": 2, "ev": "net.msg" } ] }
      """
    let text = try Views.show(json: json, in: SequenceDiagram(), withNotes: false).text
    let rows = text.split(separator: "\n").map(String.init)
    #expect(rows.count { $0.contains("acknowledged 1:1 ") } == 1)
    #expect(rows.count { $0.contains("acknowledged 1:2 ") } == 1)
    #expect(rows.count { $0.contains(" bytes ") } == 1)
  }

  @Test("a dial that no packet answered is lost, whatever the client's own system says of it")
  func localFailure() throws {
    let lines = try Self.lines("path-flapping")
    #expect(try Self.row("#3 dial", in: lines).contains("-x "))
    #expect(lines.contains { $0.contains("|  #3 failed: system(networkUnreachable)") })
  }

  @Test("foreign text stays within its row")
  func hostile() throws {
    let text = try Views.show(json: Views.hostile, in: SequenceDiagram()).text
    #expect(!text.contains("\u{1}") && !text.contains("\u{2028}"))
    for line in text.split(separator: "\n").dropFirst() { #expect(line.count == 97) }
  }
}
