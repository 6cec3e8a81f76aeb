import ConnectionFSM
import NetSim
import Transports

/// What stories are drawn and what runs them, as the command line has it.
enum ProfileName: String, CaseIterable {
  /// The machine alone, with a referee as its owner.
  case machine
  /// A connection over lines over simulated bytes.
  case connection
  /// The same over a WebSocket.
  case websocket

  func profile() throws(Failure) -> CheckProfile {
    switch self {
    case .machine: return .machine
    case .connection:
      do throws(FramingError) {
        let engine = try DelimiterFraming.ofScenarios()
        return .connection { engine }
      } catch {
        throw Failure(.failed, "check: \(error)")
      }
    case .websocket: return .connection(over: .webSocket, named: rawValue, Self.webSocket)
    }
  }
}

extension ProfileName {
  private static func webSocket(of scenario: Scenario) throws -> StreamSimulation {
    try WebSocketTalk(seed: scenario.seed).simulation(of: scenario, seed: scenario.seed)
  }
}

extension DelimiterFraming {
  /// The protocol of `serve`, over which scenarios are run: lines that are echoed, and pings among
  /// them.
  static func ofScenarios() throws(FramingError) -> DelimiterFraming {
    try DelimiterFraming(delimiter: .lf, acknowledgement: .echo, pingLine: Array("PING".utf8))
  }
}
