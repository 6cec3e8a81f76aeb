import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("The shrinker")
struct ShrinkerTests {
  private static func scenario(_ steps: [(Double, String, String?)]) throws -> Scenario {
    let list = steps.map { t, ev, arg in
      #"{ "t": \#(t), "ev": "\#(ev)""# + (arg.map { #", "arg": "\#($0)""# } ?? "")
        + #", "lane": 1, "bytes": 60 }"#
    }
    let json = """
      { "version": 1, "name": "large", "seed": 4711,
        "policy": { "patience": { "fastFor": 10, "slowWait": 10 }, "closeDeadline": 1 },
        "steps": [ \(list.joined(separator: ",")) ] }
      """
    return try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
  }

  private static func words(_ scenario: Scenario) -> [String] {
    scenario.steps.map { "\($0.t) \($0.ev) \($0.arg ?? "")" }
  }

  /// Fails where a reset comes a second or more after a connect.
  private static func fails(_ scenario: Scenario) -> Bool {
    guard let connect = scenario.steps.first(where: { $0.ev == "api.connect" }) else {
      return false
    }
    return scenario.steps.contains { $0.ev == "net.rst" && $0.t >= connect.t + 1 }
  }

  @Test("keeps the two steps of forty that matter, as early as they fail, and the plain policy")
  func twoOfForty() throws {
    var steps: [(Double, String, String?)] = []
    for place in 0..<40 { steps.append((Double(place) * 1.7, "net.msg", "repeat=3")) }
    steps[11].1 = "api.connect"
    steps[11].2 = nil
    steps[31].1 = "net.rst"
    steps[31].2 = "#2"
    var shrinker = Shrinker(try Self.scenario(steps), limit: 5000, fails: Self.fails)
    shrinker.shrink()
    let small = shrinker.scenario
    #expect(Self.words(small) == ["0.0 api.connect ", "1.0 net.rst "])
    #expect(small.steps.allSatisfy { $0.lane == nil && $0.bytes == nil })
    #expect(small.policy.patience == nil && small.policy.closeDeadline == .seconds(5))
    #expect(small.seed == 1)
  }

  @Test("leaves out of a list what does not matter")
  func list() throws {
    let scenario = try Self.scenario([(3.2, "api.send", "m1,m2,m3,m4,m5,m6,m7")])
    var shrinker = Shrinker(scenario, limit: 1000) {
      $0.steps.contains { ($0.arg ?? "").split(separator: ",").contains("m5") }
    }
    shrinker.shrink()
    #expect(Self.words(shrinker.scenario) == ["0.0 api.send m5"])
  }

  @Test("leaves out two steps that only make sense together")
  func pairs() throws {
    let scenario = try Self.scenario([
      (0, "net.path_down", nil), (1, "api.connect", nil), (2, "net.path_up", nil),
    ])
    var shrinker = Shrinker(scenario, limit: 1000) {
      let count = $0.steps.count { $0.ev.hasPrefix("net.path") }
      return count != 1 && $0.steps.contains { $0.ev == "api.connect" }
    }
    shrinker.shrink()
    #expect(Self.words(shrinker.scenario) == ["0.0 api.connect "])
  }

  @Test("a limit is kept, and what was found until then is given")
  func limit() throws {
    let steps = (0..<100).map { (Double($0), "net.msg", String?.none) }
    var shrinker = Shrinker(try Self.scenario(steps), limit: 10) { $0.steps.count > 60 }
    shrinker.shrink()
    #expect(shrinker.tries == 10)
    #expect((61..<100).contains(shrinker.scenario.steps.count))
  }

  @Test("of what does not fail nothing is made smaller")
  func nothing() throws {
    let scenario = try Self.scenario([(0, "api.connect", nil), (1, "net.rst", nil)])
    var shrinker = Shrinker(scenario, limit: 1000) { _ in false }
    shrinker.shrink()
    #expect(Self.words(shrinker.scenario) == Self.words(scenario))
  }
}
