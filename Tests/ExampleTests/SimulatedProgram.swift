import ConnectionFSM
import NetSim
import Transports

/// Runs a server's program on a simulated host: the very program that runs on sockets.
final class SimulatedProgram<Engine: ProtocolEngine> {
  private let program: any ServerProgram
  private var server: SimulatedServer<Engine>?

  init(
    _ program: any ServerProgram, on internet: SimulatedInternet, host: HostID, port: UInt16,
    engine: @escaping () -> Engine
  ) {
    self.program = program
    server = SimulatedServer(
      internet, host: host, port: port, engine: engine,
      arrived: { program.arrived($0.number) },
      left: { program.left($0.number) },
      respond: { [weak self] message, client in
        for deed in program.received(message, from: client.number) { self?.perform(deed) }
      })
  }

  var acceptedCount: Int { server?.acceptedCount ?? 0 }
  var connectionCount: Int { server?.connectionCount ?? 0 }

  func broadcast(_ message: Message) { server?.broadcast(message) }

  private func perform(_ deed: ServerDeed) {
    switch deed {
    case .send(let message, let number): server?.send(message, to: number)
    case .close(let number): server?.close(number)
    }
  }
}
