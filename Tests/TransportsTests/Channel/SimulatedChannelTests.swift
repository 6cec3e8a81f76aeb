import ConnectionFSM
import NetSim
import Testing
import Transports

@Suite("A channel over a simulated internet")
struct SimulatedChannelTests {
  /// A channel on its way to a server that plays a script, 50 ms away.
  private struct Scene {
    let loop: SimulatedEventLoop
    let internet: SimulatedInternet
    let client: HostID
    let server: HostID
    let endpoint: Endpoint
    let channel: ByteChannel<SimulatedDialer>
    let log = ChannelLog()

    init(
      _ loop: SimulatedEventLoop, _ script: [ServerAct], chunking: Chunking = .whole,
      marks: WaterMarks = .standard, halfClose: HalfClosePolicy = .close
    ) {
      var state = Internet(seed: 1)
      state.chunking = chunking
      client = state.addHost("client", link: .constant(.milliseconds(50)))
      server = state.addHost("server")
      state.listen(server, port: 80, Service(script: script))
      endpoint = Endpoint(host: state.addresses(of: server)[0], port: 80)
      internet = SimulatedInternet(state, on: loop)
      self.loop = internet.loop(of: client)
      let log = log
      channel = ByteChannel(
        internet.dialer(from: client), marks: marks, halfClose: halfClose,
        onEvent: { log.note($0.word) })
    }

    func connect() { channel.connect(to: endpoint, timeout: .seconds(10), completion: nil) }

    /// Lets time pass, and gives what was told meanwhile.
    func pass(_ span: TimeSpan) async throws -> [String] {
      try await loop.clock.sleep(for: Duration(span))
      return log.take()
    }

    /// Nothing is left but what a script holds.
    func finish() async throws {
      channel.close()
      _ = try await pass(.seconds(1))
    }
  }

  private func play(
    _ script: [ServerAct], chunking: Chunking = .whole, marks: WaterMarks = .standard,
    halfClose: HalfClosePolicy = .close, _ body: @escaping (Scene) async throws -> Void
  ) throws {
    try VirtualTime.run(limit: .seconds(100_000)) { loop in
      let scene = Scene(loop, script, chunking: chunking, marks: marks, halfClose: halfClose)
      try await body(scene)
      try await scene.finish()
    }
  }

