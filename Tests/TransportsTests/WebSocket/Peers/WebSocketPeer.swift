#if os(Linux)
  import ConnectionFSM
  import Foundation
  import Testing
  import Transports

  /// A WebSocket server of another make; Fixtures/websocket-peers/README.md tells what it does.
  struct WebSocketPeer {
    enum Make: CaseIterable {
      case websockets, aiohttp, ws
    }

    let program: PeerProgram
    let port: UInt16

    init(_ make: Make) async throws {
      // Debian's own Python has Debian's packages; the first in PATH may be another.
      let (interpreter, script) =
        switch make {
        case .websockets: ("/usr/bin/python3", "websockets_server.py")
        case .aiohttp: ("/usr/bin/python3", "aiohttp_server.py")
        case .ws: ("node", "ws_server.js")
        }
      program = try await PeerProgram.start(
        "env", [interpreter, Self.fixture(script)], readiness: .output("port "))
      port = try #require(program.line(after: "port ").flatMap { UInt16($0) })
    }

    func kill() { program.kill() }

    static func fixture(_ name: String) -> String {
      Bundle.module.bundlePath + "/Fixtures/websocket-peers/" + name
    }
  }

  /// nginx as a proxy that speaks TLS, before a server of another make.
  final class WebSocketProxy {
    let program: PeerProgram
    let port: UInt16
    private let folder: SocketDirectory

    /// - Parameter idle: Seconds until it ends a connection on which nothing happens.
    init(before server: WebSocketPeer, _ identity: TLSIdentity, idle: Int) async throws {
      folder = try SocketDirectory()
      port = freePort()
      let template = try String(
        contentsOfFile: WebSocketPeer.fixture("nginx.conf"), encoding: .utf8)
      let files = [
        "certificate.pem": identity.certificates.content, "key.pem": identity.key.content,
        "nginx.conf":
          template
          .replacingOccurrences(of: "@FOLDER@", with: folder.path)
          .replacingOccurrences(of: "@PORT@", with: "\(port)")
          .replacingOccurrences(of: "@SERVER@", with: "\(server.port)")
          .replacingOccurrences(of: "@IDLE@", with: "\(idle)s"),
      ]
      for (name, content) in files {
        try content.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
      }
      program = try await PeerProgram.start(
        "nginx", ["-c", folder.file("nginx.conf"), "-e", "stderr"], readiness: .port(port))
    }

    func kill() {
      program.kill()
      folder.remove()
    }
  }

  /// A connection to such a server, on a loop of its own, and what was heard of it.
  final class WebSocketTalk: Sendable {
    let loop: SocketEventLoop
    let connection: Connection
    let journal = Journal()
    /// “agreed”, “agreed compressed” and “closed CODE REASON”.
    let notices = Tally()
    /// “pong”, once for each.
    let pongs = Tally()
    let url: WebSocketURL

    private static let longestMessage = 64 << 20

    /// - Parameters:
    ///   - tls: Whom to trust; without it the link is plain.
    ///   - firstDelay: From an end to the next dial.
    init(
      _ port: UInt16, compression: WebSocketCompression? = nil,
      farewell: WebSocketClose = .normal, tls: TLSConfiguration? = nil,
      firstDelay: TimeSpan = .seconds(600), heartbeat: Heartbeat? = nil
    ) throws {
      loop = try SocketEventLoop()
      url = try WebSocketURL("\(tls == nil ? "ws" : "wss")://127.0.0.1:\(port)/chat?room=1")
      let notices = notices
      let options = try WebSocketOptions(
        url, compression: compression,
        limits: WebSocketLimits(
          maximumMessageLength: Self.longestMessage, maximumOutgoingLength: Self.longestMessage),
        farewell: farewell
      ) { notices.add(Self.word($0)) }
      let (journal, pongs) = (journal, pongs)
      let trace: @Sendable (TraceRecord) -> Void = { record in
        journal.record(record)
        if case .transport(_, .pong) = record.input { pongs.add("pong") }
      }
      let policy = try Policy(
        backoff: Backoff(first: firstDelay, base: firstDelay, cap: firstDelay, jitter: .none),
        minimumDialSpacing: .milliseconds(1), heartbeat: heartbeat,
        lanes: [Lane(.atMostOnce, timeToLive: nil, byteLimit: UInt32(Self.longestMessage))])
      let dialer = SchemeDialer(
        TCPDialer(loop: loop), configuration: try tls ?? TLSConfiguration())
      connection = try Connection(
        StreamTransport(dialer) { WebSocketEngine(options) }, policy: policy, seed: 1,
        trace: trace)
      connection.connect(to: url.endpoint)
    }

    private static func word(_ notice: WebSocketNotice) -> String {
      switch notice {
      case .agreed(let agreement):
        agreement.compression == nil ? "agreed" : "agreed compressed"
      case .closedByPeer(let code, let reason): "closed \(code.rawValue) \(reason)"
      }
    }

    /// Says something and gives what comes next.
    func ask(_ message: Message) async throws -> Message? {
      var heard = connection.messages().makeAsyncIterator()
      try await connection.send(message)
      return try await heard.next()
    }

    /// Comes back once the link has ended, and says why.
    func end() async -> Cause? {
      await loop.until { [journal] in !journal.causes.isEmpty }
      return journal.causes.first
    }

    func stop() async {
      await connection.close()
      loop.stop()
    }
  }
#endif
