import Foundation
import Testing

extension RealSockets {
  @Suite("A program on the other side")
  struct PeerProgramTests {
    @Test("is ready once its output says so, reads what it is given, and is gone after kill")
    func conversation() async throws {
      let peer = try await PeerProgram.start(
        "sh", ["-c", "echo process $$ ready; read line; echo heard $line; exec sleep 600"],
        readiness: .output("process"))
      let process = try #require(
        peer.line(after: "process ").flatMap { Int32($0.prefix { $0 != " " }) })
      peer.write("a word\n")
      while peer.line(after: "heard ") == nil { try await Task.sleep(for: .milliseconds(1)) }
      #expect(peer.line(after: "heard ") == "a word")
      #expect(Foundation.kill(process, 0) == 0)
      peer.kill()
      #expect(Foundation.kill(process, 0) == -1)
    }

    @Test("that is missing, or ends before it is ready, fails the test with what to do about it")
    func missing() async throws {
      let missing = await #expect(throws: PeerProgram.Failure.self) {
        _ = try await PeerProgram.start("no-such-program", [], readiness: .port(1))
      }
      #expect(missing?.description.contains("apt-get install no-such-program") == true)
      let early = await #expect(throws: PeerProgram.Failure.self) {
        _ = try await PeerProgram.start("sh", ["-c", "echo no"], readiness: .output("yes"))
      }
      #expect(early?.description.contains("is not ready") == true)
    }
  }
}
