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
  @Suite("A TCP stream")
  struct TCPStreamTests {
    let loop: SocketEventLoop
    let client: TestClient

    init() throws {
      loop = try SocketEventLoop()
      client = TestClient(loop)
    }

    @Test("carries bytes both ways over IPv4 and IPv6", arguments: ["127.0.0.1", "::1"])
    func echo(host: String) async throws {
      let server = try TestServer(host) { $0.echo() }
      await client.dialled(server.endpoint)
      for round in 1...100 {
        await loop.run { [client] in client.write("0123456789") }
        await loop.until { [client] in client.received.count == 10 * round }
      }
      await loop.run { [client] in client.stream?.finishWriting() }
      await loop.until { [client] in client.events.last == .end }
      #expect(client.events == [.opened, .end])
      #expect(client.received.count == 1000)
      loop.stop()
      server.stop()
    }

    @Test("F45: the socket sends small segments at once, does not block and is not inherited")
    func options() async throws {
      let server = try TestServer { $0.echo() }
      await client.dialled(server.endpoint)
      let socket = Peer(descriptor: try #require(client.stream?.descriptor))
      #expect(socket.option(Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
      #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0)
      #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
      loop.stop()
      server.stop()
    }

    @Test("the end of a peer that closed is read; the first write is taken, the second is EPIPE")
    func orderlyEnd() async throws {
      let server = try TestServer { $0.write("bye") }
      await client.dialled(server.endpoint)
      await loop.until { [client] in client.events.last == .end }
      #expect(client.received == Array("bye".utf8))
      await loop.run { [client] in client.write("taken") }
      await loop.until { [client] in
        client.write("x")
        return client.events.count > 2
      }
      #expect(client.events == [.opened, .end, .writeFailed(.system(.brokenPipe))])
      let again = await loop.run { [client] in
        client.write("x")
        client.streamReadable()
        return client.events.suffix(2)
      }
      #expect(again == [.writeFailed(.system(.brokenPipe)), .end])
      loop.stop()
      server.stop()
    }

    @Test("a reset is read once as ECONNRESET and stays the answer of every later call")
    func reset() async throws {
      let server = try TestServer { peer in
        _ = peer.read(1)
        peer.resetOnClose()
      }
      await client.dialled(server.endpoint)
      await loop.run { [client] in client.write("x") }
      await loop.until { [client] in client.events.count > 1 }
      #expect(client.events == [.opened, .readFailed(.system(.connectionReset))])
      await loop.pause(.milliseconds(2))
      let again = await loop.run { [client] in
        client.streamReadable()
        client.write("x")
        return client.events.dropFirst(2)
      }
      #expect(
        again == [
          .readFailed(.system(.connectionReset)), .writeFailed(.system(.connectionReset)),
        ])
      loop.stop()
      server.stop()
    }

    @Test("F40: after the peer finished writing, what is sent still arrives")
    func peerHalfClose() async throws {
      let heard = Confined<[UInt8]>([])
      let server = try TestServer { peer in
        peer.finishWriting()
        heard.value = peer.readToEnd()
      }
      await client.dialled(server.endpoint)
      await loop.until { [client] in client.events.last == .end }
      await loop.run { [client] in
        client.write("still here")
        client.stream?.finishWriting()
      }
      server.stop()
      #expect(heard.value == Array("still here".utf8))
      #expect(client.events == [.opened, .end])
      loop.stop()
    }

    @Test("F39: after finishWriting the peer reads all of it, and what it answers arrives")
    func ownHalfClose() async throws {
      let server = try TestServer { peer in
        let count = peer.readToEnd().count
        peer.write("\(count)")
      }
      await client.dialled(server.endpoint)
      await loop.run { [client] in client.write([UInt8](repeating: 7, count: 1 << 20)) }
      await loop.until { [client] in client.pending.isEmpty }
      let refused = await loop.run { [client] in
        client.stream?.finishWriting()
        client.stream?.finishWriting()
        return client.stream?.write([1].span.bytes)
      }
      #expect(refused == .failed(.system(.brokenPipe)))
      await loop.until { [client] in client.events.last == .end }
      #expect(client.received == Array("1048576".utf8))
      loop.stop()
      server.stop()
    }

    @Test(
      "F38, B2.1: 2 MiB go both ways at once through small buffers, in partial and blocked writes")
    func largeTransfer() async throws {
      let server = try TestServer { peer in
        peer.setOption(SO_SNDBUF, Int32(8192))
        peer.echo()
      }
      await client.dialled(server.endpoint)
      let socket = Peer(descriptor: try #require(client.stream?.descriptor))
      socket.setOption(SO_SNDBUF, Int32(8192))
      var random = SplitMix64(seed: 1)
      let payload = (0..<2 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      await loop.run { [client] in client.write(payload) }
      await loop.until { [client] in client.received.count == payload.count }
      #expect(client.received == payload)
      #expect(client.partialWrites > 0 && client.blockedWrites > 0)
      #expect(client.events == [.opened])
      loop.stop()
      server.stop()
    }

    @Test("a reader that stalls stops the sender, and loses nothing once it reads again")
    func stalledReader() async throws {
      let payload = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 / 7) }
      let server = try TestServer { peer in
        peer.write(payload)
        peer.finishWriting()
        _ = peer.readToEnd()
      }
      await loop.run { [client] in client.isStalled = true }
      await client.dialled(server.endpoint)
      await loop.pause(.milliseconds(5))
      #expect(client.received.isEmpty)
      await loop.run { [client] in client.isStalled = false }
      await loop.until { [client] in client.events.last == .end }
      #expect(client.received == payload)
      loop.stop()
      server.stop()
    }

    @Test("an empty read or write neither ends nor blocks anything")
    func emptyBuffers() async throws {
      let server = try TestServer { $0.echo() }
      await client.dialled(server.endpoint)
      let results = await loop.run { [client] in
        var none: [UInt8] = []
        var span = none.mutableSpan
        var bytes = span.mutableBytes
        return (client.stream?.read(into: &bytes), client.stream?.write([UInt8]().span.bytes))
      }
      #expect(results.0 == .wouldBlock && results.1 == .wrote(0))
      loop.stop()
      server.stop()
    }

    @Test("I2: nothing is heard after close, also within the same turn, and closed stays closed")
    func silenceAfterClose() async throws {
      let server = try TestServer { peer in
        peer.write("hello")
        _ = peer.readToEnd()
      }
      let other = TestClient(loop)
      await client.dialled(server.endpoint)
      await other.dialled(server.endpoint)
      await loop.until { [client] in client.received.count == 5 && other.received.count == 5 }
      // Each closes the other when it hears: whichever comes first in the turn silences the second.
      let heard = Confined(0)
      await loop.run { [client] in
        client.onReadable = {
          heard.value += 1
          other.close()
        }
        other.onReadable = {
          heard.value += 1
          client.close()
        }
        // Both resets or ends are waiting before the loop looks again.
        shutdown(client.stream?.descriptor ?? -1, Int32(SHUT_RDWR))
        shutdown(other.stream?.descriptor ?? -1, Int32(SHUT_RDWR))
      }
      await loop.until { heard.value > 0 }
      await loop.pause(.milliseconds(2))
      #expect(heard.value == 1)
      let results = await loop.run { [client] in
        client.close()
        other.close()
        other.stream?.finishWriting()
        return other.stream?.write([1].span.bytes)
      }
      #expect(results == .failed(.system(.notConnected)))
      loop.stop()
      server.stop()
    }

    @Test("a stream that gets the descriptor of a closed one hears nothing meant for that one")
    func recycledDescriptor() async throws {
      let server = try TestServer { $0.echo() }
      let hanging = FullBacklog()
      let victim = TestClient(loop)
      let heir = TestClient(loop)
      await client.dialled(server.endpoint)
      await victim.dialled(server.endpoint)
      let descriptors = await loop.run { [client] in
        let descriptor = victim.stream?.descriptor
        // The victim has an event waiting in the same turn in which it is closed and replaced.
        for stream in [client, victim] {
          shutdown(stream.stream?.descriptor ?? -1, Int32(SHUT_RDWR))
        }
        let replace = {
          victim.close()
          client.close()
          heir.dial(hanging.endpoint)
        }
        client.onReadable = replace
        victim.onReadable = replace
        return descriptor
      }
      await loop.until { heir.stream?.descriptor != nil }
      await loop.pause(.milliseconds(2))
      #expect(heir.events.isEmpty)
      #expect(descriptors != nil)
      loop.stop()
      server.stop()
      hanging.close()
    }

    @Test(
      "after the loop was held up, what arrived is read before a deadline that passed is judged")
    func readinessBeforeDeadlines() async throws {
      let order = Confined<[String]>([])
      let server = try TestServer { peer in
        _ = peer.read(1)
        peer.write("answer")
        _ = peer.readToEnd()
      }
      await client.dialled(server.endpoint)
      await loop.run { [client, loop] in
        client.onReadable = { order.value.append("read") }
        loop.arm(Alarm { _ in order.value.append("deadline") }, at: loop.now)
        client.write("x")
        // Held up until the answer is there, long after the deadline.
        var byte: UInt8 = 0
        let socket = client.stream?.descriptor ?? -1
        while recv(socket, &byte, 1, Int32(MSG_PEEK)) != 1 {}
      }
      await loop.until { order.value.count == 2 }
      #expect(order.value == ["read", "deadline"])
      loop.stop()
      server.stop()
    }

    @Test("one loop carries 300 connections at once")
    func manyConnections() async throws {
      let server = try TestServer { $0.echo() }
      let clients = (0..<300).map { _ in TestClient(loop) }
      await loop.run { for client in clients { client.dial(server.endpoint) } }
      await loop.until { clients.allSatisfy { $0.isOpen } }
      await loop.run {
        for (number, client) in clients.enumerated() { client.write("line \(number)\n") }
      }
      await loop.until { clients.allSatisfy { $0.received.last == 10 } }
      for (number, client) in clients.enumerated() {
        #expect(client.received == Array("line \(number)\n".utf8))
      }
      loop.stop()
      server.stop()
    }
  }
}
