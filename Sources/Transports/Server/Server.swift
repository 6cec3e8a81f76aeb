package import ConnectionFSM

/// A stream that a server accepted.
package protocol ServedStream: ByteStream {
  /// Closes with a reset: what a crashed or hostile peer does.
  func reset()
}

extension TCPStream: ServedStream {}

/// What a ``Server`` does about what it hears. One program serves all of its connections, which are
/// counted from 1 in order of arrival; everything of it happens on the server's loop.
package protocol ServerProgram: AnyObject {
  /// A connection is there.
  func arrived(_ client: Int)

  /// A message arrived.
  /// - Returns: What to do about it, in order.
  func received(_ message: Message, from client: Int) -> [ServerDeed]

  /// A connection has ended.
  func left(_ client: Int)
}

extension ServerProgram {
  package func arrived(_ client: Int) {}
  package func left(_ client: Int) {}
}

/// What a program wants done. A connection that has ended is left alone.
package enum ServerDeed {
  case send(Message, to: Int)
  /// End it in the protocol's order.
  case close(Int)
}

/// What happens at a server, for a log.
package enum ServerEvent: Sendable {
  case accepted(Int)
  case message(Int, Message)
  case ended(Int, String)
}

/// A server of any protocol of which there is an engine, which can misbehave on purpose. For tests
/// and demonstrations: there is no limit on connections.
///
/// Everything of it happens on its loop.
package final class Server<Stream: ServedStream, Engine: ProtocolEngine> {
  /// Makes the stream of an accepted connection, whose readiness goes to the observer, and what
  /// observes the connection below.
  package typealias Accepting = (TCPStream, any ByteStreamObserver) -> (
    stream: Stream, observer: any ByteStreamObserver
  )

  private let loop: SocketEventLoop
  private let fault: ServerFault
  private let accepting: Accepting
  private let makeEngine: () -> Engine
  private let program: any ServerProgram
  private let log: (ServerEvent) -> Void
  private let buffer: ReadBuffer
  private var listener: TCPListener?
  private var connections: [Int: ServerConnection<Stream, Engine>] = [:]
  private var lastNumber = 0

  /// Makes a server that does not listen yet.
  package init(
    loop: SocketEventLoop, fault: ServerFault, accepting: @escaping Accepting,
    engine: @escaping () -> Engine, program: any ServerProgram,
    log: @escaping (ServerEvent) -> Void = { _ in }
  ) {
    self.loop = loop
    self.fault = fault
    self.accepting = accepting
    buffer = .shared(on: loop)
    makeEngine = engine
    self.program = program
    self.log = log
  }

  /// How many connections are open.
  package var connectionCount: Int { connections.count }

  /// Listens.
  /// - Returns: The port that was bound, for a port of 0.
  /// - Throws: ``ListenError``.
  package func start(host: String = "127.0.0.1", port: UInt16 = 0) throws(ListenError) -> UInt16 {
    let listener = makeListener()
    let bound = try listener.start(host: host, port: port, isDeaf: fault == .refuse)
    self.listener = listener
    return bound
  }

  /// Listens at a path of the file system.
  /// - Throws: ``ListenError``.
  package func start(path: String) throws(ListenError) {
    let listener = makeListener()
    try listener.start(path: path)
    self.listener = listener
  }

  private func makeListener() -> TCPListener {
    TCPListener(loop: loop) { [unowned self] in accept($0) }
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

  /// Sends a message to every connection, in order of arrival.
  package func broadcast(_ message: Message) {
    for number in connections.keys.sorted() { perform(.send(message, to: number)) }
  }

  /// Ends every connection in the protocol's order.
  package func closeAll() {
    for number in connections.keys.sorted() { perform(.close(number)) }
  }

  private func perform(_ deed: ServerDeed) {
    switch deed {
    case .send(let message, let number): connections[number]?.send(message)
    case .close(let number): connections[number]?.link.close()
    }
  }

  private func accept(_ accepted: TCPStream) -> any ByteStreamObserver {
    lastNumber += 1
    let number = lastNumber
    let connection = ServerConnection<Stream, Engine>(
      number: number, engine: makeEngine(), loop: loop, buffer: buffer, fault: fault
    ) { [unowned self] event in
      switch event {
      case .message(let message):
        log(.message(number, message))
      case .due(let message):
        for deed in program.received(message, from: number) { perform(deed) }
      case .ended(let how):
        connections[number] = nil
        log(.ended(number, how))
        program.left(number)
      }
    }
    connections[number] = connection
    log(.accepted(number))
    program.arrived(number)
    let (stream, observer) = accepting(accepted, connection.link)
    connection.begin(stream)
    return observer
  }
}

extension Server where Stream == TCPStream {
  /// Makes a server over plain TCP that does not listen yet.
  package convenience init(
    loop: SocketEventLoop, fault: ServerFault = .none, engine: @escaping () -> Engine,
    program: any ServerProgram, log: @escaping (ServerEvent) -> Void = { _ in }
  ) {
    self.init(
      loop: loop, fault: fault,
      accepting: { stream, observer in
        // Open already; the listener starts it once it has the observer.
        observer.streamOpened()
        return (stream, observer)
      },
      engine: engine, program: program, log: log)
  }
}

#if os(Linux)
  extension Server where Stream == TLSStream<TCPStream> {
    /// Makes a server over TLS that does not listen yet.
    package convenience init(
      loop: SocketEventLoop, context: TLSServerContext, fault: ServerFault = .none,
      engine: @escaping () -> Engine, program: any ServerProgram,
      log: @escaping (ServerEvent) -> Void = { _ in }
    ) {
      self.init(
        loop: loop, fault: fault,
        accepting: { accepted, observer in
          let stream = context.accept(accepted, on: loop)
          return (stream, stream.start(observer: observer))
        },
        engine: engine, program: program, log: log)
    }
  }
#endif
