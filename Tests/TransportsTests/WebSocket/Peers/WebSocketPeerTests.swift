#if os(Linux)
  import ConnectionFSM
  import Testing
  import Transports

  extension RealSockets {
    @Suite("WebSockets against servers of other makes")
    struct WebSocketPeerTests {
      private static let lengths = [0, 125, 126, 127, 65_535, 65_536]

      /// Words that compress, but not to nothing.
      private static let page: [UInt8] = {
        var random = SplitMix64(seed: 20)
        return (0..<10_000).flatMap { _ in "word \(random.next(through: 999)), ".utf8 }
      }()

      private func text(_ length: Int) -> [UInt8] {
        var text: [UInt8] = []
        while text.count < length { text += Self.page }
        return Array(text.prefix(length))
      }

      @Test(
        "F20 F22: text and binary come back as they were, of each kind of length, up to 16 MiB",
        arguments: WebSocketPeer.Make.allCases)
      func echo(make: WebSocketPeer.Make) async throws {
        let peer = try await WebSocketPeer(make)
        defer { peer.kill() }
        let talk = try WebSocketTalk(peer.port)
        for length in Self.lengths + [16 << 20] {
          for kind in [Message.Kind.text, .binary] {
            let message = Message(bytes: text(length), kind: kind)
            let isSame = try await talk.ask(message) == message
            #expect(isSame, "\(kind) of \(length)")
          }
        }
        #expect(talk.notices.all == ["agreed"])
        #expect(talk.journal.causes.isEmpty)
        await talk.stop()
      }

      @Test(
        "F26: compressed both ways they come back as they were, and are short on the wire",
        arguments: WebSocketPeer.Make.allCases)
      func compressed(make: WebSocketPeer.Make) async throws {
        let peer = try await WebSocketPeer(make)
        defer { peer.kill() }
        let talk = try WebSocketTalk(peer.port, compression: WebSocketCompression())
        for length in Self.lengths + [1 << 20] {
          for kind in [Message.Kind.text, .binary] {
            let message = Message(bytes: text(length), kind: kind)
            let echo = try await talk.ask(message)
            let isSame = echo == message
            #expect(isSame, "\(kind) of \(length)")
            if length >= 65_535, let echo { #expect(echo.wireLength < length / 2) }
          }
        }
        #expect(talk.notices.all == ["agreed compressed"])
        let traffic = try #require(await talk.connection.traffic())
        #expect(traffic.bytesSent < traffic.payloadBytesSent / 2)
        await talk.stop()
      }

      @Test(
        "F24: a server's close is the link's end, with its code, and its reason is told",
        arguments: WebSocketPeer.Make.allCases)
      func closedByServer(make: WebSocketPeer.Make) async throws {
        let peer = try await WebSocketPeer(make)
        defer { peer.kill() }
        for (code, reason) in [(1000, ""), (1001, "moving"), (1011, "oh no"), (4403, "not ✓ours")] {
          let talk = try WebSocketTalk(peer.port)
          try await talk.connection.send(Message("!close \(code) \(reason)"))
          let end = await talk.end()
          #expect(end == .closedByPeer(CloseCode(UInt16(code))))
          #expect(talk.notices.all == ["agreed", "closed \(code) \(reason)"])
          await talk.loop.until { peer.program.line(after: "closed \(code)") != nil }
          await talk.stop()
        }
      }

      @Test(
        "F24: our close reaches the server with its code and reason, and is an orderly end",
        arguments: WebSocketPeer.Make.allCases)
      func closedByUs(make: WebSocketPeer.Make) async throws {
        let peer = try await WebSocketPeer(make)
        defer { peer.kill() }
        for (code, reason) in [(UInt16(1000), ""), (4002, "so long ✓")] {
          let talk = try WebSocketTalk(
            peer.port, farewell: WebSocketClose(code: code, reason: reason))
          try await talk.connection.send(Message("hello"))
          await talk.connection.close()
          #expect(talk.journal.causes == [.closedByUser])
          await talk.loop.until { peer.program.line(after: "closed \(code)") != nil }
          #expect(peer.program.line(after: "closed \(code) ") ?? "" == reason)
          talk.loop.stop()
        }
      }

      @Test(
        "F23: a server's ping is answered, and ours is answered by it",
        arguments: WebSocketPeer.Make.allCases)
      func pings(make: WebSocketPeer.Make) async throws {
        let peer = try await WebSocketPeer(make)
        defer { peer.kill() }
        let heartbeat = Heartbeat(
          interval: .milliseconds(1), timeout: .seconds(60), anyByteCounts: false)
        let talk = try WebSocketTalk(peer.port, heartbeat: heartbeat)
        for payload in ["a", String(repeating: "b", count: 100)] {
          let answer = try await talk.ask(Message("!ping \(payload)"))
          #expect(answer == Message("pong \(payload)"))
        }
        await talk.loop.until { [pongs = talk.pongs] in pongs.all.count >= 10 }
        #expect(talk.journal.causes.isEmpty)
        await talk.stop()
      }
    }
  }
#endif
