package import ConnectionFSM

/// A stream that a server accepted.
package protocol ServedStream: ByteStream {
  /// Closes with a reset: what a crashed or hostile peer does.
  func reset()
}

extension TCPStream: ServedStream {}

/// A server of any protocol of which there is an engine, which can misbehave on purpose. For tests
/// and demonstrations: there is no limit on connections.
///
/// Everything of it happens on its loop.
package final class Server<Stream: ServedStream, Engine: ProtocolEngine> {
  /// Who sent a message.
  package struct Client {
    fileprivate let connection: ServerConnection<Stream, Engine>

    /// Which connection, counted from 1 in order of arrival.
    package var number: Int { connection.number }

    /// Sends it a message.
    package func send(_ message: Message) { connection.send(message) }

    /// Ends it in the protocol's order.
    package func close() { connection.link.close() }
  }

  /// Makes the stream of an accepted connection; its readiness goes to the observer.
  package typealias Accepting = (TCPStream, any ByteStreamObserver) -> (
    stream: Stream, observer: any ByteStreamObserver
  )

  private let loop: SocketEventLoop
  private let fault: ServerFault
  private let accepting: Accepting
  private let makeEngine: () -> Engine
  private let log: (ServerEvent) -> Void
  private let left: (Client) -> Void
  private let respond: (Message, Client) -> Void
  private let buffer = ReadBuffer()
  private var listener: TCPListener?
  private var connections: [Int: ServerConnection<Stream, Engine>] = [:]
  private var lastNumber = 0

  /// Makes a server that does not listen yet.
  /// - Parameters:
  ///   - loop: Where it lives.
  ///   - fault: How it misbehaves.
  ///   - accepting: Makes the stream of an accepted connection.
  ///   - engine: Makes an engine for each connection.
  ///   - log: Hears what happens.
  ///   - left: Hears of a connection that has ended.
  ///   - respond: Gets each message, and whom it came from.
  package init(
    loop: SocketEventLoop, fault: ServerFault, accepting: @escaping Accepting,
    engine: @escaping () -> Engine, log: @escaping (ServerEvent) -> Void = { _ in },
    left: @escaping (Client) -> Void = { _ in }, respond: @escaping (Message, Client) -> Void
  ) {
    self.loop = loop
    self.fault = fault
    self.accepting = accepting
    makeEngine = engine
    self.log = log
    self.left = left
    self.respond = respond
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
    for connection in all.values { connection.letGo() }
  }

  /// Sends a message to the connection of that number, if it is there.
  package func send(_ message: Message, to number: Int) { connections[number]?.send(message) }

  /// Sends a message to every connection, in order of arrival.
  package func broadcast(_ message: Message) {
    for number in connections.keys.sorted() { send(message, to: number) }
  }

  /// Ends the connection of that number in the protocol's order.
  package func close(_ number: Int) { connections[number]?.link.close() }

  /// Ends every connection in the protocol's order.
  package func closeAll() {
    for number in connections.keys.sorted() { close(number) }
  }

  private func accept(_ accepted: TCPStream) -> any ByteStreamObserver {
    lastNumber += 1
    let number = lastNumber
    let connection = ServerConnection<Stream, Engine>(
      number: number, engine: makeEngine(), loop: loop, buffer: buffer, fault: fault
    ) { [unowned self] connection, event in
      switch event {
      case .message(let message):
        log(.message(number, message))
      case .due(let message):
        respond(message, Client(connection: connection))
      case .ended(let how):
        connections[number] = nil
        log(.ended(number, how))
        left(Client(connection: connection))
      }
    }
    connections[number] = connection
    log(.accepted(number))
    let (stream, observer) = accepting(accepted, connection.link)
    connection.begin(stream)
    return observer
  }
}

/// What happens at a server, for a log.
package enum ServerEvent: Sendable {
  case accepted(Int)
  case message(Int, Message)
  case ended(Int, String)
}

/// Sends every line back.
package typealias EchoServer = Server<TCPStream, DelimiterFraming>

extension Server where Stream == TCPStream {
  /// Makes a server over plain TCP.
  package convenience init(
    loop: SocketEventLoop, fault: ServerFault = .none, engine: @escaping () -> Engine,
    log: @escaping (ServerEvent) -> Void = { _ in }, left: @escaping (Client) -> Void = { _ in },
    respond: @escaping (Message, Client) -> Void
  ) {
    self.init(
      loop: loop, fault: fault,
      accepting: { stream, observer in
        // Open already; the listener starts it once it has the observer.
        observer.streamOpened()
        return (stream, observer)
      },
      engine: engine, log: log, left: left, respond: respond)
  }
}

extension EchoServer {
  /// Makes a server of lines, up to 1 MiB each, that does not listen yet.
  package convenience init(
    loop: SocketEventLoop, fault: ServerFault = .none,
    log: @escaping (ServerEvent) -> Void = { _ in }
  ) {
    let lines = try! DelimiterFraming(delimiter: .lf, maximumLength: 1 << 20)  // both within bounds
    self.init(
      loop: loop, fault: fault, engine: { lines }, log: log,
      respond: { message, client in client.send(message) })
  }
}
