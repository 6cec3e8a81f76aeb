import ConnectionFSM
import NetSim
import Testing

@Suite("Internet: a writer that waits for room")
struct BlockedWriterTests {
  @Test("hears of a reset as of room, as poll's POLLOUT has it, and its next write tells the error")
  func reset() {
    var rig = Rig()
    let (client, server) = rig.connected()
    // Until both buffers are full.
    for _ in 0..<10 {
      while case .wrote = rig.write([UInt8](repeating: 7, count: 10_000), to: client) {}
      rig.run(for: .milliseconds(100))
    }
    _ = rig.takeLog()
    let begin = (rig.now - .origin).nanoseconds / 1_000_000
    rig.internet.reset(server, at: rig.now)
    rig.run(for: .seconds(1))
    #expect(rig.takeLog() == ["client readable \(begin + 10)", "writable \(begin + 10)"])
    #expect(rig.write("x", to: client) == .failed(.system(.connectionReset)))
  }
}
