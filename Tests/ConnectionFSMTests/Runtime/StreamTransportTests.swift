import ConnectionFSM
import Synchronization
import Testing

private final class Outcomes: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

private struct StreamRig {
  let loop = ManualLoop()
  let dialer: ScriptedDialer
  let script = ScriptedEngine.Script()
  let connection: Connection
  let outcomes = Outcomes()

  init(window: UInt32 = 8, limit: Int = 1024) throws {
    let policy = try Policy(
      connectDeadline: .seconds(10), closeDeadline: .seconds(5),
      backoff: Backoff(
        first: .seconds(1), base: .seconds(1), cap: .seconds(8), jitter: .none,
        stability: .seconds(10)),
      minimumDialSpacing: .seconds(1), heartbeat: nil,
      lanes: [
        Lane(.atMostOnce, timeToLive: nil, countLimit: 100, window: window),
        Lane(.atLeastOnce, timeToLive: nil, countLimit: 100, window: window),
      ])
    let dialer = ScriptedDialer(loop)
    self.dialer = dialer
    let script = script
    connection = try Connection(
      StreamTransport(dialer) { ScriptedEngine(script) }, policy: policy, seed: 1)
  }

  func post(_ text: String, in lane: UInt8 = 0) {
    connection.post(Message(text), in: LaneID(lane)) { [outcomes] result in
      switch result {
      case .success(let outcome): outcomes.add("\(text) \(outcome)")
      case .failure(let rejection): outcomes.add("\(text) \(rejection)")
      }
    }
    loop.settle()
  }

  func dial() {
    connection.connect(to: home)
    loop.settle()
    stream.observer?.streamOpened()
    loop.settle()
  }

  /// The newest one.
  var stream: ScriptedStream { dialer.streams[dialer.streams.count - 1] }

  /// The stream has something to read, and the engine answers with these events.
  func receive(_ events: [EngineEvent]..., then end: ReadResult? = nil) {
    for list in events {
      script.answers.append(list)
      stream.inbound.append(.bytes(1))
    }
    if let end { stream.inbound.append(end) }
    stream.observer?.streamReadable()
    loop.settle()
  }

  func redial() {
    loop.advance(by: .seconds(10))
    stream.observer?.streamOpened()
    loop.settle()
  }

  var wire: [String] { dialer.streams.map { String(decoding: $0.taken, as: UTF8.self) } }
}

@Suite("Stream transport: what is written, and what is not")
struct StreamTransportTests {
  @Test("I11: what was opened and closed in one read takes no message with it")
  func openedAndClosedAtOnce() throws {
    let rig = try StreamRig()
    rig.script.opensAtOnce = false
    for text in ["a", "b", "c"] { rig.post(text) }
    rig.dial()
    rig.receive([.opened, .closed(CloseCode(4403))])
    #expect(rig.outcomes.all == [])
    #expect(rig.stream.isClosed)
    rig.script.opensAtOnce = true
    rig.redial()
    #expect(rig.wire == ["", "abc"])
    #expect(rig.outcomes.all == ["a written", "b written", "c written"])
  }

  @Test("I11: what an engine that is over did not write is in doubt, and never written")
  func behindAFailedEngine() throws {
    let rig = try StreamRig()
    rig.script.failsAt = "bad"
    for text in ["a", "bad", "next"] { rig.post(text) }
    rig.dial()
    #expect(rig.wire == ["a"])
    #expect(rig.outcomes.all == ["a written", "bad inDoubt", "next inDoubt"])
  }

  @Test("I11: messages behind a failed write wait for the next link and are not in doubt")
  func behindAFailedWrite() throws {
    let rig = try StreamRig(window: 1)
    rig.dial()
    rig.stream.writes = [.wouldBlock, .wrote(1), .failed(.system(.brokenPipe))]
    for text in ["a", "b", "c"] { rig.post(text) }
    rig.stream.observer?.streamWritable()
    rig.loop.settle()
    // “a” was taken and makes room for “b”, whose write fails; “c” never left.
    #expect(rig.outcomes.all == ["a written", "b inDoubt"])
    rig.redial()
    #expect(rig.wire == ["a", "c"])
    #expect(rig.outcomes.all == ["a written", "b inDoubt", "c written"])
  }

