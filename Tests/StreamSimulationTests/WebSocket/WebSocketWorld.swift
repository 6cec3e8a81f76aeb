import ConnectionFSM
import NetSim
import Transports

/// A client and a server, 10 ms apart if not told otherwise, and what the client's connection
/// experiences. Confined to the simulation's thread.
final class WebSocketWorld: @unchecked Sendable {
  static let port: UInt16 = 80

  let loop: SimulatedEventLoop
  let internet: SimulatedInternet
  let client: HostID
  let server: HostID
  /// How its links ended.
  private(set) var ends: [Cause] = []
  /// What was wrong with what it read.
  private(set) var problems: [WebSocketFrameError.Problem] = []
  /// What it read.
  private(set) var messages: [Message] = []
  private(set) var dials = 0
  private(set) var phase = Phase.idle
  /// What the engines of both ends told: `client 1000` where the client closed with that.
  private(set) var closes: [String] = []
  private var connection: Connection?
  private var reader: Task<Void, Never>?

  private init(
    _ loop: SimulatedEventLoop, latency: TimeSpan, buffer: Int?, chunking: Chunking
  ) {
    self.loop = loop
    var system = OperatingSystem.linux
    if let buffer { (system.sendBuffer, system.receiveBuffer) = (buffer, buffer) }
    var world = Internet(seed: 1)
    client = world.addHost("client", link: .constant(latency), system: system)
    server = world.addHost("server", system: system)
    world.chunking = chunking
    internet = SimulatedInternet(world, on: loop)
  }

  /// Lives in it, until the body has ended and the connection is closed.
  static func run<Value>(
    latency: TimeSpan = .milliseconds(10), buffer: Int? = nil, chunking: Chunking = .whole,
    _ body: @escaping (WebSocketWorld) async throws -> Value
  ) throws -> Value {
    try VirtualTime.run { loop in
      let world = WebSocketWorld(loop, latency: latency, buffer: buffer, chunking: chunking)
      let value = try await body(world)
      await world.connection?.close()
      world.reader?.cancel()
      await world.reader?.value
      return value
    }
  }

  func sleep(_ span: Duration) async throws { try await loop.clock.sleep(for: span) }

  /// Connects to the server.
  @discardableResult
  func connect(
    limits: WebSocketLimits = .standard, compression: WebSocketCompression? = nil,
    redirectLimit: Int = 0
  ) throws -> Connection {
    let url = try WebSocketURL("ws://server/")
    let options = try WebSocketOptions(
      url, compression: compression, limits: limits, redirectLimit: redirectLimit,
      random: .seeded(7), notice: { [self] in note("server", $0) })
    let policy = try Policy(
      connectDeadline: .seconds(60), closeDeadline: .seconds(5),
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
      heartbeat: nil, lanes: [Lane(.atMostOnce, timeToLive: nil, countLimit: 100, window: 100)])
    let transport = StreamTransport(internet.dialer(from: client)) {
      WebSocketEngine(options)
    }
    let connection = try Connection(transport, policy: policy, seed: 1, monitors: [self]) {
      [self] record in
      phase = record.to
      for effect in record.effects {
        switch effect {
        case .ended(_, let cause): ends.append(cause)
        case .openTransport: dials += 1
        case _: break
        }
      }
    }
    let heard = connection.messages()
    reader = loop.task("reader") { [self] in
      do { for try await message in heard { messages.append(message) } } catch {}
    }
    connection.connect(to: url.endpoint)
    self.connection = connection
    return connection
  }

  /// A server whose engine is that of the package, which echoes.
  func serve(
    compression: WebSocketCompression? = nil, fault: WebSocketFault = .none,
    limits: WebSocketLimits = .standard,
    _ respond: @escaping (Message, SimulatedServer<WebSocketServerEngine>.Client) -> Void = {
      $1.send($0)
    }
  ) -> SimulatedServer<WebSocketServerEngine> {
    var options = WebSocketServerOptions(compression: compression, limits: limits, fault: fault)
    options.notice = { [self] in note("client", $0) }
    return SimulatedServer(
      internet, host: server, port: Self.port, engine: { WebSocketServerEngine(options) },
      respond: respond)
  }

  private func note(_ peer: String, _ notice: WebSocketNotice) {
    if case .closedByPeer(let code, _) = notice { closes.append("\(peer) \(code.rawValue)") }
  }
}

extension WebSocketWorld: ConnectionMonitor {
  func connection(linkOf epoch: Epoch, failedWith error: any Error) {
    if let error = error as? WebSocketFrameError { problems.append(error.problem) }
  }
}
