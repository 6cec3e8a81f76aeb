import ConnectionFSM
import Synchronization
import Transports

/// A WebSocket server over loopback that answers each request as the test says, and a connection to
/// it, each on a loop of its own.
final class UpgradeWorld: Sendable {
  typealias Request = ServerHandshake.Request

  let connection: Connection
  let journal = Journal()
  /// The waits before dials, as they were drawn.
  let waits = Heap<TimeSpan>()
  /// What the server was asked.
  let requests = Heap<Request>()
  private let clientLoop: SocketEventLoop
  private let serverLoop: SocketEventLoop
  private let server = Confined<Server<TCPStream, WebSocketServerEngine>?>(nil)
  private let endpoint: Endpoint
  /// Why links failed, as the engine tells it.
  let diagnoses = Diagnoses()

  /// Runs a life in a world, and ends the world.
  /// - Parameters:
  ///   - policy: The connection's.
  ///   - authorization: Where its credentials stand.
  ///   - credentials: Who gives them.
  ///   - fault: The server's.
  ///   - program: What the server does about messages.
  ///   - decide: What it answers to a request, which is counted from 1.
  ///   - life: What happens.
  static func run(
    _ policy: Policy, authorization: WebSocketAuthorization? = nil,
    credentials: CredentialsProvider? = nil, fault: ServerFault = .none,
    program: any ServerProgram & Sendable = Deaf(),
    decide: @escaping @Sendable (Request, Int) -> WebSocketServerOptions.Decision,
    life: (UpgradeWorld) async throws -> Void
  ) async throws {
    let world = try await UpgradeWorld(
      policy, authorization, credentials, fault, program, decide)
    defer {
      world.clientLoop.stop()
      world.serverLoop.stop()
    }
    world.connection.connect(to: world.endpoint)
    try await life(world)
    await world.connection.close()
    let server = world.server
    await world.serverLoop.run {
      server.value?.kill()
      server.value = nil
    }
  }

  private init(
    _ policy: Policy, _ authorization: WebSocketAuthorization?,
    _ credentials: CredentialsProvider?, _ fault: ServerFault,
    _ program: any ServerProgram & Sendable,
    _ decide: @escaping @Sendable (Request, Int) -> WebSocketServerOptions.Decision
  ) async throws {
    clientLoop = try SocketEventLoop()
    serverLoop = try SocketEventLoop()
    let requests = requests
    let options = WebSocketServerOptions(decide: { decide($0, requests.add($0)) })
    let (loop, server) = (serverLoop, server)
    let port = await loop.run { () -> Result<UInt16, ListenError> in
      let made = Server<TCPStream, WebSocketServerEngine>(
        loop: loop, fault: fault, engine: { WebSocketServerEngine(options) }, program: program)
      server.value = made
      do throws(ListenError) { return .success(try made.start()) } catch { return .failure(error) }
    }
    endpoint = Endpoint(host: "127.0.0.1", port: try port.get())
    let client = try WebSocketOptions(
      WebSocketURL("ws://127.0.0.1:\(endpoint.port)/feed"), authorization: authorization)
    let (journal, diagnoses, waits) = (journal, diagnoses, waits)
    connection = try Connection(
      StreamTransport(TCPDialer(loop: clientLoop)) { WebSocketEngine(client) },
      policy: policy, seed: 1, credentials: credentials, monitors: [diagnoses]
    ) { record in
      journal.record(record)
      if record.to == .backingOff, record.from != .backingOff, let until = record.explanation.until
      {
        waits.add(until - record.instant)
      }
    }
  }
}

extension UpgradeWorld {
  /// Comes back once the phases that were passed end with these.
  func passes(_ phases: Phase...) async {
    let journal = journal
    await clientLoop.until { journal.phases.suffix(phases.count).elementsEqual(phases) }
  }

  func until(_ condition: @escaping @Sendable () -> Bool) async {
    await clientLoop.until(condition)
  }

  /// The values of a field in each request, in order.
  func asked(_ name: String) -> [[String]] {
    requests.all.map { $0.fields.filter { $0.name == name }.map(\.value) }
  }

  /// Opens the link, and closes it at once with that code.
  static func closed(_ request: Request, _ code: UInt16) -> WebSocketServerOptions.Decision {
    .answer(
      ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: nil)
        + ServerBytes.close(code))
  }
}

/// What has come together, from whatever thread, in order.
final class Heap<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  /// - Returns: How many there are now.
  @discardableResult
  func add(_ element: Element) -> Int {
    elements.withLock {
      $0.append(element)
      return $0.count
    }
  }

  var all: [Element] { elements.withLock { $0 } }
}

/// Does nothing about messages.
final class Deaf: ServerProgram, Sendable {
  func received(_ message: Message, from client: Int) -> [ServerDeed] { [] }
}

/// The errors behind failed links, in their own words.
final class Diagnoses: ConnectionMonitor {
  private let words = Mutex<[String]>([])

  var all: [String] { words.withLock { $0 } }

  func connection(linkOf epoch: Epoch, failedWith error: any Error) {
    words.withLock { $0.append("\(error)") }
  }
}
