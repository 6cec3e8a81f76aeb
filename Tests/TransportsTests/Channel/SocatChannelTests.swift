import ConnectionFSM
import Foundation
import Testing
import Transports

extension RealSockets {
  @Suite("A channel to socat")
  struct SocatChannelTests {
    let loop: SocketEventLoop

    init() throws { loop = try SocketEventLoop() }

    /// A socat that serves one connection with another address, and a channel to it.
    private func connected(
      _ address: String, halfClose: HalfClosePolicy = .close
    ) async throws -> (peer: PeerProgram, channel: ByteChannel<TCPDialer>) {
      let listening = "listening on AF=2 127.0.0.1:"
      let peer = try await PeerProgram.start(
        "socat",
        [
          // It would leave half a second after one side's end.
          "-d", "-d", "-t", "60", "TCP-LISTEN:0,bind=127.0.0.1", address,
        ],
        readiness: .output(listening))
      let port = try #require(peer.line(after: listening).flatMap { UInt16($0) })
      let channel = ByteChannel(TCPDialer(loop: loop), halfClose: halfClose)
      try await channel.connect(
        to: Endpoint(host: "127.0.0.1", port: port), timeout: .seconds(60))
      return (peer, channel)
    }

    @Test("F36, F40: lines, so many bytes, and then its end with what there was")
    func lines() async throws {
      let (peer, channel) = try await connected("SYSTEM:seq 8 10; echo -n abcdefg")
      defer { peer.kill() }
      #expect(try await channel.read(.until(.lf, maximum: 2)) == Array("8".utf8))
      #expect(
        try await channel.read(.until(.lf, maximum: 9, keepsTerminator: true)) == Array("9\n".utf8))
      #expect(try await channel.read(.until(.lf, maximum: 3)) == Array("10".utf8))
      #expect(try await channel.read(.exactly(3)) == Array("abc".utf8))
      let error = await #expect(throws: ChannelError.self) { try await channel.read(.exactly(9)) }
      #expect(error == .ended(byteCount: 4))
      #expect(try await channel.read(.any(atMost: 9)) == Array("defg".utf8))
      loop.stop()
    }

    @Test("F39, I12: 1 MiB goes out, FIN behind it, and comes back whole before its end")
    func echo() async throws {
      let (peer, channel) = try await connected("SYSTEM:cat", halfClose: .keepWriting)
      defer { peer.kill() }
      var random = SplitMix64(seed: 1)
      let payload = (0..<1 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      async let echoed = channel.read(.exactly(payload.count))
      for start in stride(from: 0, to: payload.count, by: 1 << 16) {
        try await channel.write(Array(payload[start..<(start + 1 << 16)]))
      }
      let cause = await channel.closeAfterWriting(linger: .seconds(60))
      let isWhole = try await echoed == payload
      #expect(isWhole)
      #expect(cause == .closedByUser)
      loop.stop()
    }

    @Test("F40: a peer that has finished writing reads what is still written to it")
    func halfClose() async throws {
      let file = NSTemporaryDirectory() + "connection-fsm-socat-\(freePort())"
      defer { unlink(file) }
      let (peer, channel) = try await connected(
        "OPEN:/dev/null,rdonly!!CREATE:\(file)", halfClose: .keepWriting)
      defer { peer.kill() }
      let error = await #expect(throws: ChannelError.self) { try await channel.read(.exactly(1)) }
      #expect(error == .ended(byteCount: 0))
      let payload = (0..<123_456).map { UInt8(truncatingIfNeeded: $0 / 7) }
      try await channel.write(payload)
      #expect(await channel.closeAfterWriting(linger: .seconds(60)) == .closedByUser)
      while peer.line(after: "exiting with status ") == nil, !Task.isCancelled {
        await loop.pause(.milliseconds(1))
      }
      let isWhole = FileManager.default.contents(atPath: file).map(Array.init) == payload
      #expect(isWhole)
      loop.stop()
    }
  }
}
