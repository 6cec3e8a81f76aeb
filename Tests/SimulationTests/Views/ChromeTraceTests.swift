import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Chrome trace events")
struct ChromeTraceTests {
  /// A file, read as a viewer reads it.
  private struct File {
    let text: String
    let events: [[String: Any]]

    init(_ text: String) throws {
      self.text = text
      let file = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      events = try #require(file?["traceEvents"] as? [[String: Any]])
      #expect(file?["displayTimeUnit"] as? String == "ms")
    }

    func all(_ type: String) -> [[String: Any]] { events.filter { $0["ph"] as? String == type } }
  }

  private static func file(_ name: String) throws -> File {
    try File(Views.show(name, in: ChromeTrace(title: name)).text)
  }

  // Where a change is meant, the new fixture is
  //   fsm-demo simulate --scenario close-during-retry --format chrome
  @Test("the file of a built-in scenario is that of its fixture, to the byte")
  func golden() throws {
    let text = try Self.file("close-during-retry").text
    #expect(try text == Fixtures.text("views/close-during-retry.chrome.json"))
  }

  @Test("each event has the fields that the format asks of its type", arguments: Views.names)
  func fields(name: String) throws {
    for event in try Self.file(name).events {
      let type = try #require(event["ph"] as? String)
      #expect(event["name"] is String && event["pid"] as? Int == 1, "\(event)")
      #expect((event["ts"] as? Double ?? -1) >= 0, "\(event)")
      guard type != "M" else {
        #expect(event["args"] is [String: Any])
        continue
      }
      #expect(event["cat"] is String && event["tid"] is Int, "\(event)")
      switch type {
      case "X": #expect((event["dur"] as? Double ?? -1) >= 0, "\(event)")
      case "i": #expect(["g", "p", "t"].contains(event["s"] as? String), "\(event)")
      case "C": #expect((event["args"] as? [String: Any])?["messages"] is Int, "\(event)")
      case "b", "n", "e": #expect(event["id"] is String, "\(event)")
      default: Issue.record("a type of event that is not written: \(event)")
      }
    }
  }

  @Test("time never goes back, and every thread that is used has a name", arguments: Views.names)
  func order(name: String) throws {
    let file = try Self.file(name)
    let times = file.events.filter { $0["ph"] as? String != "M" }.compactMap { $0["ts"] as? Double }
    #expect(times == times.sorted())
    let named = file.all("M").filter { $0["name"] as? String == "thread_name" }
    #expect(
      Set(file.events.compactMap { $0["tid"] as? Int }).isSubset(
        of: Set(named.compactMap { $0["tid"] as? Int })))
  }

  @Test("what begins ends, innermost first, under one identity", arguments: Views.names)
  func balance(name: String) throws {
    var stacks: [String: [String]] = [:]
    for event in try Self.file(name).events {
      guard let id = event["id"] as? String, let category = event["cat"] as? String else {
        continue
      }
      let key = "\(category) \(id)"
      switch event["ph"] as? String {
      case "b": stacks[key, default: []].append(event["name"] as? String ?? "")
      case "e": #expect(stacks[key]?.popLast() == event["name"] as? String, "\(event)")
      default: #expect(stacks[key]?.isEmpty == false, "\(event)")
      }
    }
    #expect(stacks.values.allSatisfy { $0.isEmpty })
  }

  @Test("states follow each other without a gap, to the nanosecond")
  func states() throws {
    let phases = try Self.file("tour").all("X")
    #expect(phases.count == 20)
    var end = 0.0
    for phase in phases {
      let start = try #require(phase["ts"] as? Double)
      #expect(abs(start - end) < 0.0005)
      end = start + (phase["dur"] as? Double ?? 0)
    }
  }

  @Test("every attempt, ping, message and note of the tour is there")
  func contents() throws {
    let file = try Self.file("tour")
    let begins = file.all("b").compactMap { $0["name"] as? String }
    #expect(begins.filter { $0.hasPrefix("#") && !$0.contains("ping") }.count == 7)
    #expect(begins.filter { $0.contains("ping") }.count == 2)
    #expect(begins.filter { $0.hasPrefix("message") }.count == 5)
    #expect(file.all("i").filter { $0["cat"] as? String == "fault" }.count == 6)
    #expect(file.all("i").filter { $0["cat"] as? String == "step" }.count == 36)
    let ends = file.all("e").compactMap { ($0["args"] as? [String: Any])?["outcome"] as? String }
    #expect(
      ends.sorted() == ["acknowledged", "acknowledged", "acknowledged", "expired", "written"])
  }

  @Test("foreign text is a string, whatever is in it")
  func hostile() throws {
    let file = try File(Views.show(json: Views.hostile, in: ChromeTrace(title: "a\"b</c>")).text)
    let note = try #require(file.all("i").first { $0["cat"] as? String == "fault" })
    #expect(
      note["name"] as? String
        == "net.server_up: </script><script>alert(1)</script> & \"quoted\" \\ "
        + "\u{1}\u{2028}é\n<!-- x")
  }
}
