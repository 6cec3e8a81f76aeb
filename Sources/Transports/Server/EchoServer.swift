package import ConnectionFSM

/// Sends every line back, or misbehaves on purpose. For tests and demonstrations.
///
/// Everything of it happens on its loop.
package final class EchoServer {
  /// How it misbehaves.
  package enum Fault: Equatable, Sendable {
    /// Not at all.
    case none
    /// Nobody listens: whoever dials is refused.
    case refuse
    /// Accepts and closes at once.
    case acceptAndDrop
    /// Reads and never answers.
    case mute
    /// Resets the connection after so many lines.
    case reset(afterLines: Int)
    /// Stops to write after so many lines, and goes on reading.
    case halfClose(afterLines: Int)
    /// Sends each line back so much later.
    case slow(TimeSpan)
  }

  /// What happens, for a log.
  package enum Event: Sendable {
    case accepted(Int)
    case line(Int, [UInt8])
    case ended(Int, String)
  }

  private let loop: SocketEventLoop
  private let fault: Fault
  private let log: (Event) -> Void
  private var listener: TCPListener?
  private var connections: [Int: EchoConnection] = [:]
  private var lastNumber = 0

  /// Makes a server that does not listen yet.
  package init(
    loop: SocketEventLoop, fault: Fault = .none, log: @escaping (Event) -> Void = { _ in }
  ) {
    self.loop = loop
    self.fault = fault
    self.log = log
  }

  /// How many connections are open.
  package var connectionCount: Int { connections.count }

  /// Listens.
  /// - Returns: The port that was bound, for a port of 0.
  /// - Throws: ``ListenError``.
  package func start(host: String = "127.0.0.1", port: UInt16 = 0) throws(ListenError) -> UInt16 {
    let listener = TCPListener(loop: loop) { [unowned self] in accept($0) }
    let bound = try listener.start(host: host, port: port, isDeaf: fault == .refuse)
    self.listener = listener
    return bound
  }

  /// Ends like a killed process: listener and connections are gone at once.
  package func kill() {
    listener?.stop()
    listener = nil
    // Any order will do: each is closed on its own.
    let all = connections
    connections = [:]
    for connection in all.values { connection.close() }
  }

  private func accept(_ stream: TCPStream) -> any ByteStreamObserver {
    lastNumber += 1
    let number = lastNumber
    let connection = EchoConnection(loop: loop, stream: stream, fault: fault) {
      [unowned self] event in
      switch event {
      case .line(let line): log(.line(number, line))
      case .ended(let how):
        connections[number] = nil
        log(.ended(number, how))
      }
    }
    connections[number] = connection
    log(.accepted(number))
    if fault == .acceptAndDrop { connection.end("dropped") }
    return connection
  }
}
