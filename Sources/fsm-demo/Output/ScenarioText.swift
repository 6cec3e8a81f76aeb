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
    if let over = scenario.over { lines.append("\"over\": \(json(over)),") }
    if let unconsumed = scenario.unconsumed { lines.append("\"unconsumed\": \(json(unconsumed)),") }
    let policy = PolicyText.lines(of: scenario.policy, width: width - 12)
    lines.append("\"policy\": \(policy.joined(separator: "\n  ")),")
    lines.append("\"steps\": [")
    lines += [scenario.steps.map { "  " + text(of: $0) }.joined(separator: ",\n  ")]
    lines.append("]")
    return "{\n  " + lines.joined(separator: "\n  ") + "\n}\n"
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

  private static func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    // Text and finite numbers: there is nothing here that JSON cannot say.
    guard let bytes = try? encoder.encode(value) else {
      preconditionFailure("unencodable scenario")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
