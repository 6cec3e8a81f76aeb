import ConnectionFSM
import NetSim
import Transports

/// A connection over a WebSocket in the weather of a seed.
///
/// The seed also says how the two ends talk: how long their frames are, and, in every third story,
/// how they compress.
enum WebSocketSwarm {
  static func simulation(ofSeed seed: UInt64) throws -> StreamSimulation {
    let fragment = [125, 1000, 20_000, 128 << 10][Int(seed / 3 % 4)]
    let limits = try WebSocketLimits(fragmentLength: fragment)
    let compression = seed % 3 == 0 ? try Self.compression(ofSeed: seed) : nil
    let options = try WebSocketOptions(
      WebSocketURL("ws://server:4000/talk"), compression: compression, limits: limits,
      random: .seeded(seed))
    let serverOptions = WebSocketServerOptions(compression: compression, limits: limits)
    return try StreamSimulation(StreamSwarm.scenario(seed: seed), seed: seed) {
      EchoAcknowledged(WebSocketEngine(options))
    } serverEngine: {
      WebSocketServerEngine(serverOptions)
    }
  }

  private static func compression(ofSeed seed: UInt64) throws -> WebSocketCompression {
    let isOdd = seed & 1 == 1
    return try WebSocketCompression(
      level: Int(seed / 3 % 10), threshold: isOdd ? 0 : 100,
      clientWindowBits: 9 + Int(seed / 30 % 7), clientTakesContextOver: isOdd,
      serverTakesContextOver: seed & 2 == 2)
  }
}
