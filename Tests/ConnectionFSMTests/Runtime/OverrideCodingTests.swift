import ConnectionFSM
import Foundation
import Testing

@Suite("Overrides as JSON")
struct OverrideCodingTests {
  private func decoded(_ json: String) throws -> VerdictOverride {
    try JSONDecoder().decode(VerdictOverride.self, from: Data(json.utf8))
  }

  @Test("an override is its pattern, its class, and the modifiers that it names")
  func reads() throws {
    let table: [(String, VerdictOverride)] = [
      (
        #"{"closeCodes": [4000, 4099], "class": "terminal"}"#,
        VerdictOverride(.closeCodes(4000...4099), .terminal)
      ),
      (
        #"{"httpStatuses": [404, 404], "class": "transient", "retryLimit": 3}"#,
        VerdictOverride(.httpStatuses(404...404), .transient.capped(3))
      ),
      (
        #"{"kind": "pathLost", "class": "terminal"}"#,
        VerdictOverride(.kind(.pathLost), .terminal)
      ),
      (
        #"{"kind": "timedOut", "class": "transient", "prefersElsewhere": true}"#,
        VerdictOverride(.kind(.timedOut), .transient.elsewhere)
      ),
      (
        #"{"system": "networkDown", "class": "network", "minimumDelay": 1.5, "spread": 2}"#,
        VerdictOverride(
          .system(.networkDown), .network.after(.milliseconds(1_500), spread: .seconds(2)))
      ),
      (
        #"""
        {"closeCodes": [4401, 4401], "class": "terminal", "refreshesCredentials": true,
         "retriesAtOnce": true}
        """#,
        VerdictOverride(.closeCodes(4401...4401), .terminal.refreshing.now)
      ),
    ]
    for (json, override) in table { #expect(try decoded(json) == override) }
  }

  @Test("a policy comes back from its JSON with its overrides, in order")
  func roundTrip() throws {
    let overrides =
      VerdictOverride.pusher + VerdictOverride.httpLike
      + [
        VerdictOverride(.httpStatuses(500...599), .network.capped(255)),
        VerdictOverride(.system(.other), .terminal.capped(1).now),
        VerdictOverride(.kind(.closedByPeer), .transient.elsewhere),
      ]
    let policy = try Policy.made(overrides: overrides)
    let data = try JSONEncoder().encode(policy)
    let copy = try JSONDecoder().decode(Policy.self, from: data)
    #expect(copy == policy && copy.overrides == overrides)
  }

  @Test(
    "what is no override is refused with the place and the mend",
    arguments: [
      (#"{"class": "terminal"}"#, "just one of"),
      (#"{"closeCodes": [1, 2], "system": "other", "class": "terminal"}"#, "just one of"),
      (#"{"closeCodes": [2, 1], "class": "terminal"}"#, "[first, last]"),
      (#"{"closeCodes": [1], "class": "terminal"}"#, "[first, last]"),
      (#"{"closeCodes": [1, 65536], "class": "terminal"}"#, "0 to 65535"),
      (#"{"closeCodes": [1, 2], "class": "sometimes"}"#, "known are"),
      (#"{"closeCodes": [1, 2], "class": "terminal", "retries": 1}"#, "known are"),
      (#"{"closeCodes": [1, 2], "class": "transient", "retryLimit": 256}"#, "0 to 255"),
      (#"{"httpStatuses": [-1, 2], "class": "terminal"}"#, "0 to 65535"),
      (#"{"closeCodes": [1, 2]}"#, "class"),
    ])
  func refuses(json: String, hint: String) {
    let error = #expect(throws: DecodingError.self) { try decoded(json) }
    #expect(error.map { "\($0)".contains(hint) } == true, "\(String(describing: error))")
  }

  @Test("a delay beyond an hour is refused by the policy that it stands in")
  func tooLong() {
    let json = """
      {"overrides": [{"closeCodes": [1, 2], "class": "transient", "minimumDelay": 3601}]}
      """
    #expect(throws: PolicyError.self) {
      try JSONDecoder().decode(Policy.self, from: Data(json.utf8))
    }
  }
}
