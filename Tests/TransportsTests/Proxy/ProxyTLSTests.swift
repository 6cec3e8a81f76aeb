#if os(Linux)
  import ConnectionFSM
  import Foundation
  import Testing
  import Transports

  extension RealSockets {
    @Suite("F18, F19: TLS through a proxy, and to one")
    struct ProxyTLSTests {
      private let loop: SocketEventLoop
      private let certificates: Certificates

      init() throws {
        loop = try SocketEventLoop()
        certificates = try Certificates.shared.get()
      }

      /// Dials and comes back when it is known how that went.
      private func dialled<Dialer: ByteStreamDialer & SendableMetatype>(
        _ dialer: Dialer, _ endpoint: Endpoint
      ) async -> Talker<Dialer.Stream> where Dialer.Stream: SendableMetatype {
        let talker = Talker<Dialer.Stream>()
        let dialer = Confined(dialer)
        await loop.run { talker.stream = dialer.value.dial(endpoint, observer: talker) }
        await loop.until { !talker.events.isEmpty }
        return talker
      }

      /// - Parameter hearsEnd: Whether the proxy passes on what follows our own end; some do not,
      ///   and the server's close_notify is then lost.
      private func talk<Stream: ByteStream & SendableMetatype>(
        _ talker: Talker<Stream>, hearsEnd: Bool = true
      ) async {
        #expect(talker.events == [.opened], "\(String(describing: talker.stream?.diagnosis))")
        await loop.run { talker.write("inside of it all") }
        await loop.until { talker.text == "inside of it all" || talker.isOver }
        await loop.run { talker.stream?.finishWriting() }
        await loop.until { talker.isOver }
        if hearsEnd { #expect(talker.events == [.opened, .end]) }
        #expect(talker.text == "inside of it all")
        await loop.run { talker.stream?.close() }
      }

      @Test("TLS goes through HTTP and SOCKS5 proxies, and the target proves who it is, not they")
      func through() async throws {
        let server = try await TLSEchoServer(TLSServerContext(identity: certificates.good))
        let proxies = [
          try TestServer.connectProxy(to: server.port),
          try TestServer.socksProxy(to: server.port, nameLength: "good.test".utf8.count),
        ]
        for (kind, proxy) in zip([Proxy.Kind.http, .socks5], proxies) {
          let tunnels = ProxyDialer(
            TCPDialer(loop: loop), through: try Proxy(kind, at: proxy.endpoint))
          let dialer = TLSDialer(
            tunnels, configuration: try certificates.trusting(serverName: nil))
          // The name is the proxy's to look up, and the certificate's to prove.
          await talk(await dialled(dialer, Endpoint(scheme: "tls", host: "good.test", port: 443)))
          let other = await dialled(dialer, Endpoint(scheme: "tls", host: "evil.test", port: 443))
          #expect(other.events == [.failed(.tls(.hostMismatch))])
        }
        loop.stop()
        await server.stop()
        for proxy in proxies { proxy.stop() }
      }

      @Test("what a proxy answers reaches the diagnosis through TLS")
      func refused() async throws {
        let proxy = try TestServer { client in
          _ = client.read(1)
          client.write("HTTP/1.1 407 No\r\n\r\n")
          _ = client.readToEnd()
        }
        let tunnels = ProxyDialer(
          TCPDialer(loop: loop), through: try Proxy(.http, at: proxy.endpoint))
        let dialer = TLSDialer(tunnels, configuration: try certificates.trusting())
        let talker = await dialled(dialer, Endpoint(scheme: "tls", host: "good.test", port: 443))
        #expect(talker.events == [.failed(.http(status: 407))])
        let error = talker.stream?.diagnosis as? ProxyError
        #expect(error?.problem == .status(407))
        loop.stop()
        proxy.stop()
      }

      @Test(
        "a proxy spoken to over TLS (socat before tinyproxy) leads to a server with TLS of its own")
      func toAndThrough() async throws {
        let directory = try SocketDirectory()
        defer { directory.remove() }
        let server = try await TLSEchoServer(TLSServerContext(identity: certificates.good))
        let (tinyproxy, plain) = try await Tinyproxy.start(directory, to: [server.port])
        defer { tinyproxy.kill() }
        let file = directory.file("proxy.pem")
        try (certificates.good.certificates.content + certificates.good.key.content).write(
          toFile: file, atomically: false, encoding: .utf8)
        let (holder, port) = Peer.bound("127.0.0.1")
        holder.close()
        let front = try await PeerProgram.start(
          "socat",
          [
            "-d", "-d",
            "OPENSSL-LISTEN:\(port),bind=127.0.0.1,reuseaddr,fork,verify=0,cert=\(file)",
            "TCP:127.0.0.1:\(plain.port)",
          ], readiness: .output("listening on"))
        defer { front.kill() }
        let configuration = try certificates.trusting(serverName: nil)
        let toProxy = TLSDialer(TCPDialer(loop: loop), configuration: configuration)
        let proxy = try Proxy("https://ada:s3cr3t@127.0.0.1:\(port)")
        let dialer = TLSDialer(
          ProxyDialer(toProxy, through: proxy), configuration: configuration)
        await talk(
          await dialled(dialer, Endpoint(scheme: "tls", host: "127.0.0.1", port: server.port)),
          hearsEnd: false)
        loop.stop()
        await server.stop()
      }
    }
  }
#endif
