import ConnectionFSM
import Foundation
import Synchronization
import Transports

/// A connection over a real socket, with standard input as its messages.
struct ConnectCommand: Command {
  static let name = "connect"
  static let summary = "Connect over a real socket, send standard input by lines, show the trace"
  static let help = Help.connect

  /// How long the end of the input waits for messages without an end.
  private static let patience = Duration.seconds(5)

  private let address: PeerAddress
  private let manner: Manner
  private let route: Route
  private let format: TraceFormat
  private let seed: UInt64
  /// What the protocol tells beside messages; there is nobody to hear it before the run.
  private let notices = Notices()

  init(_ arguments: inout ArgumentList) throws(Failure) {
    format = try arguments.choice(of: "--format") ?? .text
    // Two clients of one server must not draw the same waits; the trace of a run names its seed.
    seed = try arguments.number(of: "--seed", in: 0...UInt64.max) ?? .random(in: 0 ... .max)
    var rest = arguments
    // What an option says is not the endpoint.
    for option in Self.valued { _ = try rest.values(of: option) }
    address = try rest.peerAddress(serves: false)
    try arguments.refuseIdleOptions(at: address)
    route = try Route(&arguments)
    let notices = notices
    manner = try Manner(&arguments, speaking: address.speech) { notices.tell($0.words) }
    _ = try arguments.peerAddress(serves: false)
  }

  /// The options of what is spoken and of the way there that have a value.
  private static let valued = [
    "--lane", "--ping", "--heartbeat", "--xor", "--name", "--header", "--protocol", "--redirects",
    "--ca", "--pin", "--cert", "--server-name", "--proxy",
  ]

  func run() async throws(Failure) {
    switch manner {
    case .echo(let preset, let lane):
      try await talk(preset, .lines, in: lane.id, beforeOpen: true)
    case .line(let preset): try await talk(preset, .lines)
    case .wg(let preset): try await talk(preset, .objects)
    case .chat(let preset): try await talk(preset, .lines)
    case .webSocket(let preset): try await talk(preset, .lines, beforeOpen: true)
    }
  }

  private func talk<Framing: ProtocolEngine & Sendable>(
    _ preset: Preset<Framing>, _ input: ConnectSession.Input, in lane: LaneID = LaneID(0),
    beforeOpen: Bool = false
  ) async throws(Failure) {
    let loop: SocketEventLoop
    do throws(LoopError) { loop = try SocketEventLoop() } catch {
      throw Failure(.unavailable, "\(error)")
    }
    let session = ConnectSession(loop: loop, format: format)
    notices.hear { session.note($0) }
    let endpoint = address.endpoint
    let connection: Connection
    do throws(ConnectionError) {
      connection = try route.connection(
        preset, on: loop, seed: seed, monitor: session)
    } catch {
      throw Failure(.failed, "connect: \(error)")
    }
    if format == .text, isatty(STDIN_FILENO) == 1 {
      Console.print("Type lines for \(address); Ctrl-D closes politely, Ctrl-C too.\n")
    }
    TraceWriter(format).begin(policy: preset.policy, seed: seed)
    let signals = SignalSource([SIGINT, SIGTERM], on: loop) { _ in session.tell(.interrupted) }
    let arrivals = show(connection.messages(bufferingUpTo: 1 << 16), on: loop, session)
    connection.connect(to: endpoint)
    session.readInput(as: input, into: connection, lane: lane, beforeOpen: beforeOpen)
    let cause = await closing(connection, session)
    // Whatever was under way on the loop is said before the last word.
    await withTaskExecutorPreference(loop) {}
    arrivals.cancel()
    loop.stop()
    withExtendedLifetime(signals) {}
    try conclude(session, cause)
  }

  private func show(
    _ messages: Messages, on loop: SocketEventLoop,
    _ session: ConnectSession
  ) -> Task<Void, Never> {
    Task(executorPreference: loop) {
      do {
        for try await message in messages { session.note("← \(message.shown)") }
      } catch {
        Console.complain("more arrives than can be shown: \(error)")
      }
    }
  }

  /// Waits for the end of the connection, and begins it when it is time.
  private func closing(_ connection: Connection, _ session: ConnectSession) async -> Cause? {
    var isClosing = false
    for await event in session.events {
      switch event {
      case .closed(let cause): return cause
      case .interrupted where isClosing: exit(ExitStatus.interrupted.rawValue)
      case .inputEnded:
        Task {
          try await Task.sleep(for: Self.patience)
          session.tell(.patienceOver)
        }
      case .everyMessageEnded, .interrupted, .patienceOver:
        guard !isClosing else { continue }
        isClosing = true
        Task { await connection.close() }
      }
    }
    return nil
  }

  private func conclude(_ session: ConnectSession, _ cause: Cause?) throws(Failure) {
    let statistics = session.statistics
    if format == .text {
      Console.print("\nClosed after \(statistics.figures), with seed \(seed).")
      if let messages = statistics.messagesInWords { Console.print("Messages: \(messages).") }
    }
    if let cause { throw Failure(.failed, "\(address) is closed for good: \(cause)") }
    let failed = session.failedMessages
    if failed > 0 {
      throw Failure(
        .failed, "\(failed) message\(failed == 1 ? "" : "s") did not arrive for certain")
    }
  }
}

/// Words from the connection's loop to whoever shows them.
private final class Notices: Sendable {
  private let show = Mutex<(@Sendable (String) -> Void)?>(nil)

  func hear(_ show: @escaping @Sendable (String) -> Void) { self.show.withLock { $0 = show } }

  func tell(_ words: String) { show.withLock { $0 }?(words) }
}

extension ArgumentList {
  /// Objects to options that mean nothing for what is spoken at this address, or on the way there.
  fileprivate func refuseIdleOptions(at address: PeerAddress) throws(Failure) {
    try refuse(["--lane"], unless: address.speech == .echo, isFor: "tcp, tls and unix")
    try refuse(
      ["--ping"], unless: address.speech == .echo || address.isWebSocket,
      isFor: "tcp, tls, unix, ws and wss")
    try refuse(["--heartbeat"], unless: address.speech == .line, isFor: "line")
    try refuse(["--xor", "--gzip", "--legacy"], unless: address.speech == .wg, isFor: "wg")
    try refuse(["--name", "--bare"], unless: address.speech == .chat, isFor: "chat")
    try refuse(
      ["--header", "--protocol", "--compress", "--redirects"], unless: address.isWebSocket,
      isFor: "ws and wss")
    try refuse(
      ["--proxy"], unless: address.endpoint.scheme != "unix", isFor: "endpoints with a host")
    // A redirection may lead to TLS, and a proxy may be spoken to over it.
    let mayBeSecure = address.isSecure || contains("--redirects")
    var rest = self
    let proxy = try rest.values(of: "--proxy").first ?? ""
    try refuse(["--pin", "--cert", "--server-name"], unless: mayBeSecure, isFor: "TLS")
    try refuse(["--ca"], unless: mayBeSecure || proxy.hasPrefix("https"), isFor: "TLS")
  }
}
