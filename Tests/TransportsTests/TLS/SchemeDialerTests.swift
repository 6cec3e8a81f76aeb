#if os(Linux)
  import ConnectionFSM
  import Testing
  import Transports

  extension RealSockets {
    @Suite("F19, F20: dialling with TLS or without it, as the scheme says")
    struct SchemeDialerTests {
      private let loop: SocketEventLoop
      private let configuration: TLSConfiguration
      private let identity: TLSIdentity

      init() throws {
        loop = try SocketEventLoop()
        let certificates = try Certificates.shared.get()
        configuration = try certificates.trusting()
        identity = certificates.good
      }

      /// Says something to an echo, ends in order, and gives back what was heard.
      private func talk<Dialer: ByteStreamDialer & SendableMetatype>(
        _ dialer: Dialer, _ endpoint: Endpoint
      ) async -> Talker<Dialer.Stream> where Dialer.Stream: SendableMetatype {
        let talker = Talker<Dialer.Stream>()
        let dialer = Confined(dialer)
        await loop.run { talker.stream = dialer.value.dial(endpoint, observer: talker) }
        await loop.until { !talker.events.isEmpty }
        await loop.run { if !talker.isOver { talker.write("hello") } }
        await loop.until { talker.text == "hello" || talker.isOver }
        await loop.run { talker.stream?.finishWriting() }
        await loop.until { talker.isOver }
        await loop.run { talker.stream?.close() }
        return talker
      }

      @Test("tls endpoints are spoken to over TLS, tcp endpoints in clear, and failures are told")
      func both() async throws {
        let secure = try await TLSEchoServer(TLSServerContext(identity: identity))
        let plain = try TestServer { $0.echo() }
        let dialer = SchemeDialer(TCPDialer(loop: loop), configuration: configuration)
        let host = "127.0.0.1"
        for (scheme, port) in [("tls", secure.port), ("tcp", plain.port)] {
          let talker = await talk(dialer, Endpoint(scheme: scheme, host: host, port: port))
          #expect(talker.text == "hello" && talker.events == [.opened, .end], "\(scheme)")
        }
        let refused = RefusedPort()
        for scheme in ["tls", "tcp"] {
          let talker = await talk(
            dialer, Endpoint(scheme: scheme, host: host, port: refused.endpoint.port))
          #expect(talker.events == [.failed(.system(.connectionRefused))], "\(scheme)")
        }
        let strict = SchemeDialer(TCPDialer(loop: loop), configuration: try TLSConfiguration())
        let stranger = await talk(strict, Endpoint(scheme: "tls", host: host, port: secure.port))
        #expect(stranger.events == [.failed(.tls(.untrusted))])
        #expect(stranger.stream?.diagnosis is TLSError)
        let other = await talk(dialer, Endpoint(scheme: "udp", host: host, port: plain.port))
        #expect(other.events == [.failed(.unsupportedEndpoint)])
        loop.stop()
        await secure.stop()
        plain.stop()
        refused.close()
      }

      @Test("F18: both go through one proxy, which is asked for host and port alike")
      func proxied() async throws {
        let secure = try await TLSEchoServer(TLSServerContext(identity: identity))
        let plain = try TestServer { $0.echo() }
        for (scheme, port) in [("tls", secure.port), ("tcp", plain.port)] {
          let proxy = try TestServer.connectProxy(to: port)
          let asked = Confined<[Endpoint]>([])
          let way = try Proxy(.http, at: proxy.endpoint)
          let tunnels = ProxyDialer(TCPDialer(loop: loop)) { endpoint in
            asked.value.append(endpoint)
            return way
          }
          let dialer = SchemeDialer(tunnels, configuration: configuration)
          let target = Endpoint(scheme: scheme, host: "good.test", port: 443)
          let talker = await talk(dialer, target)
          #expect(talker.text == "hello", "\(scheme) \(talker.events)")
          // Of the scheme tcp: that there is TLS inside is no matter of the proxy's.
          #expect(await loop.run { asked.value } == [Endpoint(host: "good.test", port: 443)])
          proxy.stop()
        }
        loop.stop()
        await secure.stop()
        plain.stop()
      }

      // MARK: WebSocket

      private typealias WebSocketServer<Stream: ServedStream> =
        Server<Stream, WebSocketServerEngine>

      @Test(
        "F20: a WebSocket that is redirected from ws to wss opens there, and never the way back")
      func redirected() async throws {
        let context = try TLSServerContext(identity: identity)
        let held = Confined<(WebSocketServer<TLSStream<TCPStream>>, WebSocketServer<TCPStream>)?>(
          nil)
        let (loop, plainPort) = (loop, Confined<UInt16>(0))
        let ports = try await loop.run { () -> Result<(secure: UInt16, plain: UInt16), any Error> in
          // To the other server, and from there back if asked for it.
          let secureOptions = WebSocketServerOptions { request in
            guard request.resource == "/back" else { return .accept(subprotocol: nil) }
            return Self.redirection("ws://127.0.0.1:\(plainPort.value)/")
          }
          let secure = WebSocketServer<TLSStream<TCPStream>>(
            loop: loop, context: context, engine: { WebSocketServerEngine(secureOptions) },
            program: EchoProgram())
          return Result {
            let securePort = try secure.start()
            let options = WebSocketServerOptions { request in
              Self.redirection("https://127.0.0.1:\(securePort)\(request.resource)")
            }
            let plain = WebSocketServer<TCPStream>(
              loop: loop, engine: { WebSocketServerEngine(options) }, program: EchoProgram())
            plainPort.value = try plain.start()
            held.value = (secure, plain)
            return (securePort, plainPort.value)
          }
        }.get()

        let good = try await connect("/there", ports.plain)
        await loop.until { good.journal.wasOpen || good.journal.cause != nil }
        #expect(good.journal.wasOpen && good.journal.dials == 1)
        #expect(
          good.journal.agreement?.url == (try WebSocketURL("wss://127.0.0.1:\(ports.secure)/there"))
        )
        await good.connection.close()

        let back = try await connect("/back", ports.plain)
        await loop.until { back.journal.cause != nil }
        let target = try WebSocketURL("ws://127.0.0.1:\(ports.plain)/")
        #expect(back.journal.handshakeError?.problem == .redirectToInsecure(target))
        await back.connection.close()
        await loop.run {
          held.value?.0.kill()
          held.value?.1.kill()
          held.value = nil
        }
        loop.stop()
      }

      private static func redirection(_ location: String) -> WebSocketServerOptions.Decision {
        guard let field = try? HTTPField("Location", location) else { fatalError("it is good") }
        return .answer(WebSocketServerOptions.answer(302, [field]))
      }

      private func connect(
        _ path: String, _ port: UInt16
      ) async throws -> (connection: Connection, journal: WebSocketJournal) {
        let journal = WebSocketJournal()
        let url = try WebSocketURL("ws://127.0.0.1:\(port)\(path)")
        let options = try WebSocketOptions(
          url, redirectLimit: 5, notice: { journal.clientHeard($0) })
        let connection = try Connection(
          StreamTransport(
            SchemeDialer(TCPDialer(loop: loop), configuration: configuration),
            engine: { WebSocketEngine(options) }),
          policy: WebSocketRig.policy(), seed: 1, monitors: [journal]
        ) { journal.record($0) }
        connection.connect(to: url.endpoint)
        return (connection, journal)
      }
    }
  }
#endif
