// A chat in a terminal. In one terminal the server, in two others the clients:
//
//   swift run chat-example serve
//   swift run chat-example ann
//   swift run chat-example ben
//
// End the server with Ctrl-C, type on, and start it again; or stop a client with Ctrl-Z, let the
// other talk for a minute, and let it go on with `fg`.

import ConnectionFSM
import Foundation
import Transports

@main
enum ChatExample {
  static func main() async throws {
    var words = CommandLine.arguments.dropFirst()
    guard let name = words.popFirst(), !name.hasPrefix("-") else {
      return print("usage: chat-example serve|NAME [tcp://HOST:PORT]")
    }
    let endpoint = try Endpoint(words.popFirst() ?? "tcp://127.0.0.1:7007")
    guard name == "serve" else { return try await join(name, at: endpoint) }
    let loop = try SocketEventLoop()
    try await withTaskExecutorPreference(loop) { try await serve(at: endpoint, on: loop) }
  }

  private static func join(_ name: String, at endpoint: Endpoint) async throws {
    let framing = try ChatClient.framing()
    let client = try ChatClient(
      .stream("\(endpoint)", framing), name: name, run: .random(in: 0 ... .max))
    try await client.chat(at: endpoint, saying: typedLines()) { print($0) }
  }

  /// The lines of standard input, read on a thread of its own, since reading blocks.
  private static func typedLines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }.start()
    return lines
  }

  /// Everything of a server happens on its loop, in a function that prefers it.
  private static func serve(at endpoint: Endpoint, on loop: SocketEventLoop) async throws {
    let framing = try DelimiterFraming(delimiter: .lf)
    let milliseconds = UInt64(Date().timeIntervalSince1970 * 1000)
    let server = Server(
      loop: loop, engine: { framing }, program: HistoryRoom(firstNumber: milliseconds),
      log: { print(words(for: $0)) })
    let port = try server.start(host: endpoint.host, port: endpoint.port)
    print("the chat is at tcp://\(endpoint.host):\(port); end it with Ctrl-C")
    try await Task.sleep(for: .seconds(1_000_000_000))
    server.kill()
  }

  private static func words(for event: ServerEvent) -> String {
    switch event {
    case .accepted(let number): "#\(number) is there"
    case .message(let number, let message): "#\(number): \(message.text)"
    case .ended(let number, let how): "#\(number) has gone: \(how)"
    }
  }
}
