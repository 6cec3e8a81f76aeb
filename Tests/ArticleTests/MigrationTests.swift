// Blocks of the article “From the five managers to this”; `BlocksTests` checks that the page shows
// them.

import ConnectionFSM
import Testing
import Transports

/// XTWebSocket: says who it is, then `heart` each three minutes, and comes back.
func chatRoom(_ loop: SocketEventLoop) throws -> Connection {
  let url = try WebSocketURL("wss://im.example.com/chat")
  let preset = try Preset.xt(url, sid: "13b313a3", heartbeat: Heartbeat(interval: .seconds(60)))
  return try Connection(preset, over: dialer(on: loop), home: url.endpoint)
}

/// A manager over URLSession that doubles its wait.
func quotes(_ loop: SocketEventLoop) throws -> Connection {
  let url = try WebSocketURL("wss://quotes.example.com")
  return try Connection(Preset.doubling(url), over: dialer(on: loop), home: url.endpoint)
}

/// WGSocketManager: JSON in frames with a header of seven bytes.
func gateway(_ loop: SocketEventLoop) throws -> Connection {
  let home = Endpoint(host: "gateway.example.com", port: 8300)
  return try Connection(.wg(SevenByteFraming()), over: TCPDialer(loop: loop), home: home)
}

/// LGSocketServe: lines, and a heartbeat line.
func lineServer(_ loop: SocketEventLoop) throws -> Connection {
  let home = Endpoint(host: "lines.example.com", port: 6969)
  return try Connection(
    .lineHeartbeat(interval: .seconds(30), networkLoss: .waits), over: TCPDialer(loop: loop),
    home: home)
}

/// A chat over a raw stream.
func streamChat(_ loop: SocketEventLoop) throws -> Connection {
  let home = Endpoint(host: "chat.example.com", port: 12_345)
  return try Connection(
    .streamChat(ChatLogin(name: "ana")), over: TCPDialer(loop: loop), home: home)
}

#if os(Linux)
  private func dialer(on loop: SocketEventLoop) throws -> sending SchemeDialer<TCPDialer> {
    SchemeDialer(TCPDialer(loop: loop), configuration: try TLSConfiguration())
  }
#else
  private func dialer(on loop: SocketEventLoop) throws -> sending NWDialer {
    NWDialer(loop: loop)
  }
#endif

/// What a delegate was for: one object hears everything, in order, on the main actor.
@MainActor
final class ChatScreen {
  private(set) var lines: [String] = []
  private(set) var status = ""
  private var listening: [Task<Void, Never>] = []

  func appear(_ connection: Connection) {
    listening = [
      connection.onMessage { [weak self] message in self?.lines.append(message.text) },
      connection.onStateChange { [weak self] state in self?.status = "\(state.phase)" },
    ]
    connection.demandChanged(to: true)
  }

  func disappear(_ connection: Connection) {
    for task in listening { task.cancel() }
    connection.demandChanged(to: false)  // closed after the policy's idle grace
  }
}

/// What a singleton was for: one connection for all who ask.
enum Shared {
  static let chat = Result { try chatRoom(.shared()) }
}

@Suite("Article: From the five managers")
struct MigrationTests {
  @Test("each manager has a preset, whose connection rests until it is told to connect")
  func presets() async throws {
    let loop = try SocketEventLoop.shared()
    let connections = try [
      chatRoom(loop), quotes(loop), gateway(loop), lineServer(loop), streamChat(loop),
      Shared.chat.get(),
    ]
    for connection in connections { #expect(await connection.explain()?.phase == .idle) }
  }

  @Test("a screen hears the state as soon as it appears, and lets go")
  @MainActor
  func screen() async throws {
    let connection = try gateway(.shared())
    let screen = ChatScreen()
    screen.appear(connection)
    while screen.status.isEmpty { await Task.yield() }
    #expect(screen.status == "idle" && screen.lines.isEmpty)
    screen.disappear(connection)
  }
}
