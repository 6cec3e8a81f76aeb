import ConnectionFSM
import Foundation
import Testing
import Transports

extension RealSockets {
  @Suite("F18: dialling through a proxy over loopback")
  struct ProxyLoopbackTests {
    let loop: SocketEventLoop

    init() throws { loop = try SocketEventLoop() }

    private typealias Caller = StreamCaller<ProxyDialer<TCPDialer>>

    private func caller(_ proxy: Proxy) -> Caller {
      StreamCaller(
        ProxyDialer(TCPDialer(loop: loop), through: proxy, handshakeLimit: .seconds(60)))
    }

    /// Dials on the loop and comes back when it is known how that went.
    private func dialled(_ proxy: Proxy, _ target: Endpoint) async -> Caller {
      let caller = caller(proxy)
      await loop.run { caller.dial(target) }
      await loop.until { !caller.heard.isEmpty }
      return caller
    }

    /// Talks to an echo through the tunnel and ends in order.
    private func talk(_ caller: Caller) async {
      #expect(caller.heard == ["opened"], "\(String(describing: caller.stream?.diagnosis))")
      await loop.run { caller.write("through the tunnel") }
      await loop.until { caller.text == "through the tunnel" }
      await loop.run { caller.stream?.finishWriting() }
      await loop.until { caller.heard.last == "end" }
      await loop.run { caller.stream?.close() }
    }

    @Test("CONNECT and SOCKS5 lead to a server that only the proxy knows")
    func ownProxies() async throws {
      let echo = try TestServer { $0.echo() }
      let port = echo.port
      let http = try TestServer.connectProxy(to: port)
      let socks = try TestServer.socksProxy(to: port, nameLength: "far.invalid".utf8.count)
      // A name that only a proxy could know: looking it up here would fail.
      let target = Endpoint(host: "far.invalid", port: 9)
      await talk(await dialled(try Proxy(.http, at: http.endpoint), target))
      await talk(await dialled(try Proxy(.socks5, at: socks.endpoint), target))
      loop.stop()
      for server in [http, socks, echo] { server.stop() }
    }

    @Test("I18: 60 dials through proxies that refuse, hang or are not there leave no socket")
    func nothingLeft() async throws {
      let mute = try TestServer { _ = $0.readToEnd() }
      let busy = try TestServer { peer in
        _ = peer.read(1)
        peer.write("HTTP/1.1 503 Busy\r\n\r\n")
        _ = peer.readToEnd()
      }
      let (gone, full) = (RefusedPort(), FullBacklog())
      let before = ProcessCounts.sockets
      let target = Endpoint(host: "far.invalid", port: 9)
      var callers: [Caller] = []
      for endpoint in [mute.endpoint, busy.endpoint, gone.endpoint, full.endpoint] {
        let proxy = try Proxy(.http, at: endpoint)
        callers += (0..<15).map { _ in caller(proxy) }
      }
      let all = callers
      await loop.run { for caller in all { caller.dial(target) } }
      await loop.until { all[15..<45].allSatisfy { !$0.heard.isEmpty } }
      #expect(all[15..<30].allSatisfy { $0.heard == ["\(Cause.http(status: 503))"] })
      #expect(all[30..<45].allSatisfy { $0.heard == ["system(connectionRefused)"] })
      await loop.run {
        for (place, caller) in all.enumerated() {
          // Half of them are dropped instead of closed.
          if place % 2 == 0 { caller.stream?.close() }
          caller.stream = nil
        }
      }
      await loop.until { ProcessCounts.sockets <= before }
      loop.stop()
      mute.stop()
      busy.stop()
      gone.close()
      full.close()
    }

    // MARK: tinyproxy

    @Test("tinyproxy gives a tunnel for the right credentials, to a port that it allows")
    func tunnel() async throws {
      let directory = try SocketDirectory()
      defer { directory.remove() }
      let echo = try TestServer { $0.echo() }
      let refused = RefusedPort()
      let (program, endpoint) = try await Tinyproxy.start(
        directory, to: [echo.port, refused.endpoint.port])
      defer { program.kill() }
      let right = try ProxyCredentials(user: "ada", password: "s3cr3t")
      let proxy = try Proxy(.http, at: endpoint, credentials: right)
      for _ in 0..<5 { await talk(await dialled(proxy, echo.endpoint)) }

      // 407 for none and for wrong ones; the class is terminal after one refresh.
      let wrong = try ProxyCredentials(user: "ada", password: "guess")
      for credentials in [nil, wrong] {
        let caller = await dialled(
          try Proxy(.http, at: endpoint, credentials: credentials), echo.endpoint)
        // It answers 401 where 407 is meant; both are of the same class.
        let status: UInt16 = credentials == nil ? 407 : 401
        #expect(caller.heard == ["\(Cause.http(status: status))"])
        #expect(Cause.http(status: status).verdict() == .terminal.refreshing)
        let shown = "\(String(describing: caller.stream?.diagnosis))"
        #expect(shown.contains("check user and password") && !shown.contains("guess"))
      }
      let forbidden = await dialled(proxy, Endpoint(host: "127.0.0.1", port: 1))
      #expect(forbidden.problem == .status(403))
      let dead = await dialled(proxy, refused.endpoint)
      guard case .status(let status) = dead.problem else {
        Issue.record("\(dead.heard)")
        return
      }
      #expect((500...599).contains(status))
      loop.stop()
      echo.stop()
      refused.close()
    }

    @Test("a proxy that is killed ends its tunnels, and refuses until it is back")
    func killed() async throws {
      let directory = try SocketDirectory()
      defer { directory.remove() }
      let echo = try TestServer { $0.echo() }
      let (program, endpoint) = try await Tinyproxy.start(
        directory, to: [echo.port], credentials: false)
      let proxy = try Proxy(.http, at: endpoint)
      let caller = await dialled(proxy, echo.endpoint)
      #expect(caller.heard == ["opened"])
      program.kill()
      await loop.until { caller.heard.count > 1 }
      #expect(["end", "read system(connectionReset)"].contains(caller.heard.last))
      let next = await dialled(proxy, echo.endpoint)
      #expect(next.heard == ["system(connectionRefused)"])
      let shown = "\(String(describing: next.stream?.diagnosis))"
      #expect(shown.contains("is it running?"))
      await loop.run { caller.stream?.close() }
      loop.stop()
      echo.stop()
    }

    @Test("a connection with its line protocol goes through a proxy like any other")
    func connection() async throws {
      let directory = try SocketDirectory()
      defer { directory.remove() }
      let echo = try TestServer { $0.echo() }
      let (program, endpoint) = try await Tinyproxy.start(
        directory, to: [echo.port], credentials: false)
      defer { program.kill() }
      let dialer = ProxyDialer(TCPDialer(loop: loop), through: try Proxy(.http, at: endpoint))
      let framing = try DelimiterFraming(delimiter: .lf)
      let connection = try Connection(
        StreamTransport(dialer) { framing },
        policy: try Policy(
          backoff: Backoff(
            first: .milliseconds(50), base: .milliseconds(50), cap: .seconds(1), jitter: .none),
          heartbeat: nil),
        seed: 1)
      let messages = connection.messages()
      connection.connect(to: echo.endpoint)
      try await connection.send(Message("over a proxy"))
      for try await message in messages {
        #expect(message.text == "over a proxy")
        break
      }
      await connection.close()
      loop.stop()
      echo.stop()
    }
  }
}
