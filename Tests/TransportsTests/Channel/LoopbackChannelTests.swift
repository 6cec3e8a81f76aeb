import ConnectionFSM
import Synchronization
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Gives the stream of a channel to the test, for the options of its socket.
final class TappedDialer: ByteStreamDialer, @unchecked Sendable {
  // Unchecked: used on the loop.
  private let base: TCPDialer
  private(set) var stream: TCPStream?

  init(_ loop: SocketEventLoop) { base = TCPDialer(loop: loop) }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TCPStream {
    let stream = base.dial(endpoint, observer: observer)
    self.stream = stream
    return stream
  }
}

extension RealSockets {
  @Suite("A channel over loopback")
  struct LoopbackChannelTests {
    let loop: SocketEventLoop
    let dialer: TappedDialer
    let log = ChannelLog()

    init() throws {
      loop = try SocketEventLoop()
      dialer = TappedDialer(loop)
    }

    private func channel(
      marks: WaterMarks = .standard, halfClose: HalfClosePolicy = .close
    ) -> ByteChannel<TappedDialer> {
      let log = log
      return ByteChannel(
        dialer, marks: marks, halfClose: halfClose, onEvent: { log.note($0.word) })
    }

    private func told(_ line: String) async {
      let log = log
      await loop.until { log.contains(line) }
    }

    @Test("F36, F37: a banner, a line and so many bytes, asked for in tasks")
    func conversation() async throws {
      let server = try TestServer { peer in
        peer.write("220 ready\r\n")
        let line = peer.read(7)
        peer.write("12\r\nHello, ")
        peer.write(line.prefix(5))
      }
      let channel = channel()
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      #expect(try await channel.read(.until(.crlf, maximum: 100)) == Array("220 ready".utf8))
      try await channel.write(Array("world\r\n".utf8))
      #expect(try await channel.read(.until(.crlf, maximum: 100)) == Array("12".utf8))
      #expect(try await channel.read(.exactly(12)) == Array("Hello, world".utf8))
      let error = await #expect(throws: ChannelError.self) { try await channel.read(.exactly(1)) }
      #expect(error == .ended(byteCount: 0))
      await told("closed(closedByPeer)")
      loop.stop()
      server.stop()
    }

    @Test("F36, B3.9: a silent server lets a read time out, and the channel lives on")
    func silentServer() async throws {
      let server = try TestServer { _ = $0.readToEnd() }
      let channel = channel()
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      let error = await #expect(throws: ChannelError.self) {
        try await channel.read(.exactly(1), timeout: .milliseconds(5))
      }
      #expect(error == .timedOut(.read, byteCount: 0))
      try await channel.write([1])
      #expect(await channel.closeAfterWriting(linger: .seconds(60)) == .closedByUser)
      loop.stop()
      server.stop()
    }

    @Test("F36: a slow drip meets a read whose time is granted again and again")
    func slowDrip() async throws {
      // A byte for every byte, and those come when the time has passed once more.
      let server = try TestServer { $0.echo() }
      let channel = channel()
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      let counts = Mutex<[Int]>([])
      let met = Mutex<[UInt8]>([])
      channel.read(
        .exactly(5), timeout: .milliseconds(1),
        onTimeout: { [weak channel] count in
          counts.withLock { $0.append(count) }
          channel?.write([0x2E]) { _, _ in }
          return .milliseconds(1)
        },
        completion: { _, result in met.withLock { $0 = (try? result.get()) ?? [0] } })
      await loop.until { met.withLock { !$0.isEmpty } }
      #expect(met.withLock { $0 } == Array(".....".utf8))
      let asked = counts.withLock { $0 }
      #expect(asked.count >= 5 && asked == asked.sorted() && asked.last ?? 5 < 5)
      await channel.closeAfterWriting(linger: .seconds(60))
      loop.stop()
      server.stop()
    }

    @Test("F37: to a peer that does not read, through a small buffer, a write times out")
    func writeTimeout() async throws {
      let done = Atomic(false)
      let server = try TestServer { peer in
        peer.setOption(SO_RCVBUF, Int32(4096))
        while !done.load(ordering: .relaxed) { SystemThread.yield() }
      }
      let channel = channel(marks: try WaterMarks(low: 0, high: 64 << 20))
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      let socket = await loop.run { [dialer] in dialer.stream?.descriptor }
      Peer(descriptor: try #require(socket)).setOption(SO_SNDBUF, Int32(4096))
      let asked = Mutex<[Int]>([])
      let log = log
      channel.write(
        [UInt8](repeating: 1, count: 32 << 20), 1, log, timeout: .milliseconds(20)
      ) { count in
        asked.withLock { asked in
          asked.append(count)
          return asked.count == 1 ? .milliseconds(5) : nil
        }
      }
      channel.write([2], 2, log)
      await told("closed(timedOut(write))")
      let counts = asked.withLock { $0 }
      let first = try #require(counts.first)
      #expect(first > 0 && first < 32 << 20 && counts == [first, counts[1]])
      #expect(
        log.lines == [
          "opened", "write 1 failed: timedOut(write, \(counts[1]))",
          "write 2 failed: closed(timedOut(write))", "closed(timedOut(write))",
        ])
      done.store(true, ordering: .relaxed)
      loop.stop()
      server.stop()
    }

