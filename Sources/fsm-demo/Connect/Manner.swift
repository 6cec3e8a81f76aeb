import ConnectionFSM
import Transports

/// The presets that `connect` lives by, one for each thing that can be spoken.
enum Manner {
  case echo(Preset<DelimiterFraming>, Lane)
  case line(Preset<DelimiterFraming>)
  case wg(Preset<SevenByteFraming>)
  case chat(Preset<ChatFraming>)
  case webSocket(Preset<WebSocketEngine>)

  enum Lane: String, CaseIterable {
    case atMostOnce = "at-most-once"
    case atLeastOnce = "at-least-once"

    var id: LaneID { LaneID(self == .atMostOnce ? 0 : 1) }
  }

  /// Reads the options that belong to what is spoken.
  /// - Parameter notice: Hears what a WebSocket tells beside its messages, on the loop.
  init(
    _ arguments: inout ArgumentList, speaking speech: PeerAddress.Speech,
    notice: @escaping @Sendable (WebSocketNotice) -> Void
  ) throws(Failure) {
    do {
      switch speech {
      case .echo, .raw:
        let policy = try Self.echo(pingingAfter: Self.silence(&arguments))
        self = .echo(policy, try arguments.choice(of: "--lane") ?? .atLeastOnce)
      case .line:
        let interval: Int64 = try arguments.number(of: "--heartbeat", in: 1...86_400) ?? 30
        self = .line(try .lineHeartbeat(interval: .seconds(interval)))
      case .wg: self = .wg(.wg(try Self.frames(&arguments)))
      case .chat:
        guard let name = try arguments.value(of: "--name") else {
          throw arguments.usage("say who joins the chat, with --name")
        }
        self = .chat(
          try .streamChat(try ChatLogin(name: name), isBare: arguments.flag("--bare")))
      case .webSocket(let url):
        guard let url else { throw arguments.usage("there is no URL to connect to") }
        self = .webSocket(try Self.webSocket(&arguments, at: url, notice))
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw arguments.usage("\(error)")
    }
  }

  private static func frames(_ arguments: inout ArgumentList) throws -> SevenByteFraming {
    let key = try arguments.value(of: "--xor")
    return try SevenByteFraming(
      encoding: key.map { .xor(key: $0) } ?? .plain,
      compression: arguments.flag("--gzip") ? .gzip : .none,
      legacyPeer: arguments.flag("--legacy"))
  }

  private static func webSocket(
    _ arguments: inout ArgumentList, at url: WebSocketURL,
    _ notice: @escaping @Sendable (WebSocketNotice) -> Void
  ) throws -> Preset<WebSocketEngine> {
    let redirects: Int? = try arguments.number(of: "--redirects", in: 0...20)
    let options = try WebSocketOptions(
      url, headers: try arguments.headers(), subprotocols: try arguments.values(of: "--protocol"),
      compression: arguments.flag("--compress") ? try WebSocketCompression() : nil,
      redirectLimit: redirects ?? 0, notice: notice)
    // Nothing acknowledges a message, so that one is never sent twice.
    let policy = try policy(
      pingingAfter: silence(&arguments), lanes: [ConnectionFSM.Lane(.atMostOnce, timeToLive: nil)])
    return Preset(policy: policy, framing: WebSocketEngine(options))
  }

  /// After how many seconds of silence the peer is asked for a sign of life.
  private static func silence(_ arguments: inout ArgumentList) throws -> Int64 {
    try arguments.number(of: "--ping", in: 1...86_400) ?? 15
  }

  private static func policy(
    pingingAfter silence: Int64, lanes: [ConnectionFSM.Lane]
  ) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(5), closeDeadline: .seconds(3),
      backoff: Backoff(
        first: .seconds(1), base: .seconds(1), cap: .seconds(10), stability: .seconds(5)),
      minimumDialSpacing: .milliseconds(500),
      heartbeat: Heartbeat(interval: .seconds(silence), timeout: .seconds(min(silence, 5))),
      lanes: lanes)
  }

  private static func echo(
    pingingAfter silence: Int64
  ) throws -> Preset<DelimiterFraming> {
    let policy = try policy(
      pingingAfter: silence,
      lanes: [
        ConnectionFSM.Lane(.atMostOnce, timeToLive: nil),
        ConnectionFSM.Lane(.atLeastOnce, timeToLive: nil),
      ])
    let framing = try DelimiterFraming(
      delimiter: .lf, maximumLength: ConnectSession.lineLengthLimit, acknowledgement: .echo,
      pingLine: Array("ping".utf8))
    return Preset(policy: policy, framing: framing)
  }
}
