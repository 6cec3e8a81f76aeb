import ConnectionFSM
import NetSim
import Testing
import Transports

@Suite("A channel's life")
struct ChannelLifeTests {
  private func played(_ body: @escaping (PlayedChannel) async throws -> Void) throws {
    try VirtualTime.run(limit: .seconds(100_000)) { loop in
      let played = PlayedChannel(loop)
      try await body(played)
      played.channel.close()
      try await played.turn()
    }
  }

  @Test("I16, I3, B2.5: a channel connects once; a second connect is told so and dials nothing")
  func connectsOnce() throws {
    try played { played in
      try await played.connect()
      let first = played.stream
      played.connectNoting(timeout: nil)
      #expect(try await played.told() == ["alreadyConnected"])
      #expect(played.stream === first)
    }
  }

  @Test("I19: a connect that takes too long ends, and what waited is told why")
  func connectTimeout() throws {
    try played { played in
      played.channel.read(.exactly(1), 1, played.log)
      played.connectNoting(timeout: .seconds(7))
      try await played.turn()
      #expect(try await played.pass(.seconds(6)) == [])
      #expect(
        try await played.pass(.seconds(2)) == [
          "closed(timedOut(connect))", "read 1 failed: closed(timedOut(connect))",
          "closed(timedOut(connect))",
        ])
      #expect(played.stream.isClosed)
    }
  }

  @Test("I16: a stream that cannot be connected is told with its cause, in the task too")
  func refused() throws {
    try played { played in
      let (channel, log) = (played.channel, played.log)
      played.loop.task("connects") {
        do throws(ChannelError) {
          try await channel.connect(to: Endpoint(host: "peer", port: 1), timeout: nil)
        } catch {
          log.note("threw \(error.word)")
        }
      }
      try await played.turn()
      played.stream.observer?.streamFailed(.system(.connectionRefused))
      #expect(
        try await played.told() == [
          "closed(system(connectionRefused))", "threw closed(system(connectionRefused))",
        ])
    }
  }

  @Test("I17: what is called inside a result takes effect after it, and before the next result")
  func callsInside() throws {
    try played { played in
      try await played.open()
      let (channel, log) = (played.channel, played.log)
      channel.read(.exactly(1)) { _, _ in
        log.note("first begins")
        channel.close()
        channel.read(.exactly(1), 9, log)
        log.note("first ends")
      }
      channel.read(.exactly(1), 2, log)
      played.stream.arrive("ab")
      #expect(
        try await played.told() == [
          "opened", "first begins", "first ends", "read 2 failed: closed(closedByUser)",
          "closed(closedByUser)", "read 9 failed: closed(closedByUser)",
        ])
    }
  }

  @Test("I11, I18: close ends everything that waits, once, and lets go of stream and timer")
  func close() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [0]
      played.channel.write("abc".utf8, 1, played.log, timeout: .seconds(50))
      played.channel.read(.exactly(4), 2, played.log, timeout: .seconds(50))
      played.channel.close()
      played.channel.close()
      #expect(
        try await played.told() == [
          "opened", "read 2 failed: closed(closedByUser)",
          "write 1 failed: closed(closedByUser)", "closed(closedByUser)",
        ])
      #expect(try await played.pass(.seconds(100)) == [])
    }
  }

  @Test("I18: a channel that is dropped closes itself; nothing of it is left")
  func dropped() throws {
    try VirtualTime.run(limit: .seconds(1000)) { loop in
      let dialer = PlayedDialer(loop)
      let log = ChannelLog()
      var channel: ByteChannel? = ByteChannel(dialer) { log.note($0.word) }
      channel?.connect(
        to: Endpoint(host: "peer", port: 1), timeout: .seconds(500), completion: nil)
      channel?.read(.exactly(1), 1, log, timeout: .seconds(500))
      try await loop.clock.sleep(for: .seconds(1))
      weak let observer = dialer.stream.observer
      #expect(observer != nil)
      channel = nil
      try await loop.clock.sleep(for: .seconds(1))
      #expect(log.lines == ["read 1 failed: closed(closedByUser)", "closed(closedByUser)"])
      #expect(dialer.stream.isClosed)
      #expect(observer == nil)
    }
  }

  @Test("F36, F37: a cancelled task takes back what has not begun, also what was never asked")
  func cancelledTasks() throws {
    try played { played in
      try await played.open()
      played.stream.takes = [1, 0]
      let (channel, log) = (played.channel, played.log)
      func task(_ name: String, _ body: @escaping @Sendable () async throws -> Void)
        -> Task<Void, Never>
      {
        played.loop.task(name) {
          do {
            try await body()
            log.note("\(name) done")
          } catch {
            log.note("\(name) \((error as? ChannelError)?.word ?? "?")")
          }
        }
      }
      let begun = task("begun") { try await channel.write(Array("ab".utf8)) }
      let waiting = task("waiting") { try await channel.write(Array("cd".utf8)) }
      let reading = task("reading") { _ = try await channel.read(.exactly(3)) }
      try await played.turn()
      for each in [begun, waiting, reading] { each.cancel() }
      let late = task("late") { _ = try await channel.read(.exactly(3)) }
      late.cancel()
      #expect(
        Set(try await played.told()) == [
          "opened", "waiting cancelled", "reading cancelled", "late cancelled",
        ])
      played.stream.observer?.streamWritable()
      #expect(try await played.told() == ["begun done"])
      #expect(played.stream.taken == Array("ab".utf8))
    }
  }

  @Test("F39: closed before it is connected, a channel ends at once")
  func closedBeforeConnected() throws {
    try played { played in
      let log = played.log
      played.channel.closeAfterWriting(linger: .seconds(5)) { log.note("heard \($0)") }
      played.connectNoting(timeout: nil)
      try await played.turn()
      #expect(
        try await played.told() == [
          "closed(closedByUser)", "heard closedByUser", "closed(closedByUser)",
        ])
    }
  }

  @Test("F39: closed while it connects, a channel writes what waits first")
  func closedWhileConnecting() throws {
    try played { played in
      try await played.connect()
      played.channel.write("abc".utf8, 1, played.log)
      played.channel.closeAfterWriting(linger: .seconds(5), completion: nil)
      #expect(try await played.pass(.seconds(4)) == [])
      played.stream.observer?.streamOpened()
      #expect(try await played.told() == ["opened", "written 1"])
      played.stream.arrive(.end)
      #expect(try await played.told() == ["closed(closedByUser)"])
      #expect(played.stream.taken == Array("abc".utf8))
    }
  }
}