  @Test("I12, B1.3, B2.1: what a short write left goes out before the next message, once")
  func shortWrite() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.stream.writes = [.wrote(2), .wouldBlock, .wrote(1), .wouldBlock]
    rig.post("first")
    rig.post("second")
    #expect(rig.wire == ["fi"])
    #expect(rig.outcomes.all == [])
    for _ in 1...3 {
      rig.stream.observer?.streamWritable()
      rig.loop.settle()
    }
    #expect(rig.wire == ["firstsecond"])
    #expect(rig.outcomes.all == ["first written", "second written"])
  }

  @Test("I18, B2.4: a stream that failed is closed, and says nothing to the next link")
  func failedStream() throws {
    let rig = try StreamRig()
    rig.dial()
    let first = rig.stream
    rig.receive(then: .failed(.system(.connectionReset)))
    #expect(first.isClosed)
    rig.redial()
    #expect(rig.dialer.streams.count == 2)
    first.inbound = [.bytes(1)]
    first.observer?.streamReadable()
    rig.loop.settle()
    #expect(first.inbound.count == 1)
    #expect(!rig.stream.isClosed)
  }

  @Test("I17, B3.10: what arrives is read as often as it arrives, without anyone asking")
  func readsOn() throws {
    let rig = try StreamRig()
    let heard = Outcomes()
    let messages = rig.connection.messages()
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages { heard.add(message.text) }
    }
    rig.dial()
    for text in ["one", "two", "three"] { rig.receive([.message(Message(text))]) }
    #expect(heard.all == ["one", "two", "three"])
    #expect(rig.stream.inbound.isEmpty)
    reader.cancel()
    rig.loop.settle()
  }

  @Test("F47: what the peer said before a write failed is heard, and acknowledges")
  func lastWords() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.post("a", in: 1)
    let id = MessageID(lane: LaneID(1), sequence: 1)
    rig.script.answers = [[.acknowledged(through: id)]]
    rig.stream.inbound = [.bytes(1), .end]
    rig.stream.writes = [.failed(.system(.connectionReset))]
    rig.post("b", in: 1)
    #expect(rig.outcomes.all == ["a acknowledged"])
    rig.redial()
    #expect(rig.wire == ["a", "b"])
  }

  @Test("F47, F48: last words wait behind what a consumer holds back, and are heard in their order")
  func lastWordsBehindAHeldReader() throws {
    let rig = try StreamRig()
    let heard = Outcomes()
    let messages = rig.connection.messages(bufferingUpTo: 2, whenFull: .suspendReading)
    rig.dial()
    rig.receive(["1", "2", "3"].map { .message(Message($0)) })
    rig.script.answers = [["4", "5"].map { .message(Message($0)) }]
    rig.stream.inbound = [.bytes(1), .end]
    rig.stream.writes = [.failed(.system(.connectionReset))]
    rig.post("a")
    #expect(rig.stream.inbound.count == 2)
    #expect(!rig.stream.isClosed)
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages { heard.add(message.text) }
    }
    rig.loop.settle()
    #expect(heard.all == ["1", "2", "3", "4", "5"])
    #expect(rig.outcomes.all == ["a inDoubt"])
    #expect(rig.stream.isClosed)
    reader.cancel()
    rig.loop.settle()
  }

  @Test("I8: a close code that lies unread wins over the write that failed")
  func closeCodeWins() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.script.answers = [[.closed(CloseCode(1003))]]
    rig.stream.inbound = [.bytes(1)]
    rig.stream.writes = [.failed(.system(.connectionReset))]
    rig.post("b")
    // Terminal, as the engine's verdict is, and not a reset that is retried.
    rig.loop.advance(by: .seconds(60))
    #expect(rig.dialer.streams.count == 1)
    #expect(rig.outcomes.all == ["b inDoubt"])
  }

  @Test("F48: a burst is handed out in slices, so a consumer on the loop keeps up")
  func burst() async throws {
    let rig = try StreamRig()
    let count = Mutex(0)
    let messages = rig.connection.messages(bufferingUpTo: 300)
    let reader = Task(executorPreference: rig.loop) {
      for try await _ in messages { count.withLock { $0 += 1 } }
    }
    rig.dial()
    rig.receive((0..<2000).map { .message(Message("\($0)")) })
    for _ in 0..<20 { rig.loop.advance(by: .milliseconds(1)) }
    #expect(count.withLock { $0 } == 2000)
    reader.cancel()
    rig.loop.settle()
  }

  @Test("F38: above the high mark the machine keeps its messages; they go on below the low one")
  func backpressure() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.stream.writes = [.wouldBlock]
    rig.post(String(repeating: "x", count: 300_000), in: 1)
    rig.post("later", in: 1)
    rig.connection.post(Message("y"), in: LaneID(0))
    rig.loop.settle()
    #expect(rig.stream.taken.isEmpty)
    rig.stream.observer?.streamWritable()
    rig.loop.settle()
    #expect(rig.wire[0].hasSuffix("xylater") || rig.wire[0].hasSuffix("xlatery"))
  }

  @Test("F38: what a full stream is given counts, too, and the machine keeps the rest")
  func fullBefore() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.stream.writes = [.wouldBlock]
    rig.post("a")
    let block = String(repeating: "x", count: 100_000)
    for number in 1...6 { rig.post("\(number)\(block)") }
    rig.receive(then: .failed(.system(.connectionReset)))
    // “a” and three blocks are above 256 KiB.
    #expect(rig.outcomes.all.map { $0.first } == ["a", "1", "2", "3"])
    #expect(rig.outcomes.all.allSatisfy { $0.hasSuffix(" inDoubt") })
    rig.redial()
    #expect(rig.wire.last?.count == 3 * (block.count + 1))
  }

  @Test("F39: close says what was given, finishes writing, and waits for the peer's end")
  func orderlyClose() throws {
    let rig = try StreamRig()
    rig.dial()
    rig.stream.writes = [.wouldBlock]
    rig.post("a")
    let (connection, outcomes) = (rig.connection, rig.outcomes)
    Task(executorPreference: rig.loop) {
      await connection.close()
      outcomes.add("closed")
    }
    rig.loop.settle()
    #expect(!rig.stream.hasFinishedWriting)
    rig.stream.observer?.streamWritable()
    rig.loop.settle()
    #expect(rig.stream.hasFinishedWriting)
    rig.receive(then: .end)
    #expect(rig.outcomes.all == ["a written", "closed"])
    #expect(rig.stream.isClosed)
  }
}

