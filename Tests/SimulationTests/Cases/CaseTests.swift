import ConnectionFSM
import Foundation
import NetSim
import Testing

/// Scenario files beside the tests.
enum Fixtures {
  static func names(in folder: String) -> [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: path(folder))
    return (files ?? []).filter { $0.hasSuffix(".json") }.sorted()
  }

  static func scenario(_ name: String, in folder: String) throws -> Scenario {
    let data = try Data(contentsOf: URL(fileURLWithPath: path("\(folder)/\(name)")))
    return try JSONDecoder().decode(Scenario.self, from: data)
  }

  static func text(_ name: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: path(name)), encoding: .utf8)
  }

  private static func path(_ name: String) -> String {
    Bundle.module.bundlePath + "/Fixtures/" + name
  }
}

extension CaseKind {
  /// The scenario files of the kind: one a case, or several (`RC016-A`, `RC016-B`).
  var files: [String] {
    Fixtures.names(in: "cases").filter { ids.contains(String($0.prefix(5))) }
  }
}

/// Every reported case that the machine alone decides, as a scenario with its right outcome, under
/// its own seed and twenty more: each expectation holds for every draw.
@Suite("Reported cases")
struct CaseTests {
  /// What is wrong with a case under the first seed that shows it.
  private func problem(_ file: String) -> String? {
    do {
      let scenario = try Fixtures.scenario(file, in: "cases")
      for seed in [scenario.seed] + Array(100..<120) {
        do {
          var simulation = try Simulation(scenario, seed: seed)
          try simulation.run()
        } catch {
          return "\(file), seed \(seed): \(error)"
        }
      }
      return nil
    } catch {
      return "\(file): \(error)"
    }
  }

  private func check(_ kind: CaseKind) {
    let files = kind.files
    #expect(!files.isEmpty)
    let problems = files.compactMap(problem)
    // A line of the table: kind, cases, scenarios, passed.
    print(
      "\(kind.rawValue): \(kind.ids.count) cases, \(files.count) scenarios, "
        + "\(files.count - problems.count) passed")
    for problem in problems { Issue.record("\(problem)") }
  }

  @Test(
    """
    a close ends every plan there was (RC015, RC016, RC017, RC021, RC075, RC076, RC080, RC156, \
    RC157)
    """)
  func timerAfterClose() { check(.timerAfterClose) }

  @Test(
    """
    the foreground always leads to an attempt (RC004, RC046, RC118, RC153, RC155, RC162, RC201, \
    RC204)
    """)
  func background() { check(.background) }

  @Test("every message taken has one end (RC055, RC057, RC058, RC061, RC144, RC196, RC198, RC199)")
  func queueLossBound() { check(.queueLossBound) }

  @Test(
    """
    attempts are counted once a dial, and never while held (RC086, RC087, RC090, RC114, RC140, \
    RC141, RC149, RC186)
    """)
  func giveUp() { check(.giveUp) }

  @Test(
    """
    a lost path holds and its return dials, once (RC109, RC110, RC134, RC150, RC151, RC165, \
    RC187)
    """)
  func reachability() { check(.reachability) }

  @Test("one live transport at most (RC001, RC002, RC003, RC012, RC045, RC159)")
  func duplicateConnection() { check(.duplicateConnection) }

  @Test("a peer that lives is not given up (RC006, RC023, RC026, RC052, RC119, RC179)")
  func heartbeatFalsePositive() { check(.heartbeatFalsePositive) }

  @Test("a peer that is gone is found out (RC007, RC010, RC025, RC147, RC154, RC184)")
  func heartbeatMissing() { check(.heartbeatMissing) }

  @Test("the cause decides, then a table of codes (RC019, RC071, RC072, RC163, RC173, RC190)")
  func closeCode() { check(.closeCode) }

  @Test(
    """
    what a callback does changes no transition that runs (RC020, RC123, RC131, RC132, RC133, \
    RC181)
    """)
  func callbackOrderReentrancy() { check(.callbackOrderReentrancy) }

  @Test(
    """
    every wait is finite, within its bounds, and drawn (RC029, RC030, RC038, RC091, RC092, \
    RC208)
    """)
  func backoffMathJitter() { check(.backoffMathJitter) }

  @Test("a bare open forgives nothing (RC032, RC034, RC036, RC037, RC148, RC188)")
  func backoffReset() { check(.backoffReset) }

  @Test("a late timer is no evidence (RC047, RC048, RC049, RC113, RC128, RC129)")
  func sleepWake() { check(.sleepWake) }

  @Test("a link of the old network is in doubt (RC009, RC106, RC108, RC169, RC203)")
  func networkSwitch() { check(.networkSwitch) }

  @Test("no deadline outlives its facts (RC031, RC111, RC126, RC177, RC182)")
  func timerLeak() { check(.timerLeak) }

  @Test("what an old attempt says changes nothing (RC039, RC041, RC042, RC050, RC124)")
  func staleCallback() { check(.staleCallback) }

  @Test(
    """
    credentials are asked for before a dial, and their failure is no dead end (RC063, RC064, \
    RC065, RC067, RC070)
    """)
  func auth() { check(.auth) }

  @Test("the wall clock changes nothing (RC099, RC100, RC101, RC102, RC104)")
  func clock() { check(.clock) }

  @Test("every attempt has a deadline of its own (RC008, RC078, RC136, RC175)")
  func connectHang() { check(.connectHang) }

  @Test("first in, first out, and once (RC053, RC054, RC059, RC197)")
  func queueOrderDuplicate() { check(.queueOrderDuplicate) }

  @Test("a close during a dial ends it at once (RC082, RC083, RC084, RC085)")
  func closeHang() { check(.closeHang) }

  @Test("every address is tried before a wait (RC166, RC191, RC194, RC195)")
  func failover() { check(.failover) }

  @Test("a refused session begins anew on the same transport (RC005, RC138, RC171)")
  func resumeState() { check(.resumeState) }

  @Test("few causes are final (RC018, RC176, RC189)")
  func terminalClassification() { check(.terminalClassification) }

  @Test("no state waits for nothing (RC022, RC115, RC116)")
  func stuckState() { check(.stuckState) }

  @Test("a name that was not found is looked up again (RC094, RC095, RC096)")
  func dns() { check(.dns) }

  @Test("every attempt, wait and end can be seen (RC161, RC206, RC207)")
  func observability() { check(.observability) }
}
