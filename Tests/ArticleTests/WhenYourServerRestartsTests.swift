// A block of the article “What happens when your server restarts”; `BlocksTests` checks that the
// page shows it.

import ConnectionFSM
import NetSim
import Testing

@Suite("Article: What happens when your server restarts")
struct WhenYourServerRestartsTests {
  @Test("a storm is a few lines of a test")
  func storm() throws {
    let server = FleetServer(
      serviceTime: .milliseconds(2), backlog: 4096, outage: .restart(down: .seconds(5)))
    let report = try FleetSimulation(clients: 2_000, policy: Policy(), server: server).run()
    #expect(report.connected == 2_000)
    #expect(report.peak < 100)
  }
}
