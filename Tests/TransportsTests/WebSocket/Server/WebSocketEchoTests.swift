import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("F22, F25–F27: a WebSocket client and an honest server over loopback")
  struct WebSocketEchoTests {
    private static let sizes = [0, 125, 126, 127, 65_535, 65_536, 1 << 20]

    /// Sends each message and waits for its echo.
    private func echo(
      _ messages: [Message], compression: WebSocketCompression? = nil
    ) async throws -> WebSocketRig {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(compression: compression), compression: compression)
      var heard = rig.connection.messages(bufferingUpTo: 8).makeAsyncIterator()
      await rig.open()
      for message in messages {
        #expect(try await rig.connection.send(message) == .written)
        let echo = try await heard.next()
        #expect(echo == message, "\(message.bytes.count) bytes")
      }
      return rig
    }

    private func messages(_ kind: Message.Kind) -> [Message] {
      var random = SplitMix64(seed: 22)
      return Self.sizes.map { size in
        let bytes = (0..<size).map { _ in
          kind == .text ? UInt8(random.next(through: 0x7F)) : UInt8(random.next(through: 0xFF))
        }
        return Message(bytes: bytes, kind: kind)
      }
    }

    @Test(
      "F22: messages of every form of length come back", arguments: [Message.Kind.text, .binary])
    func sizes(kind: Message.Kind) async throws {
      let rig = try await echo(messages(kind))
      await rig.connection.close()
      #expect(rig.journal.cause == .closedByUser)
      #expect(await rig.told() == WebSocketJournal.Close(1000))
      await rig.stop()
    }

    @Test(
      "F26: compressed messages come back, with and without taking the context over",
      arguments: [true, false], [Message.Kind.text, .binary])
    func compressed(takesContextOver: Bool, kind: Message.Kind) async throws {
      let compression = try WebSocketCompression(
        threshold: 0, clientTakesContextOver: takesContextOver,
        serverTakesContextOver: takesContextOver)
      let dull = Message(bytes: [UInt8](repeating: 0x61, count: 100_000), kind: kind)
      let rig = try await echo(messages(kind) + [dull, dull], compression: compression)
      let agreed = try #require(rig.journal.agreement?.compression)
      #expect(agreed.clientTakesContextOver == takesContextOver)
      #expect(agreed.serverTakesContextOver == takesContextOver)
      let traffic = try #require(await rig.connection.traffic())
      // What is random does not shrink, what is dull nearly vanishes.
      #expect(traffic.bytesSent < traffic.payloadBytesSent - 190_000 + 4096)
      await rig.stop()
    }

    @Test("F26: a server that does not compress is spoken to in clear")
    func uncompressed() async throws {
      let rig = try await WebSocketRig(compression: WebSocketCompression())
      await rig.open()
      #expect(rig.journal.wasOpen && rig.journal.agreement?.compression == nil)
      await rig.stop()
    }

    @Test("F25: a character cut in two by fragments arrives whole")
    func splitScalar() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .speech(ServerBytes.splitScalar, atMessage: 0)))
      var heard = rig.connection.messages(bufferingUpTo: 8).makeAsyncIterator()
      await rig.open()
      #expect(try await heard.next() == Message("😀"))
      await rig.connection.close()
      #expect(rig.journal.cause == .closedByUser)
      await rig.stop()
    }

    @Test("F27: 2 MiB against a limit of 1 MiB end the link with 1009, whichever side sends them")
    func tooBig() async throws {
      let message = Message(bytes: [UInt8](repeating: 7, count: 2 << 20))
      let incoming = try await WebSocketRig()
      await incoming.open()
      await incoming.broadcast(message)
      #expect(await incoming.ended() == .protocolError)
      #expect(incoming.journal.frameError?.problem == .messageTooLong(limit: 1 << 20))
      #expect(await incoming.told() == WebSocketJournal.Close(1009))
      await incoming.stop()

      let outgoing = try await WebSocketRig()
      await outgoing.open()
      outgoing.connection.post(message)
      #expect(await outgoing.ended() == .closedByPeer(CloseCode(1009)))
      await outgoing.stop()
    }

    @Test("F27: what is longer than may be sent is turned away at the door, and the link goes on")
    func turnedAway() async throws {
      let rig = try await WebSocketRig(
        limits: WebSocketLimits(maximumOutgoingLength: 1000))
      await rig.open()
      await #expect(throws: Rejection.notEncodable) {
        try await rig.connection.send(Message(bytes: [UInt8](repeating: 7, count: 1001)))
      }
      let outcome = try await rig.connection.send(
        Message(bytes: [UInt8](repeating: 7, count: 1000)))
      #expect(outcome == .written)
      await rig.stop()
    }
  }
}
