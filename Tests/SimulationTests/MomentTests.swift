import ConnectionFSM
import NetSim
import Testing

/// What happened in a reported case, a line a moment; what was ignored aside.
private func story(of name: String) throws -> [String] {
  let scenario = try Fixtures.scenario("\(name).json", in: "cases")
  var simulation = try Simulation(scenario, seed: scenario.seed)
  var lines: [String] = []
  try simulation.run { event in
    guard case .step(let record) = event else { return }
    for moment in record.moments {
      if case .ignored = moment { continue }
      lines.append("\(record.instant) \(moment)")
    }
  }
  return lines
}

@Suite("Reported cases of what is told: RC161, RC206, RC207")
struct CaseMomentTests {
  @Test("RC161: waiting until a time and closed for good have different names")
  func waitingOrGone() throws {
    #expect(
      try story(of: "RC161") == [
        "0.000 attempt 1 started: #1 to @0",
        "0.000 opened: #1",
        "1.000 link ended: #1 closedByPeer",
        "1.000 waiting for retry until 2.000 (attempt 1, closedByPeer)",
        "2.000 attempt 2 started: #2 to @0",
        "2.001 attempt failed: #2 system(connectionRefused)",
        "2.001 closed: exhausted, system(connectionRefused)",
      ])
  }

  @Test("RC206: one waiting for each wait, though the path stays down")
  func everyWait() throws {
    let failure = "system(connectionRefused)"
    #expect(
      try story(of: "RC206") == [
        "0.000 attempt 1 started: #1 to @0",
        "0.000 opened: #1",
        "10.000 link ended: #1 pathLost",
        "10.000 waiting for network until 70.000 (attempt 0, pathLost)",
        "70.000 attempt 0 started: #2 to @0",
        "70.001 attempt failed: #2 \(failure)",
        "70.001 waiting for network until 130.001 (attempt 0, \(failure))",
        "130.001 attempt 0 started: #3 to @0",
        "130.002 attempt failed: #3 \(failure)",
        "130.002 waiting for network until 190.002 (attempt 0, \(failure))",
        "190.002 attempt 0 started: #4 to @0",
        "190.003 attempt failed: #4 \(failure)",
        "190.003 waiting for network until 250.003 (attempt 0, \(failure))",
        "250.003 attempt 0 started: #5 to @0",
        "250.004 attempt failed: #5 \(failure)",
        "250.004 waiting for network until 310.004 (attempt 0, \(failure))",
        "310.004 attempt 0 started: #6 to @0",
        "310.005 attempt failed: #6 \(failure)",
        "310.005 waiting for network until 370.005 (attempt 0, \(failure))",
      ])
  }

  @Test("RC207: attempt 1 started, attempt 1 failed, attempt 2 started, opened")
  func firstAttempt() throws {
    #expect(
      try story(of: "RC207") == [
        "0.000 attempt 1 started: #1 to @0",
        "0.000 opened: #1",
        "10.000 link ended: #1 system(connectionReset)",
        "10.000 waiting for retry until 10.22662463 (attempt 0, system(connectionReset))",
        "10.22662463 attempt 1 started: #2 to @0",
        "11.000 attempt failed: #2 system(connectionRefused)",
        "11.000 waiting for retry until 13.000 (attempt 1, system(connectionRefused))",
        "13.000 attempt 2 started: #3 to @0",
        "13.001 opened: #3",
      ])
  }
}
