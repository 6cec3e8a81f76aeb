import ConnectionFSM
import Foundation
import Testing
import Transports

extension RealSockets {
  @Suite("The examples of the README")
  struct Readme {
    private static func text(_ path: String) throws -> String {
      let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      return try String(contentsOf: tests.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(
      "are shown as they compile",
      arguments: [
        "ReadmeExamples.swift", "ReadmeMachineExample.swift", "ReadmeWebSocketExample.swift",
      ])
    func shown(file: String) throws {
      let source = try Self.text(file)
      let start = try #require(source.range(of: "import ConnectionFSM"))
      let end = try #require(source.range(of: "// end"))
      // Where it is compiled for one system alone, it is further in.
      let indentation = source[..<start.lowerBound].reversed().prefix { $0 == " " }.count
      let example = source[start.lowerBound..<end.lowerBound].split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { $0.trimmingPrefix(String(repeating: " ", count: indentation)) }.joined(
        separator: "\n")
      #expect(try Self.text("../../README.md").contains("```swift\n\(example)```"))
    }

    @Test("the first one talks to a server")
    func runs() async throws {
      let rig = try SocketEventLoop()
      let server = Confined<EchoServer?>(nil)
      let port = try await rig.run {
        let echo = EchoServer(loop: rig)
        server.value = echo
        return Result { try echo.start() }
      }.get()
      try await example(endpoint: Endpoint(host: "127.0.0.1", port: port))
      await rig.run {
        server.value?.kill()
        server.value = nil
      }
      rig.stop()
    }

    #if os(Linux)
      @Test("the one over a WebSocket hears what a server says first")
      func hears() async throws {
        let rig = try SocketEventLoop()
        let server = Confined<Server<TCPStream, WebSocketServerEngine>?>(nil)
        let port = try await rig.run {
          let options = WebSocketServerOptions(
            compression: try? WebSocketCompression(),
            fault: .speech(WireFrame.text("news").bytes, atMessage: 0))
          let greeter = Server<TCPStream, WebSocketServerEngine>(
            loop: rig, engine: { WebSocketServerEngine(options) }, program: EchoProgram())
          server.value = greeter
          return Result { try greeter.start() }
        }.get()
        let message = try await first(of: "ws://127.0.0.1:\(port)/v1?topic=news")
        #expect(message == Message("news"))
        await rig.run {
          server.value?.kill()
          server.value = nil
        }
        rig.stop()
      }
    #endif

    @Test("the second one dials and waits for the connect deadline")
    func drives() throws {
      let policy = try Policy(connectDeadline: .seconds(10))
      #expect(drive(policy: policy, now: .origin) == .origin + .seconds(10))
    }
  }
}
