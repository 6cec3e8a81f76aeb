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
      arguments: ["ReadmeExamples.swift", "ReadmeMachineExample.swift"])
    func shown(file: String) throws {
      let source = try Self.text(file)
      let start = try #require(source.range(of: "import ConnectionFSM"))
      let end = try #require(source.range(of: "// end"))
      let example = source[start.lowerBound..<end.lowerBound]
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

    @Test("the second one dials and waits for the connect deadline")
    func drives() throws {
      let policy = try Policy(connectDeadline: .seconds(10))
      #expect(drive(policy: policy, now: .origin) == .origin + .seconds(10))
    }
  }
}
