import ConnectionFSM
import Foundation
import NetSim

/// Reads scenarios from files and from the built-in ones.
enum ScenarioFile {
  // The longest regression is some kilobytes; a device that never ends must not fill the memory.
  private static let sizeLimit = 16 << 20

  static func read(_ path: String) throws(Failure) -> Scenario {
    try decode(try bytes(of: path), from: path)
  }

  static func builtIn(_ name: String) throws(Failure) -> Scenario {
    guard let scenario = BuiltInScenario.named(name) else {
      let names = BuiltInScenario.all.map(\.name).joined(separator: ", ")
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

  private static func bytes(of path: String) throws(Failure) -> Data {
    guard let file = fopen(path, "r") else { throw unreadable(path, errno) }
    defer { fclose(file) }
    var bytes = Data()
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= sizeLimit {
      let count = fread(&chunk, 1, chunk.count, file)
      bytes.append(contentsOf: chunk[..<count])
      if count < chunk.count {
        if ferror(file) != 0 { throw unreadable(path, errno) }
        return bytes
      }
    }
    throw Failure(.badData, "\(path): is above 16 MiB, which no scenario needs")
  }

  private static func unreadable(_ path: String, _ problem: Int32) -> Failure {
    let words = String(cString: strerror(problem))
    return Failure(
      .noInput, "\(path): \(words); built-in scenarios are run with --scenario NAME")
  }
}
