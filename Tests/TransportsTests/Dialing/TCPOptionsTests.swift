import ConnectionFSM
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension RealSockets {
  @Suite("F45: TCP options")
  struct TCPOptionsTests {
    let loop: SocketEventLoop

    init() throws { loop = try SocketEventLoop() }

    private func dialled(_ options: TCPOptions, _ endpoint: Endpoint) async -> TestClient {
      let client = TestClient(loop, options: options)
      await client.dialled(endpoint)
      return client
    }

    @Test("keepalive, user timeout and buffers reach the socket, and small segments go at once")
    func reachTheSocket() async throws {
      let server = try TestServer { $0.echo() }
      let options = try TCPOptions(
        keepalive: .init(idle: .seconds(30), interval: .milliseconds(4500), count: 3),
        userTimeout: .microseconds(20_000_500), sendBuffer: 30_000, receiveBuffer: 40_000)
      let client = await dialled(options, server.endpoint)
      let socket = Peer(descriptor: try #require(client.stream?.descriptor))
      let tcp = Int32(IPPROTO_TCP)
      #expect(socket.option(tcp, TCP_NODELAY) == 1)
      #expect(socket.option(SOL_SOCKET, SO_KEEPALIVE) == 1)
      #if os(Linux)
        #expect(socket.option(tcp, TCP_KEEPIDLE) == 30)
        // Fractions are rounded up.
        #expect(socket.option(tcp, TCP_KEEPINTVL) == 5)
        #expect(socket.option(tcp, TCP_KEEPCNT) == 3)
        #expect(socket.option(tcp, TCP_USER_TIMEOUT) == 20_001)
        // Linux doubles what it is asked for, for its own books.
        #expect(socket.option(SOL_SOCKET, SO_SNDBUF) == 60_000)
        #expect(socket.option(SOL_SOCKET, SO_RCVBUF) == 80_000)
      #endif
      let plain = await dialled(.standard, server.endpoint)
      let other = Peer(descriptor: try #require(plain.stream?.descriptor))
      #expect(other.option(tcp, TCP_NODELAY) == 1)
      #expect(other.option(SOL_SOCKET, SO_KEEPALIVE) == 0)
      loop.stop()
      server.stop()
    }

    @Test("a write after a reset is told, and does not kill the process")
    func noSignal() async throws {
      let server = try TestServer { peer in
        _ = peer.read(1)
        peer.resetOnClose()
      }
      let client = await dialled(.standard, server.endpoint)
      await loop.run { client.write("x") }
      await loop.until {
        client.write("x")
        return client.events.contains { if case .writeFailed = $0 { true } else { false } }
      }
      loop.stop()
      server.stop()
    }

    #if os(Linux)
      @Test("a dial leaves from the given address, or from the interface's of that name")
      func localAddress() async throws {
        let server = try TestServer { peer in
          _ = peer.read(1)
          peer.write(peerHost(of: peer))
        }
        // All of 127.0.0.0/8 is this machine's own on Linux.
        for (name, expected) in [("127.0.0.2", "127.0.0.2"), ("lo", "127.0.0.1")] {
          let client = await dialled(try TCPOptions(localAddress: name), server.endpoint)
          await loop.run { client.write("x") }
          await loop.until { client.events.last == .end }
          #expect(String(decoding: client.received, as: UTF8.self) == expected)
        }
        loop.stop()
        server.stop()
      }

      @Test("in a race each family leaves from the interface's address of its own")
      func interfaceOfBothFamilies() async throws {
        let server = try TestServer("::1") { $0.echo() }
        let client = await dialled(try TCPOptions(localAddress: "lo"), server.endpoint)
        #expect(client.events == [.opened])
        loop.stop()
        server.stop()
      }
    #endif

    @Test("EADDRNOTAVAIL of an address that was asked for is a lost local address, and waits")
    func lostAddress() async throws {
      let server = try TestServer { $0.echo() }
      // 192.0.2.0/24 is for documentation (RFC 5737): on no interface.
      for name in ["192.0.2.7", "nosuch0"] {
        let client = await dialled(try TCPOptions(localAddress: name), server.endpoint)
        #expect(client.events == [.failed(.localAddressLost)])
        let error = client.stream?.diagnosis as? DialError
        #expect(error?.problem == .noLocalAddress(name))
        #expect(error?.description.contains(name) == true)
      }
      #expect(Cause.localAddressLost.failureClass == .network)
      let other = await dialled(try TCPOptions(localAddress: "::1"), server.endpoint)
      #expect(other.events == [.failed(.system(.addressFamilyNotSupported))])
      loop.stop()
      server.stop()
    }

    @Test("I16: a value out of its range is a typed error with the name and the mend")
    func errors() throws {
      let cases: [(String, () throws -> Void)] = [
        ("localAddress", { _ = try TCPOptions(localAddress: "") }),
        ("localAddress", { _ = try TCPOptions(localAddress: "lo\0") }),
        ("userTimeout", { _ = try TCPOptions(userTimeout: .zero) }),
        ("userTimeout", { _ = try TCPOptions(userTimeout: .milliseconds(1 << 31)) }),
        ("sendBuffer", { _ = try TCPOptions(sendBuffer: 0) }),
        ("receiveBuffer", { _ = try TCPOptions(receiveBuffer: 1 << 31) }),
        ("keepalive.idle", { _ = try keepalive(.milliseconds(999), .seconds(1), 1) }),
        ("keepalive.interval", { _ = try keepalive(.seconds(1), .seconds(32_768), 1) }),
        ("keepalive.count", { _ = try keepalive(.seconds(1), .seconds(1), 0) }),
        ("keepalive.count", { _ = try keepalive(.seconds(1), .seconds(1), 128) }),
      ]
      for (parameter, make) in cases {
        let error = #expect(throws: TCPOptionError.self) { try make() }
        #expect(error?.parameter == parameter)
        #expect(error?.description.contains("must be") == true)
      }
      _ = try keepalive(.seconds(1), .seconds(32_767), 127)
    }

    private func keepalive(
      _ idle: TimeSpan, _ interval: TimeSpan, _ count: Int
    ) throws -> TCPOptions.Keepalive {
      try TCPOptions.Keepalive(idle: idle, interval: interval, count: count)
    }
  }
}

/// The address from which an IPv4 peer dialled.
private func peerHost(of peer: Peer) -> String {
  var address = sockaddr_in()
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  _ = withUnsafeMutableBytes(of: &address) {
    $0.withMemoryRebound(to: sockaddr.self) {
      getpeername(peer.descriptor, $0.baseAddress!, &length)
    }
  }
  let number = UInt32(bigEndian: address.sin_addr.s_addr)
  return (0..<4).map { "\(number >> (24 - 8 * $0) & 255)" }.joined(separator: ".")
}
