import ConnectionFSM
import Foundation
import NetSim

/// A kind of client that a fleet consists of.
struct FleetClient: Sendable {
  /// As the user named it.
  let name: String
  let policy: Policy
  let start: FleetSimulation.Start

  /// Those that show most, when the user names none.
  static let usual = ["default", "grpc", "socketIO", "phoenix", "xt"]

  /// - Parameter name: `default`, a known client, or a file with a policy as JSON.
  init(_ name: String, connectDeadline: TimeSpan?) throws(Failure) {
    let preset = Backoff.Preset.allCases.first { "\($0)" == name }
    let given = preset == nil && name != "default" ? try Self.read(name) : nil
    do throws(PolicyError) {
      var policy: Policy
      if let given {
        policy = given
      } else if let preset {
        // As published, known clients keep no distance between dials.
        policy = try Policy(backoff: Backoff(preset), minimumDialSpacing: .zero)
      } else {
        policy = try Policy()
      }
      if let connectDeadline {
        policy = try PolicySweep.policy(
          like: policy, backoff: policy.backoff, spacing: policy.minimumDialSpacing,
          connectDeadline: connectDeadline)
      }
      self.policy = policy
    } catch {
      throw Failure(.usage, "fleet: \(name): \(error); try “fsm-demo help fleet”")
    }
    self.name = name.split(separator: "/").last.map(String.init) ?? name
    // gRPC dials a lost link at once, whatever its backoff.
    start = preset == .grpc ? .program : .lostLink
  }

  private static func unknown(_ name: String) -> Failure {
    let names = Backoff.Preset.allCases.map { "\($0)" }.joined(separator: ", ")
    return Failure(
      .usage,
      "fleet: --policy “\(name)” is unknown; there are default, \(names), and files such as "
        + "mine.json"
    )
  }

  private static func read(_ path: String) throws(Failure) -> Policy {
    // A word that is no file by its looks was meant as a name.
    guard path.contains("/") || path.contains(".") else { throw unknown(path) }
    let bytes = try InputFile.bytes(
      of: path, limit: 1 << 20, mend: "--policy takes default, a known client or a file")
    do {
      return try JSONDecoder().decode(Policy.self, from: bytes)
    } catch {
      throw Failure(.badData, "\(path): \(DecodingProblem.describe(error, in: bytes))")
    }
  }
}