  @Test("F36, B3.10, B3.14: a message read in one-byte pieces is whole, and reads go on")
  func pieces() throws {
    let text = "12\r\nHello, world7\r\nGoodbye"
    for chunking in [Chunking.whole, .atMost(1), .atMost(3)] {
      try play([.send(Array(text.utf8))], chunking: chunking) { scene in
        scene.channel.read(.until(.crlf, maximum: 10), 1, scene.log)
        scene.channel.read(.exactly(12), 2, scene.log)
        scene.channel.read(.until(.crlf, maximum: 10), 3, scene.log)
        scene.channel.read(.exactly(7), 4, scene.log)
        scene.connect()
        let told = try await scene.pass(.seconds(5))
        #expect(
          told == ["opened", "read 1: 12", "read 2: Hello, world", "read 3: 7", "read 4: Goodbye"])
      }
    }
  }

  @Test("F36, I13: a terminator is found wherever the stream pauses")
  func pauses() throws {
    let text = Array("a\r\r\nbc\r\n".utf8)
    for cut in 0...text.count {
      let script = [text[..<cut], text[cut...]].filter { !$0.isEmpty }
      let acts = script.flatMap { [ServerAct.send(Array($0)), .wait(.seconds(1))] }
      try play(acts) { scene in
        for tag in 1...2 { scene.channel.read(.until(.crlf, maximum: 4), tag, scene.log) }
        scene.connect()
        let told = try await scene.pass(.milliseconds(1900))
        #expect(told == ["opened", "read 1: a\r", "read 2: bc"], "cut at \(cut)")
      }
    }
  }

  @Test("F36, B3.9: at n - 1 bytes the timeout passes; it is extended twice, and then it is met")
  func timeout() throws {
    try play([.send(Array("abc".utf8)), .wait(.seconds(12)), .send([0x64])]) { scene in
      let (log, loop) = (scene.log, scene.loop)
      scene.channel.read(.exactly(4), 7, log, timeout: .seconds(5)) { count in
        log.note("asked at \(loop.now.nanoseconds / 1_000_000_000) s: \(count)")
        return .seconds(5)
      }
      scene.connect()
      let told = try await scene.pass(.seconds(30))
      #expect(told == ["opened", "asked at 5 s: 3", "asked at 10 s: 3", "read 7: abcd"])
    }
  }

  @Test("F38, I12, I21: the peer's window is 0 for an hour: writes wait in bounds, then all arrive")
  func closedWindow() throws {
    let count = 20
    let size = 65_536
    let script = [ServerAct.wait(.seconds(3600)), .receive(count * size), .send([0x21])]
    try play(script, marks: try WaterMarks(low: 65_536, high: 262_144)) { scene in
      let (channel, log) = (scene.channel, scene.log)
      scene.connect()
      channel.read(.exactly(1), 99, log)
      let sender = scene.loop.task("sends") {
        for tag in 1...count {
          let bytes = [UInt8](repeating: UInt8(tag), count: size)
          while true {
            let refused = ChannelLog()
            channel.write(bytes, tag, refused)
            await Task.yield()
            guard refused.contains("write \(tag) failed: bufferFull") else { break }
            log.note("full at \(tag)")
            try? await channel.writable()
          }
        }
      }
      let hour = try await scene.pass(.seconds(3590))
      // Four wait from the start; then the buffers of both systems take three and a part.
      #expect(hour == ["full at 5", "opened", "writable", "full at 8"])
      let after = try await scene.pass(.seconds(60))
      #expect(after.last == "read 99: !")
      await sender.value
    }
  }

  @Test("F39: close after writing gets 1 MiB through a slow reader, and the answer back")
  func orderlyClose() throws {
    let script = [
      ServerAct.wait(.seconds(30)), .receive(1 << 20), .send(Array("all of it".utf8)), .finish,
    ]
    try play(script, marks: try WaterMarks(low: 0, high: 1 << 20)) { scene in
      scene.channel.write([UInt8](repeating: 7, count: 1 << 20), 1, scene.log)
      scene.channel.read(.exactly(9), 2, scene.log)
      scene.connect()
      #expect(try await scene.pass(.seconds(1)) == ["opened"])
      scene.channel.closeAfterWriting(linger: .seconds(60), completion: nil)
      let told = try await scene.pass(.seconds(120))
      #expect(told == ["written 1", "read 2: all of it", "closed(closedByUser)"])
      #expect(scene.internet.liveSockets == 0)
    }
  }

  @Test("F39, I19: a silent peer holds an orderly close for no longer than the linger")
  func silentPeer() throws {
    try play([.receive(4), .hang]) { scene in
      scene.channel.write("last".utf8, 1, scene.log)
      scene.connect()
      _ = try await scene.pass(.seconds(1))
      scene.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      #expect(try await scene.pass(.seconds(4)) == [])
      #expect(try await scene.pass(.seconds(2)) == ["closed(timedOut(read))"])
    }
  }

  @Test("F40: the peer's FIN ends the channel, or data goes out after it until it is told to end")
  func halfClose() throws {
    let script = [ServerAct.send(Array("bye".utf8)), .finish, .receive(5), .close]
    try play(script) { scene in
      scene.connect()
      scene.channel.read(.exactly(3), 1, scene.log)
      let told = try await scene.pass(.seconds(2))
      #expect(told == ["opened", "read 1: bye", "closed(closedByPeer)"])
    }
    try play(script, halfClose: .keepWriting) { scene in
      scene.connect()
      scene.channel.read(.exactly(4), 1, scene.log)
      let told = try await scene.pass(.seconds(2))
      #expect(told == ["opened", "read 1 failed: ended(3)", "readClosed"])
      scene.channel.write("after".utf8, 2, scene.log)
      scene.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      let rest = try await scene.pass(.seconds(2))
      #expect(rest == ["written 2", "closed(closedByUser)"])
      #expect(scene.internet.liveSockets == 0)
    }
  }

  @Test("I8, I11: a connection that is cut ends what waits with the cause, once")
  func cut() throws {
    try play([.hang]) { scene in
      scene.connect()
      scene.channel.read(.exactly(1), 1, scene.log)
      _ = try await scene.pass(.seconds(1))
      scene.internet.inject(.cut(scene.client))
      let told = try await scene.pass(.seconds(1))
      #expect(
        told == [
          "read 1 failed: closed(system(connectionReset))", "closed(system(connectionReset))",
        ])
    }
  }

  @Test("I19: a connection that is lost in silence is noticed by a read's timeout alone")
  func silence() throws {
    try play([.hang]) { scene in
      scene.connect()
      _ = try await scene.pass(.seconds(1))
      scene.internet.inject(.sever(scene.client))
      scene.channel.read(.exactly(1), 1, scene.log, timeout: .seconds(30))
      let told = try await scene.pass(.seconds(31))
      #expect(told == ["read 1 failed: timedOut(read, 0)"])
    }
  }
}
