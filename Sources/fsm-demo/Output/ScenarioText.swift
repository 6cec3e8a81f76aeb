import Foundation
import NetSim

/// A scenario as a file that a person reads: one line a step, time first.
enum ScenarioText {
  /// The longest line that is not broken into several.
  private static let width = 92

  static func text(of scenario: Scenario) -> String {
    var lines = [
      "\"version\": \(scenario.version), \"name\": \(json(scenario.name)), "
        + "\"seed\": \(scenario.seed),"
    ]
    if let about = scenario.about { lines.append("\"about\": \(json(about)),") }
    if let client = scenario.client { lines.append("\"client\": \(json(client)),") }
    if let unconsumed = scenario.unconsumed { lines.append("\"unconsumed\": \(json(unconsumed)),") }
    lines += policy(of: scenario).split(separator: "\n").map(String.init)
    lines.append("\"steps\": [")
    lines += [scenario.steps.map { "  " + text(of: $0) }.joined(separator: ",\n  ")]
    lines.append("]")
    return "{\n  " + lines.joined(separator: "\n  ") + "\n}\n"
  }

  /// The knobs that are not at their defaults: in one line, if it is short.
  private static func policy(of scenario: Scenario) -> String {
    let line = "\"policy\": \(json(scenario.policy)),"
    if line.count <= width { return line }
    return "\"policy\": \(json(scenario.policy, .prettyPrinted)),"
  }

  private static func text(of step: Scenario.Step) -> String {
    var parts = ["\"t\": \(json(step.t))", "\"ev\": \(json(step.ev))"]
    if let arg = step.arg { parts.append("\"arg\": \(json(arg))") }
    if let lane = step.lane { parts.append("\"lane\": \(lane)") }
    if let bytes = step.bytes { parts.append("\"bytes\": \(bytes)") }
    if let note = step.note { parts.append("\"note\": \(json(note))") }
    let line = "{ " + parts.joined(separator: ", ") + " }"
    return line.count <= width
      ? line : "{\n      " + parts.joined(separator: ",\n      ") + "\n    }"
  }

  private static func json(
    _ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = []
  ) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, formatting]
    // Text, finite numbers and what is made of them: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(value) else {
      preconditionFailure("unencodable scenario")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
