import Foundation
import Testing

@Suite("fsm-demo under named conditions")
struct ConditionTests {
  private static let names: [String] = {
    let lines = (try? Demo.run("scenarios").output.split(separator: "\n")) ?? []
    guard let start = lines.firstIndex(where: { $0.hasPrefix("Conditions") }),
      let end = lines.firstIndex(where: { $0.hasPrefix("Links") })
    else { return [] }
    return lines[start..<end].filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }()

  @Test("the list has the 39 composite scenarios, two of them in two ways, each with its source")
  func list() throws {
    #expect(Self.names.count == 41)
    #expect(Self.names.contains("commuter") && Self.names.contains("azure-4min-silent"))
    let lines = try Demo.run("scenarios").output.split(separator: "\n")
    // And 48 links.
    #expect(lines.count { $0.hasPrefix("      [") } == 41 + 48)
    #expect(try Demo.run("simulate", "--scenario", "wpt-lte").output.contains("wpt-lte is over"))
  }

  @Test("every one of them runs to its end", arguments: names)
  func runs(name: String) throws {
    let run = try Demo.run("simulate", "--scenario", name)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("\(name) is over"))
  }

  @Test("a commuter's connection comes back on every network, and loses no message")
  func commuter() throws {
    let output = try Demo.run("simulate", "--scenario", "commuter", "--seed", "1").output
    #expect(output.contains("· client joins cellular"))
    #expect(output.contains("Messages: 3 acknowledged."))
  }

  @Test("a ping as rare as the box is forgetful comes too late, or is a matter of luck")
  func race() throws {
    func isSpared(_ name: String, ping: String) throws -> [Bool] {
      try (1...8).map { seed in
        try Demo.run("simulate", "--scenario", name, "--ping", ping, "--seed", "\(seed)")
          .output.contains(" 1 attempt ")
      }
    }
    let often = try isSpared("ping-equals-idle-60", ping: "25")
    #expect(often.allSatisfy { $0 })
    // A box that forgets at exactly its time is there before a ping that needs any time at all.
    let rarely = try isSpared("ping-equals-idle-60", ping: "60")
    #expect(rarely.contains(false))
    // One that looks at its table from time to time may be later, or earlier.
    let lucky = try isSpared("alb-60-fin", ping: "60")
    #expect(lucky.contains(false) && lucky.contains(true))
  }

  @Test("a story has its own policy, so that --ping is refused")
  func ping() throws {
    let run = try Demo.run("simulate", "--scenario", "tour", "--ping", "5")
    #expect(run.status == 64)
    #expect(run.errors.contains("--ping is for conditions"))
  }
}
