#if os(Linux)
  import ConnectionFSM
  import Testing
  import Transports

  extension RealSockets {
    @Suite("WebSockets over TLS through nginx")
    struct WebSocketProxyTests {
      private let certificates: Certificates

      init() throws { certificates = try Certificates.shared.get() }

      private func withProxy(
        idle: Int, firstDelay: TimeSpan = .seconds(600),
        _ body: (WebSocketTalk) async throws -> Void
      ) async throws {
        let peer = try await WebSocketPeer(.websockets)
        defer { peer.kill() }
        let proxy = try await WebSocketProxy(before: peer, certificates.good, idle: idle)
        defer { proxy.kill() }
        let talk = try WebSocketTalk(
          proxy.port, compression: WebSocketCompression(), tls: certificates.trusting(),
          firstDelay: firstDelay)
        try await body(talk)
        await talk.stop()
      }

      @Test("F19 F20 F24 F26: messages pass both ways, and a close with its code and reason")
      func passes() async throws {
        try await withProxy(idle: 600) { talk in
          for message in [Message("hello"), Message(bytes: [UInt8](repeating: 7, count: 1 << 20))] {
            let isSame = try await talk.ask(message) == message
            #expect(isSame)
          }
          try await talk.connection.send(Message("!close 4403 not yours"))
          let end = await talk.end()
          #expect(end == .closedByPeer(CloseCode(4403)))
          #expect(talk.notices.all == ["agreed compressed", "closed 4403 not yours"])
        }
      }

      @Test("F24, I1: its idle close, which no close frame announces, is 1006, and we come back")
      func idle() async throws {
        try await withProxy(idle: 1, firstDelay: .milliseconds(1)) { talk in
          let first = Message("before")
          let firstEcho = try await talk.ask(first)
          #expect(firstEcho == first)
          let end = await talk.end()
          #expect(end == .closedByPeer(CloseCode(1006)))
          let second = Message("after")
          let secondEcho = try await talk.ask(second)
          #expect(secondEcho == second)
          #expect(talk.journal.dials >= 2)
          #expect(talk.notices.all.allSatisfy { $0 == "agreed compressed" })
        }
      }
    }
  }
#endif
