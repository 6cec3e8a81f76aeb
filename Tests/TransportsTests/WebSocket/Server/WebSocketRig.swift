import ConnectionFSM
import Synchronization
import Testing
import Transports

/// A connection over a real WebSocket and the server on its other side, each on a loop of its own.
final class WebSocketRig: Sendable {
  let clientLoop: SocketEventLoop
  let serverLoop: SocketEventLoop
  let journal = WebSocketJournal()
  let connection: Connection
  let endpoint: Endpoint
  private let server = Confined<Server<TCPStream, WebSocketServerEngine>?>(nil)

  /// No second dial, so that a link's end is the connection's.
  static func policy(closeDeadline: TimeSpan = .seconds(30)) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(60), closeDeadline: closeDeadline, heartbeat: nil,
      lanes: [Lane(.atMostOnce, timeToLive: nil)], overrides: VerdictOverride.never)
  }

  /// Serves and makes a connection at rest.
  /// - Parameter url: Makes the client's URL of the server's port.
  init(
    _ serverOptions: WebSocketServerOptions = WebSocketServerOptions(),
    fault: ServerFault = .none, subprotocols: [String] = [],
    compression: WebSocketCompression? = nil, limits: WebSocketLimits = .standard,
    redirectLimit: Int = 0, policy: Policy? = nil,
    url: (UInt16) -> String = { "ws://127.0.0.1:\($0)/echo" }
  ) async throws {
    clientLoop = try SocketEventLoop()
    serverLoop = try SocketEventLoop()
    let (serverLoop, journal, held) = (serverLoop, journal, server)
    var serverOptions = serverOptions
    serverOptions.notice = { journal.serverHeard($0) }
    let options = serverOptions
    let bound = await serverLoop.run { () -> Result<UInt16, ListenError> in
      let server = Server<TCPStream, WebSocketServerEngine>(
        loop: serverLoop, fault: fault, engine: { WebSocketServerEngine(options) },
        program: EchoProgram(), log: { journal.log($0) })
      held.value = server
      do throws(ListenError) { return .success(try server.start()) } catch {
        return .failure(error)
      }
    }
    let target = try WebSocketURL(url(bound.get()))
    endpoint = target.endpoint
    let clientOptions = try WebSocketOptions(
      target, subprotocols: subprotocols, compression: compression, limits: limits,
      redirectLimit: redirectLimit, notice: { journal.clientHeard($0) })
    connection = try Connection(
      StreamTransport(TCPDialer(loop: clientLoop)) { WebSocketEngine(clientOptions) },
      policy: try policy ?? Self.policy(), seed: 1, monitors: [journal]
    ) { journal.record($0) }
  }

  /// Dials, and comes back when the link is open, or all is over.
  func open() async {
    connection.connect(to: endpoint)
    let journal = journal
    await clientLoop.until { journal.wasOpen || journal.cause != nil }
  }

  /// Comes back when the connection is at rest, with the cause.
  func ended() async -> Cause? {
    let journal = journal
    await clientLoop.until { journal.cause != nil }
    return journal.cause
  }

  /// Comes back when the server has heard a close frame, with what it says.
  func told() async -> WebSocketJournal.Close? {
    let journal = journal
    await serverLoop.until { journal.atServer != nil }
    return journal.atServer
  }

  /// Has the server send a message to everybody.
  func broadcast(_ message: Message) async {
    let server = server
    await serverLoop.run { server.value?.broadcast(message) }
  }

  func stop() async {
    let server = server
    await connection.close()
    await serverLoop.run {
      server.value?.kill()
      server.value = nil
    }
    clientLoop.stop()
    serverLoop.stop()
  }
}

/// What happened, from both loops.
final class WebSocketJournal: ConnectionMonitor {
  /// A close frame.
  struct Close: Equatable, CustomStringConvertible {
    let code: UInt16
    let reason: String
    var description: String { "\(code) “\(reason)”" }

    init(_ code: UInt16, _ reason: String = "") {
      self.code = code
      self.reason = reason
    }
  }

  private struct Entries {
    var wasOpen = false
    var cause: Cause?
    var dials: [Instant] = []
    var ends: [Instant] = []
    var diagnosis: (any Error)?
    var agreement: WebSocketAgreement?
    var atClient: Close?
    var atServer: Close?
    var endsAtServer: [String] = []
    var closing: Instant?
    var closed: Instant?
  }

  private let entries = Mutex(Entries())

  func record(_ record: TraceRecord) {
    entries.withLock { entries in
      if record.to == .open { entries.wasOpen = true }
      if record.to == .closing, record.from != .closing { entries.closing = record.instant }
      if record.to == .closed { entries.closed = record.instant }
      for effect in record.effects {
        if case .openTransport = effect { entries.dials.append(record.instant) }
        if case .ended(_, let cause) = effect {
          entries.cause = cause
          entries.ends.append(record.instant)
        }
      }
    }
  }

  func connection(linkOf epoch: Epoch, failedWith error: any Error) {
    entries.withLock { $0.diagnosis = error }
  }

  func clientHeard(_ notice: WebSocketNotice) {
    entries.withLock { entries in
      switch notice {
      case .agreed(let agreement): entries.agreement = agreement
      case .closedByPeer(let code, let reason): entries.atClient = Close(code.rawValue, reason)
      }
    }
  }

  func serverHeard(_ notice: WebSocketNotice) {
    guard case .closedByPeer(let code, let reason) = notice else { return }
    entries.withLock { $0.atServer = Close(code.rawValue, reason) }
  }

  func log(_ event: ServerEvent) {
    guard case .ended(_, let how) = event else { return }
    entries.withLock { $0.endsAtServer.append(how) }
  }

  var wasOpen: Bool { entries.withLock { $0.wasOpen } }
  /// Why the last link ended.
  var cause: Cause? { entries.withLock { $0.cause } }
  var dials: Int { entries.withLock { $0.dials.count } }
  var isAtRest: Bool { entries.withLock { $0.closed != nil } }
  var agreement: WebSocketAgreement? { entries.withLock { $0.agreement } }
  /// The close frame that the client read.
  var atClient: Close? { entries.withLock { $0.atClient } }
  /// The close frame that the server read.
  var atServer: Close? { entries.withLock { $0.atServer } }
  var endsAtServer: [String] { entries.withLock { $0.endsAtServer } }

  var frameError: WebSocketFrameError? {
    entries.withLock { $0.diagnosis as? WebSocketFrameError }
  }

  var handshakeError: WebSocketHandshakeError? {
    entries.withLock { $0.diagnosis as? WebSocketHandshakeError }
  }

  /// From the end of each link to the next dial.
  var waits: [TimeSpan] {
    entries.withLock { zip($0.dials.dropFirst(), $0.ends).map { $0 - $1 } }
  }

  /// How long the machine was closing.
  var closingTook: TimeSpan? {
    entries.withLock { entries in
      guard let closing = entries.closing, let closed = entries.closed else { return nil }
      return closed - closing
    }
  }
}
