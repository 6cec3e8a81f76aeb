import ConnectionFSM
import Foundation
import NetSim
import Testing

@Test("I6: seed 123, in 5 steps")
func i6Seed123() throws {
  // It ended with: dialled #2 only 0.041407916 s after the last dial, and the remark is so long
  // that it takes two lines.
  let json = #"""
    {
      "version": 1, "name": "I6-seed-123", "seed": 7,
      "policy": {
        "backoff": { "first": 2, "jitter": "none" },
        "connectDeadline": 2.5,
        "heartbeat": null,
        "lanes": [
          {
            "delivery": "atMostOnce",
            "overflow": "dropOldest",
            "timeToLive": 3
          }
        ]
      },
      "steps": [
        { "t": 0, "ev": "api.connect" },
        { "t": 0.1, "ev": "net.refuse" },
        { "t": 0.25, "ev": "api.send", "arg": "m1,m2", "lane": 0, "bytes": 20, "note": "two" },
        { "t": 2.2, "ev": "net.open" },
        { "t": 3, "ev": "expect.state", "arg": "open" }
      ]
    }
    """#
  let scenario = try JSONDecoder().decode(Scenario.self, from: Data(json.utf8))
  var simulation = try Simulation(scenario, seed: scenario.seed)
  try simulation.run()
}
