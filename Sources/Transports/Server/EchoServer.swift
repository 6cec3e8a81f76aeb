package import ConnectionFSM

/// Sends everything back.
package final class EchoProgram: ServerProgram {
  private let unanswered: [UInt8]?

  /// Makes a program.
  /// - Parameter unanswered: A message that is not sent back: a heartbeat.
  package init(unanswered: [UInt8]? = nil) { self.unanswered = unanswered }

  package func received(_ message: Message, from client: Int) -> [ServerDeed] {
    message.bytes == unanswered ? [] : [.send(message, to: client)]
  }
}

/// Sends every line back.
package typealias EchoServer = Server<TCPStream, DelimiterFraming>

extension EchoServer {
  /// Makes a server of lines, up to 1 MiB each, that does not listen yet.
  package convenience init(
    loop: SocketEventLoop, fault: ServerFault = .none,
    log: @escaping (ServerEvent) -> Void = { _ in }
  ) {
    let lines = try! DelimiterFraming(delimiter: .lf, maximumLength: 1 << 20)  // both within bounds
    self.init(loop: loop, fault: fault, engine: { lines }, program: EchoProgram(), log: log)
  }
}
