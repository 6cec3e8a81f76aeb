import ConnectionFSM
import Foundation
import NetSim

/// Reads scenarios from files and from the built-in ones.
enum ScenarioFile {
  static func read(_ path: String) throws(Failure) -> Scenario {
    // The longest regression is some kilobytes.
    let bytes = try InputFile.bytes(
      of: path, limit: 16 << 20, mend: "built-in scenarios are run with --scenario NAME")
    return try decode(bytes, from: path)
  }

  static func builtIn(_ name: String) throws(Failure) -> Scenario {
    guard let scenario = BuiltInScenario.named(name) else {
      let names = (BuiltInScenario.all.map(\.name) + Condition.all.map(\.name))
        .joined(separator: ", ")
      throw Failure(.usage, "there is no built-in scenario “\(name)”; there are \(names)")
    }
    return try decode(Data(scenario.json.utf8), from: name)
  }

  private static func decode(_ bytes: Data, from source: String) throws(Failure) -> Scenario {
    do {
      return try JSONDecoder().decode(Scenario.self, from: bytes)
    } catch {
      throw Failure(.badData, "\(source): \(DecodingProblem.describe(error, in: bytes))")
    }
  }
}
