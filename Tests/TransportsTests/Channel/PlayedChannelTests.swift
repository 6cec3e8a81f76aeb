import ConnectionFSM
import NetSim
import Testing
import Transports

@Suite("A channel over a played stream")
struct PlayedChannelTests {
  private func played(
    marks: WaterMarks? = nil, halfClose: HalfClosePolicy = .close,
    _ body: @escaping (PlayedChannel) async throws -> Void
  ) throws {
    try VirtualTime.run(limit: .seconds(100_000)) { loop in
      let played = PlayedChannel(loop, marks: marks, halfClose: halfClose)
      try await body(played)
      played.channel.close()
      try await played.turn()
    }
  }

  @Test(
    "F37, I11, B2.1: the kernel takes 0, 1, n - 1 bytes: each write ends once, whole and in order")
  func shortWrites() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [0, 1, 4, 0, 1]
      for tag in 1...3 { played.channel.write("wrote\(tag)".utf8, tag, played.log) }
      #expect(try await played.told() == ["opened"])
      #expect(played.stream.taken.isEmpty)
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == [])
      #expect(played.stream.taken == Array("wrote".utf8))
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == ["written 1", "written 2", "written 3"])
      #expect(played.stream.taken == Array("wrote1wrote2wrote3".utf8))
    }
  }

  @Test("F36, F37, B2.6: what is asked before the opening is done after it, in order")
  func queued() throws {
    try played { played in
      played.channel.write("hello".utf8, 1, played.log, timeout: .seconds(5))
      played.channel.write([], 2, played.log)
      played.channel.read(.exactly(2), 3, played.log, timeout: .seconds(5))
      try await played.connect()
      #expect(try await played.pass(.seconds(60)) == [])
      played.stream.observer?.streamOpened()
      #expect(try await played.told() == ["opened", "written 1", "written 2"])
      played.stream.arrive("ok")
      #expect(try await played.told() == ["read 3: ok"])
    }
  }

  @Test("F36, B3.9, I20: timeout and tag are the given ones; it is extended twice, then fails")
  func readTimeout() throws {
    try played { played in
      try await played.open()
      let log = played.log
      let grants = Confined([TimeSpan.seconds(3), .seconds(2)])
      played.channel.read(.exactly(4), 42, log, timeout: .seconds(5)) { count in
        log.note("asked at \(played.loop.now.nanoseconds / 1_000_000_000) s, \(count) bytes")
        return grants.value.isEmpty ? nil : grants.value.removeFirst()
      }
      played.channel.read(.any(atMost: 10), 43, log)
      played.stream.arrive("abc")
      #expect(
        try await played.pass(.seconds(60)) == [
          "opened", "asked at 5 s, 3 bytes", "asked at 8 s, 3 bytes", "asked at 10 s, 3 bytes",
          "read 42 failed: timedOut(read, 3)", "read 43: abc",
        ])
    }
  }

  @Test("F37: a write that times out ends the channel; what waits behind it is told why")
  func writeTimeout() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [2, 0]
      played.channel.write("abc".utf8, 1, played.log, timeout: .seconds(5)) { count in
        played.log.note("asked: \(count)")
        return nil
      }
      played.channel.write("d".utf8, 2, played.log)
      played.channel.read(.exactly(1), 3, played.log)
      #expect(
        try await played.pass(.seconds(6)) == [
          "opened", "asked: 2", "write 1 failed: timedOut(write, 2)",
          "write 2 failed: closed(timedOut(write))", "read 3 failed: closed(timedOut(write))",
          "closed(timedOut(write))",
        ])
      #expect(played.stream.isClosed)
      played.channel.write("e".utf8, 4, played.log)
      #expect(try await played.told() == ["write 4 failed: closed(timedOut(write))"])
    }
  }

  @Test("F38, I12: while nobody asks, no more than the bound is read; a request goes on from there")
  func backpressure() throws {
    try played { played in
      try await played.open()
      played.stream.arrive(String(repeating: "x", count: 100_000))
      try await played.turn()
      #expect(played.stream.arrived.count == 100_000 - ReadRequests.readAhead)
      #expect(!played.stream.isReading)
      played.channel.read(.exactly(50_000), 1, played.log)
      #expect(try await played.told() == ["opened", "read 1: 50000 bytes"])
      try await played.turn()
      #expect(played.stream.arrived.count == 50_000 - ReadRequests.readAhead)
      #expect(!played.stream.isReading)
    }
  }

  @Test("F38: above the high mark a write is refused; below the low one the channel is writable")
  func waterMarks() throws {
    try played(marks: try WaterMarks(low: 4, high: 10)) { played in
      try await played.open()
      played.stream.takes = [0]
      played.channel.write("0123456789".utf8, 1, played.log)
      played.channel.write("x".utf8, 2, played.log)
      #expect(try await played.told() == ["opened", "write 2 failed: bufferFull"])
      let (channel, log) = (played.channel, played.log)
      played.loop.task("waits") {
        try? await channel.writable()
        log.note("resumed")
      }
      #expect(try await played.told() == [])
      played.stream.takes = [5, 0]
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == [])
      played.stream.takes = [2, 0]
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == ["writable", "resumed"])
    }
  }

  @Test("F39: close after writing refuses later requests, flushes, sends FIN, waits for the peer")
  func orderlyClose() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [2, 0]
      played.channel.write("last".utf8, 1, played.log)
      played.channel.read(.exactly(3), 2, played.log)
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      played.channel.write("x".utf8, 3, played.log)
      played.channel.read(.exactly(1), 4, played.log)
      #expect(
        try await played.told() == ["opened", "write 3 failed: closing", "read 4 failed: closing"])
      #expect(!played.stream.hasFinishedWriting)
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == ["written 1"])
      #expect(played.stream.hasFinishedWriting)
      played.stream.arrive("byeand what nobody asked for")
      #expect(try await played.told() == ["read 2: bye"])
      #expect(!played.stream.isClosed)
      played.stream.arrive(.end)
      #expect(try await played.told() == ["closed(closedByUser)"])
      #expect(played.stream.isClosed)
    }
  }

  @Test("F39: a peer that never ends, or takes nothing, is waited for no longer than the linger")
  func linger() throws {
    try played { played in
      try await played.open()
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      #expect(try await played.pass(.seconds(4)) == ["opened"])
      played.stream.arrive("more")
      #expect(try await played.pass(.seconds(2)) == ["closed(timedOut(read))"])
    }
    try played { played in
      try await played.open()
      played.stream.takes = [1, 0]
      played.channel.write("abc".utf8, 1, played.log)
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      #expect(try await played.pass(.seconds(4)) == ["opened"])
      played.stream.takes = [1, 0]
      played.stream.observer?.streamWritable()
      #expect(try await played.pass(.seconds(4)) == [])
      #expect(
        try await played.pass(.seconds(2)) == [
          "write 1 failed: closed(timedOut(write))", "closed(timedOut(write))",
        ])
    }
  }

  @Test("F39: a peer that writes before it reads is read, so that the last bytes get through")
  func floodWhileClosing() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [0]
      played.channel.write("last".utf8, 1, played.log)
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      played.stream.arrive(String(repeating: "x", count: 200_000))
      _ = try await played.told()
      #expect(played.stream.arrived.isEmpty)
    }
  }

  @Test("F40: the peer's FIN ends the channel by default; what had arrived can still be read")
  func closesOnFIN() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [0]
      played.channel.write("never".utf8, 1, played.log)
      played.channel.read(.exactly(9), 2, played.log)
      played.stream.arrive("abcd")
      played.stream.arrive(.end)
      let told = try await played.told()
      #expect(
        told == [
          "opened", "read 2 failed: ended(4)", "write 1 failed: closed(closedByPeer)",
          "closed(closedByPeer)",
        ])
      #expect(played.stream.isClosed)
      played.channel.read(.any(atMost: 9), 3, played.log)
      played.channel.read(.any(atMost: 9), 4, played.log)
      #expect(try await played.told() == ["read 3: abcd", "read 4 failed: ended(0)"])
    }
  }

  @Test("F40: kept for writing, the channel says that reading is over, and writes until told")
  func keepsWriting() throws {
    try played(halfClose: .keepWriting) { played in
      try await played.open()
      played.channel.read(.exactly(9), 1, played.log)
      played.stream.arrive("ab")
      played.stream.arrive(.end)
      #expect(
        try await played.told() == ["opened", "read 1 failed: ended(2)", "readClosed"])
      played.channel.write("data".utf8, 2, played.log)
      #expect(try await played.told() == ["written 2"])
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      #expect(try await played.told() == ["closed(closedByUser)"])
      #expect(played.stream.hasFinishedWriting)
    }
  }

  @Test("I8, I11, I16: a reset fails what waits, with its cause, once")
  func reset() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [0]
      played.channel.write("a".utf8, 1, played.log)
      played.channel.read(.exactly(2), 2, played.log)
      played.stream.arrive(.failed(.system(.connectionReset)))
      #expect(
        try await played.told() == [
          "opened", "read 2 failed: closed(system(connectionReset))",
          "write 1 failed: closed(system(connectionReset))", "closed(system(connectionReset))",
        ])
    }
  }

  @Test("B2.1: when a write fails, what the peer said before it went is read first")
  func lastWords() throws {
    try played { played in
      try await played.open()
      played.channel.read(.until(.lf, maximum: 20), 1, played.log)
      played.stream.setReading(false)
      played.stream.arrive("too many users\n")
      played.stream.arrive(.end)
      played.stream.writeFailure = .system(.brokenPipe)
      played.channel.write("a".utf8, 2, played.log)
      #expect(
        try await played.told() == [
          "opened", "read 1: too many users", "write 2 failed: closed(system(brokenPipe))",
          "closed(system(brokenPipe))",
        ])
    }
  }
}
