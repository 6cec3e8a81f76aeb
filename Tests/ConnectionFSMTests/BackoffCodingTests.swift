import ConnectionFSM
import Foundation
import Testing

@Suite("Backoff as JSON")
struct BackoffCodingTests {
  private func decode(_ json: String) throws -> Backoff {
    try JSONDecoder().decode(Backoff.self, from: Data(json.utf8))
  }

  private func refusal(_ json: String) -> String? {
    do {
      _ = try decode(json)
      return nil
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test("a preset's name stands for its knobs, and a knob beside it overrides")
  func presets() throws {
    for preset in Backoff.Preset.allCases {
      #expect(try decode(#"{"preset": "\#(preset)"}"#) == Backoff(preset))
    }
    var changed = Backoff(.signalR)
    changed.jitter = .equal
    changed.attemptLimit = nil
    let json = #"{"preset": "signalR", "jitter": "equal", "attemptLimit": null}"#
    #expect(try decode(json) == changed)
  }

  private static let strategies: [(String, Backoff.Strategy)] = [
    (#""constant""#, .constant), (#""linear""#, .linear), (#""doubling""#, .doubling),
    (#"{"exponential": 160}"#, .exponential(percent: 160)),
    (
      #"{"table": [0, 0.25, 2]}"#,
      .table([.zero, .milliseconds(250), .seconds(2)])
    ),
  ]

  @Test("each strategy has a spelling", arguments: strategies)
  func strategy(json: String, strategy: Backoff.Strategy) throws {
    #expect(try decode(#"{"strategy": \#(json)}"#) == Backoff(strategy: strategy))
  }

  private static let jitters: [(String, Backoff.Jitter)] = [
    (#""none""#, .none), (#""full""#, .full), (#""equal""#, .equal),
    (#""decorrelated""#, .decorrelated), (#"{"within": 20}"#, .within(percent: 20)),
    (#"{"above": 15}"#, .above(percent: 15)), (#"{"added": 0.1}"#, .added(.milliseconds(100))),
    (#"{"fullOver": 0.5}"#, .fullOver(.milliseconds(500))),
  ]

  @Test("each jitter has a spelling, for the first wait too", arguments: jitters)
  func jitter(json: String, jitter: Backoff.Jitter) throws {
    #expect(try decode(#"{"jitter": \#(json)}"#) == Backoff(jitter: jitter))
    #expect(try decode(#"{"firstJitter": \#(json)}"#) == Backoff(firstJitter: jitter))
  }

  @Test("what is written reads back as the same")
  func roundTrip() throws {
    var all = Backoff.Preset.allCases.map { Backoff($0) }
    all += Self.strategies.map { Backoff(strategy: $0.1, elapsedLimit: .seconds(300)) }
    all += Self.jitters.map { Backoff(jitter: $0.1, firstJitter: $0.1) }
    for backoff in all {
      let data = try JSONEncoder().encode(backoff)
      #expect(try JSONDecoder().decode(Backoff.self, from: data) == backoff)
    }
  }

  private static let refusals: [(String, String)] = [
    (
      #"{"preset": "grcp"}"#,
      "unknown value “grcp”; known are xt, doubling, grpc, signalR, phoenix, socketIO, nats, "
        + "actionCable, centrifuge, awsStandard"
    ),
    (
      #"{"strategy": "cubic"}"#,
      "unknown value “cubic”; known are constant, linear, doubling, and objects with exponential, "
        + "table"
    ),
    (
      #"{"strategy": {"exponental": 160}}"#,
      "unknown key “exponental”; known are exponential, table"
    ),
    (
      #"{"strategy": {"exponential": 160, "table": [1]}}"#,
      "must have one key of exponential, table"
    ),
    (#"{"strategy": {}}"#, "must have one key of exponential, table"),
    (
      #"{"jitter": "half"}"#,
      "unknown value “half”; known are none, full, equal, decorrelated, and objects with within, "
        + "above, added, fullOver"
    ),
    (#"{"jitter": {"over": 1}}"#, "unknown key “over”; known are within, above, added, fullOver"),
    (
      #"{"presets": "xt"}"#,
      "unknown key “presets”; known are preset, strategy, first, base, cap, jitter, firstJitter, "
        + "stability, attemptLimit, elapsedLimit"
    ),
  ]

  @Test("an unknown name is refused with the list of the known ones", arguments: refusals)
  func refuses(json: String, expected: String) {
    #expect(refusal(json) == expected)
  }
}