@Suite("Connection: close and release against everything else")
struct ConnectionRaceTests {
  @Test("close returns although a connect overtakes the peer's answer")
  func connectOvertakesClose() throws {
    let rig = try StreamRig()
    rig.dial()
    let (connection, outcomes) = (rig.connection, rig.outcomes)
    Task(executorPreference: rig.loop) {
      await connection.close()
      outcomes.add("closed")
    }
    rig.loop.settle()
    connection.connect(to: home)
    rig.loop.settle()
    #expect(rig.outcomes.all == [])
    rig.receive(then: .end)
    #expect(rig.outcomes.all == ["closed"])
    #expect(rig.dialer.streams.count == 2)
  }

  @Test("close of what is at rest, or only on its way, returns at once")
  func closeAtRest() throws {
    let rig = try StreamRig()
    let (connection, outcomes) = (rig.connection, rig.outcomes)
    Task(executorPreference: rig.loop) {
      await connection.close()
      connection.connect(to: home)
      await connection.close()
      outcomes.add("closed twice")
    }
    rig.loop.settle()
    #expect(rig.outcomes.all == ["closed twice"])
    #expect(rig.dialer.streams.first?.isClosed == true)
  }

  @Test("a consumer that ends before the loop ran leaves nothing behind")
  func consumerEndsEarly() throws {
    let rig = try StreamRig()
    for _ in 0..<3 { _ = rig.connection.states() }
    rig.loop.settle()
    rig.dial()
    // Nothing to assert but that the next consumer hears what it should, and only that.
    let log = Outcomes()
    let states = rig.connection.states()
    let reader = Task(executorPreference: rig.loop) {
      for await state in states { log.add("\(state.phase)") }
    }
    rig.loop.settle()
    #expect(log.all == ["open"])
    reader.cancel()
    rig.loop.settle()
  }

  @Test("after the loop has stopped every call has an answer")
  func loopStopped() async throws {
    let rig = try StreamRig()
    rig.dial()
    rig.loop.stop()
    await rig.connection.close()
    await #expect(throws: Rejection.closed) { try await rig.connection.send(Message("a")) }
    #expect(await rig.connection.explain() == nil)
    for await _ in rig.connection.states() { Issue.record("there is nothing to hear") }
    for try await _ in rig.connection.messages() { Issue.record("there is nothing to hear") }
  }
}
