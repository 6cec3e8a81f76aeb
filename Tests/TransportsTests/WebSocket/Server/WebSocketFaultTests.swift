import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("F20, F22, F24, F27: a WebSocket client and a server that misbehaves, over loopback")
  struct WebSocketFaultTests {
    // MARK: Frames

    /// What a server says, what is wrong with it, and with which code the client goes.
    struct Offence: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let bytes: [UInt8]
      let problem: WebSocketFrameError.Problem
      let code: UInt16

      init(
        _ name: String, _ bytes: [UInt8], _ problem: WebSocketFrameError.Problem,
        _ code: UInt16 = 1002
      ) {
        testDescription = name
        self.bytes = bytes
        self.problem = problem
        self.code = code
      }

      static let all = [
        Offence("a masked frame", ServerBytes.masked, .wrongMasking),
        Offence("reserved bits", ServerBytes.reservedBits, .reservedBits(0x30)),
        Offence("compression unasked", ServerBytes.frame(0xC1, [0]), .reservedBits(0x40)),
        Offence("a reserved opcode", ServerBytes.reservedOpcode, .reservedOpcode(3)),
        Offence("half a ping", ServerBytes.fragmentedPing, .fragmentedControl),
        Offence("a long ping", ServerBytes.longPing, .controlTooLong),
        Offence("a continuation of nothing", ServerBytes.orphan, .nothingToContinue),
        Offence("a message in a message", ServerBytes.interleaved, .messageInsideMessage),
        Offence("Latin-1", ServerBytes.invalidText, .invalidUTF8, 1007),
        Offence("half a character", ServerBytes.cutText, .invalidUTF8, 1007),
        Offence(
          "2⁴⁰ bytes", ServerBytes.header(declaring: 1 << 40),
          .frameTooLong(1 << 40, limit: 1 << 20), 1009),
        Offence(
          "2⁶³ − 1 bytes", ServerBytes.header(declaring: UInt64(Int64.max)),
          .frameTooLong(UInt64(Int64.max), limit: 1 << 20), 1009),
        Offence("2⁶³ bytes", ServerBytes.header(declaring: 1 << 63), .lengthOverflow),
        Offence("half a close code", ServerBytes.halfCode, .halfCloseCode),
        Offence(
          "a reason in Latin-1", ServerBytes.frame(0x88, [3, 0xE8, 0xE9]), .invalidUTF8, 1007),
      ]
    }

    @Test(
      "F22, F25, F27, I13: a frame that may not be ends the link, and the server is told why",
      arguments: Offence.all)
    func frame(offence: Offence) async throws {
      for place in 0...1 {
        let rig = try await WebSocketRig(
          WebSocketServerOptions(fault: .speech(offence.bytes, atMessage: place)))
        await rig.open()
        if place == 1 { rig.connection.post(Message("hello")) }
        #expect(await rig.ended() == .protocolError)
        #expect(rig.journal.frameError?.problem == offence.problem)
        #expect(await rig.told() == WebSocketJournal.Close(offence.code))
        #expect(rig.journal.dials == 1)
        await rig.stop()
      }
      #expect(Cause.protocolError.verdict() == .terminal.capped(1))
    }

    @Test(
      "F24: a close with a code that may not travel is a protocol error, told by 1002",
      arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535])
    func badCode(code: UInt16) async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .close(code, reason: "", atMessage: 0)))
      await rig.open()
      #expect(await rig.ended() == .protocolError)
      #expect(rig.journal.frameError?.problem == .invalidCloseCode(code))
      #expect(await rig.told() == WebSocketJournal.Close(1002))
      await rig.stop()
    }

    @Test(
      "F24: the server's close is answered once with its code, and code and reason are shown",
      arguments: [1000, 1001, 1003, 1008, 1011, 1012, 1013, 1014, 3000, 4403], [0, 2])
    func close(code: UInt16, place: Int) async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .close(code, reason: "schließt", atMessage: place)))
      await rig.open()
      for text in ["one", "two"].prefix(place) { rig.connection.post(Message(text)) }
      #expect(await rig.ended() == .closedByPeer(CloseCode(code)))
      #expect(rig.journal.atClient == WebSocketJournal.Close(code, "schließt"))
      #expect(await rig.told() == WebSocketJournal.Close(code))
      await rig.stop()
    }

    @Test("F24: an empty close is 1005, and answered by an empty one")
    func emptyClose() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .speech(ServerBytes.frame(0x88, []), atMessage: 0)))
      await rig.open()
      #expect(await rig.ended() == .closedByPeer(CloseCode(1005)))
      #expect(await rig.told() == WebSocketJournal.Close(1005))
      await rig.stop()
    }

    // MARK: Floods

    @Test("F27, I21: a message whose fragments never end is given up at the limit")
    func endlessMessage() async throws {
      let limit = 300_000
      let rig = try await WebSocketRig(
        WebSocketServerOptions(
          fault: .flood(ServerBytes.fragment, again: ServerBytes.nextFragment)),
        limits: WebSocketLimits(maximumMessageLength: limit))
      await rig.open()
      #expect(await rig.ended() == .protocolError)
      let error = try #require(rig.journal.frameError)
      #expect(error.problem == .messageTooLong(limit: limit))
      // The fifth fragment's header tells, before a byte of it is kept.
      #expect(error.offset == 5 * (10 + 65_536) - 65_536)
      #expect(await rig.told() == WebSocketJournal.Close(1009))
      await rig.stop()
    }

    @Test("F26, F27, I21: what inflates to 64 MiB is given up at the limit")
    func bomb() async throws {
      let compression = try WebSocketCompression()
      let bomb = ServerBytes.bomb(megabytes: 64)
      #expect(bomb.count < 70_000)
      let rig = try await WebSocketRig(
        WebSocketServerOptions(compression: compression, fault: .speech(bomb, atMessage: 0)),
        compression: compression)
      await rig.open()
      #expect(await rig.ended() == .protocolError)
      #expect(rig.journal.frameError?.problem == .messageTooLong(limit: 1 << 20))
      #expect(await rig.told() == WebSocketJournal.Close(1009))
      await rig.stop()
    }

    @Test("F23, I21: under a flood of pings the client still closes in order")
    func pingFlood() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .flood([], again: ServerBytes.ping)))
      await rig.open()
      let connection = rig.connection
      var received: UInt64 = 0
      while received < 1 << 20, !Task.isCancelled {
        received = await connection.traffic()?.bytesReceived ?? .max
        await rig.clientLoop.pause(.milliseconds(1))
      }
      await connection.close()
      #expect(rig.journal.cause == .closedByUser)
      #expect(await rig.told() == WebSocketJournal.Close(1000))
      await rig.stop()
    }

    // MARK: The client's close

    @Test("F24: a server that never answers the close is let go at the close deadline")
    func silentAtClose() async throws {
      let rig = try await WebSocketRig(
        WebSocketServerOptions(fault: .silentAtClose),
        policy: WebSocketRig.policy(closeDeadline: .milliseconds(300)))
      await rig.open()
      await rig.connection.close()
      #expect(rig.journal.cause == .closedByUser)
      #expect(try #require(rig.journal.closingTook) >= .milliseconds(300))
      #expect(await rig.told() == WebSocketJournal.Close(1000))
      await rig.stop()
    }

    @Test("F24: a server that answers the close and keeps the stream is let go within 5 s")
    func openAfterClose() async throws {
      let rig = try await WebSocketRig(WebSocketServerOptions(fault: .openAfterClose))
      await rig.open()
      await rig.connection.close()
      #expect(rig.journal.atClient == WebSocketJournal.Close(1000))
      let span = try #require(rig.journal.closingTook)
      #expect(span >= .seconds(2) && span < .seconds(5), "\(span)")
      await rig.stop()
    }

    @Test("F24: what a server says behind its close is dropped")
    func talkAfterClose() async throws {
      let rig = try await WebSocketRig(WebSocketServerOptions(fault: .talkAfterClose))
      let messages = rig.connection.messages(bufferingUpTo: 8)
      await rig.open()
      rig.connection.post(Message("in time"))
      var heard = messages.makeAsyncIterator()
      #expect(try await heard.next() == Message("in time"))
      await rig.connection.close()
      #expect(rig.journal.cause == .closedByUser)
      let said = await rig.connection.traffic()
      #expect(said?.messagesReceived == 1)
      await rig.stop()
    }

    // MARK: Below the protocol

    @Test("F24: a reset, a half close and an end without a word each have their own cause")
    func below() async throws {
      let reset = try await WebSocketRig(fault: .reset(atMessage: 1))
      await reset.open()
      reset.connection.post(Message("hello"))
      #expect(await reset.ended() == .system(.connectionReset))
      await reset.stop()

      let halfClose = try await WebSocketRig(fault: .halfClose(afterMessages: 1))
      await halfClose.open()
      halfClose.connection.post(Message("hello"))
      #expect(await halfClose.ended() == .closedByPeer(CloseCode(1000)))
      #expect(await halfClose.told() == WebSocketJournal.Close(1000))
      await halfClose.stop()
    }
  }
}
