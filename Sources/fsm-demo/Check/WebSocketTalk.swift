import ConnectionFSM
package import NetSim
import Transports

/// How the two ends of a drawn story over a WebSocket talk, by its seed: how long their frames are,
/// and in every third story how they compress.
package struct WebSocketTalk: Sendable {
  private let options: WebSocketOptions
  private let serverOptions: WebSocketServerOptions

  /// Draws it.
  package init(seed: UInt64) throws {
    let fragment = [125, 1000, 20_000, 128 << 10][Int(seed / 3 % 4)]
    let limits = try WebSocketLimits(fragmentLength: fragment)
    let compression = Self.compresses(seed) ? try Self.compression(seed: seed) : nil
    options = try WebSocketOptions(
      WebSocketURL("ws://server:4000/talk"), compression: compression, limits: limits,
      random: .seeded(seed))
    serverOptions = WebSocketServerOptions(compression: compression, limits: limits)
  }

  /// Whether its messages are compressed: then zlib's version has its say in what befalls whom.
  package static func compresses(_ seed: UInt64) -> Bool { seed % 3 == 0 }

  private static func compression(seed: UInt64) throws -> WebSocketCompression {
    let isOdd = seed & 1 == 1
    return try WebSocketCompression(
      level: Int(seed / 3 % 10), threshold: isOdd ? 0 : 100,
      clientWindowBits: 9 + Int(seed / 30 % 7), clientTakesContextOver: isOdd,
      serverTakesContextOver: seed & 2 == 2)
  }

  /// A run of a scenario in which they talk so.
  package func simulation(
    of scenario: Scenario, seed: UInt64
  ) throws(ScenarioError) -> StreamSimulation {
    let (options, serverOptions) = (options, serverOptions)
    return try StreamSimulation(scenario, seed: seed) {
      EchoAcknowledged(WebSocketEngine(options))
    } serverEngine: {
      WebSocketServerEngine(serverOptions)
    }
  }
}