    @Test("F38, I21: a peer that stalls fills no more than the marks; then everything arrives")
    func stalledReader() async throws {
      let goes = Atomic(false)
      let heard = Confined(0)
      let server = try TestServer { peer in
        while !goes.load(ordering: .relaxed) { SystemThread.yield() }
        heard.value = peer.readToEnd().count
      }
      let channel = channel(marks: try WaterMarks(low: 65_536, high: 262_144))
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      let chunk = [UInt8](repeating: 1, count: 65_536)
      var sent = 0
      var refused = 0
      while sent < 400 {
        let result = Mutex<ChannelError?>(nil)
        channel.write(chunk) { _, outcome in
          if case .failure(let error) = outcome { result.withLock { $0 = error } }
        }
        await loop.run {}
        if result.withLock({ $0 }) == nil {
          sent += 1
          continue
        }
        refused += 1
        goes.store(true, ordering: .relaxed)
        try await channel.writable()
      }
      #expect(refused > 0)
      #expect(await channel.closeAfterWriting(linger: .seconds(60)) == .closedByUser)
      server.stop()
      #expect(heard.value == 400 * 65_536)
      loop.stop()
    }

    @Test(
      "F39: the peer reads a whole 1 MiB and no byte is lost, though it wrote what nobody reads")
    func noLostTail() async throws {
      let heard = Confined<[UInt8]>([])
      let server = try TestServer { peer in
        peer.write([UInt8](repeating: 9, count: 100_000))
        heard.value = peer.readToEnd()
      }
      var random = SplitMix64(seed: 1)
      let payload = (0..<1 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let channel = channel()
      channel.connect(to: server.endpoint, timeout: .seconds(60), completion: nil)
      channel.write(payload, 1, log)
      channel.write([], 2, log)
      await told("opened")
      channel.closeAfterWriting(linger: .seconds(60), completion: nil)
      channel.write([1], 3, log)
      await told("closed(closedByUser)")
      #expect(
        log.lines.filter { $0 != "write 3 failed: closing" } == [
          "opened", "written 1", "written 2", "closed(closedByUser)",
        ])
      #expect(log.contains("write 3 failed: closing"))
      server.stop()
      let isWhole = heard.value == payload
      #expect(isWhole)
      loop.stop()
    }

    @Test("F40: a peer that shut its sending side ends the channel, or goes on reading from it")
    func peerHalfClose() async throws {
      // By two connections, each on a thread of its own.
      let heard = Tally()
      let server = try TestServer { peer in
        peer.write("bye")
        peer.finishWriting()
        heard.add(String(decoding: peer.readToEnd(), as: UTF8.self))
      }
      let closing = channel()
      closing.connect(to: server.endpoint, timeout: .seconds(60), completion: nil)
      closing.read(.exactly(4), 1, log)
      await told("closed(closedByPeer)")
      #expect(log.take() == ["opened", "read 1 failed: ended(3)", "closed(closedByPeer)"])
      let keeping = channel(halfClose: .keepWriting)
      keeping.connect(to: server.endpoint, timeout: .seconds(60), completion: nil)
      await told("readClosed")
      try await keeping.write(Array("still here".utf8))
      #expect(await keeping.closeAfterWriting(linger: .seconds(60)) == .closedByUser)
      server.stop()
      #expect(heard.all.sorted() == ["", "still here"])
      loop.stop()
    }

    @Test("B2.1, I16: to write after a reset is a typed failure, and the process lives")
    func writeAfterReset() async throws {
      let server = try TestServer { peer in
        _ = peer.read(1)
        peer.resetOnClose()
      }
      let channel = channel()
      try await channel.connect(to: server.endpoint, timeout: .seconds(60))
      try await channel.write([1])
      await told("closed(system(connectionReset))")
      let error = await #expect(throws: ChannelError.self) { try await channel.write([1]) }
      #expect(error == .closed(.system(.connectionReset)))
      loop.stop()
      server.stop()
    }

    @Test("I18: a hundred channels, closed, ended and dropped, leave no socket")
    func nothingLeft() async throws {
      let before = ProcessCounts.sockets
      let server = try TestServer { $0.echo() }
      for round in 0..<100 {
        let channel = channel()
        try await channel.connect(to: server.endpoint, timeout: .seconds(60))
        try await channel.write([1, 2])
        _ = try await channel.read(.exactly(2), timeout: .seconds(60))
        if round % 3 == 0 { await channel.closeAfterWriting(linger: .seconds(60)) }
        if round % 3 == 1 { channel.close() }
      }
      let log = log
      await loop.until { log.lines.count { $0 == "closed(closedByUser)" } == 100 }
      server.stop()
      loop.stop()
      #expect(ProcessCounts.sockets == before)
    }
  }
}
