import ConnectionFSM
import NetSim
import Testing

/// Many clients that lost one server in one instant: the same story under as many seeds.
@Suite("Reported cases: fleets")
struct FleetCaseTests {
  /// What each client of a fleet did.
  private func fleet(_ name: String) throws -> [Simulation] {
    let scenario = try Fixtures.scenario("\(name).json", in: "cases")
    let size = try #require(try scenario.fleetSize)
    return try (0..<size).map { number in
      var simulation = try Simulation(scenario, seed: 1_000 + UInt64(number))
      try simulation.run()
      return simulation
    }
  }

  /// The most dials of all clients in one second, from an instant on.
  private func peak(_ fleet: [Simulation], from second: Int64) -> Int {
    var counts: [Int64: Int] = [:]
    for instant in fleet.flatMap(\.dials) where instant >= .origin + .seconds(second) {
      counts[instant.nanoseconds / 1_000_000_000, default: 0] += 1
    }
    return counts.values.max() ?? 0
  }

  /// The first dial of each client from an instant on, in seconds.
  private func firstDials(_ fleet: [Simulation], from second: Int64) -> [Double] {
    fleet.compactMap { client in
      client.dials.first { $0 >= .origin + .seconds(second) }
        .map { Double($0.nanoseconds) / 1e9 }
    }.sorted()
  }

  private func deviation(_ values: [Double]) -> Double {
    let mean = values.reduce(0, +) / Double(values.count)
    let squares = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
    return (squares / Double(max(1, values.count - 1))).squareRoot()
  }

  @Test("RC038: 1000 clients with full jitter come back spread over the cap")
  func spread() throws {
    let fleet = try fleet("RC038")
    #expect(fleet.count == 1000)
    // Spread evenly over waits of up to 20 s, 1000 clients are 50 a second, and 100 of those whose
    // wait is drawn short; never the 1000 of a fleet in step.
    #expect(peak(fleet, from: 300) <= 130)
    let first = firstDials(fleet, from: 300)
    #expect(first.count == 1000)
    #expect(Set(first).count > 950)
  }

  @Test("RC091: at the cap the waits of 100 clients still differ by more than a tenth of it")
  func jitterAtTheCap() throws {
    let fleet = try fleet("RC091")
    #expect(fleet.count == 100)
    for number in [20, 29] {
      let waits = fleet.map { Double($0.waits[number].nanoseconds) / 1e9 }
      #expect(waits.allSatisfy { (0...60).contains($0) })
      #expect(deviation(waits) > 6)
      // Two may be cut to the spacing of dials.
      #expect(Set(waits).count > 90)
    }
  }

  @Test("RC092, RC208: the return of 1000 clients is spread over at least half of the wait")
  func spreadOfReturn() throws {
    for (name, second) in [("RC092", Int64(40)), ("RC208", 30)] {
      let fleet = try fleet(name)
      let first = firstDials(fleet, from: second)
      #expect(first.count == 1000)
      // The wait at that time has grown to 16 or 20 s. A tenth may be early and a tenth late.
      #expect(first[900] - first[100] >= 8)
      #expect(peak(fleet, from: second) <= 200)
    }
  }
}
