import ConnectionFSM
import Synchronization
import Testing

/// An outbox in memory, whose store the test holds across connections, and which completes when the
/// test says so.
private final class MemoryOutbox: Outbox {
  struct State {
    var kept: [KeptMessage] = []
    var next: UInt64 = 1
    var pending: [@Sendable () -> Void] = []
    var failure: OutboxError?
  }

  let state: Mutex<State>
  let recovered: [KeptMessage]
  private let isPrompt: Bool

  init(_ kept: [KeptMessage] = [], isPrompt: Bool = true) {
    recovered = kept
    self.isPrompt = isPrompt
    state = Mutex(State(kept: kept, next: (kept.last?.number ?? 0) + 1))
  }

  var texts: [String] { state.withLock { $0.kept.map(\.message.text) } }

  func fail(with error: OutboxError) { state.withLock { $0.failure = error } }

  func keep(
    _ message: Message, completion: @escaping @Sendable (Result<UInt64, OutboxError>) -> Void
  ) {
    let result = state.withLock { state -> Result<UInt64, OutboxError> in
      if let failure = state.failure { return .failure(failure) }
      let number = state.next
      state.next += 1
      state.kept.append(KeptMessage(number: number, message: message))
      return .success(number)
    }
    if isPrompt { return completion(result) }
    state.withLock { $0.pending.append { completion(result) } }
  }

  /// Completes what was begun.
  func complete() {
    let pending = state.withLock { state in
      defer { state.pending = [] }
      return state.pending
    }
    for completion in pending { completion() }
  }

  func forget(_ number: UInt64) {
    state.withLock { state in state.kept.removeAll { $0.number == number } }
  }
}

private let durable = LaneID(1)

@Suite("Connection: a lane with an outbox")
struct ConnectionOutboxTests {
  private func rig(_ outbox: MemoryOutbox, countLimit: UInt32 = 10) throws -> ConnectionRig {
    try ConnectionRig(
      policy: plainPolicy(countLimit: countLimit), outbox: (outbox, lane: durable))
  }

  @Test("RC199: what was kept by an earlier process is sent first, in order, and then forgotten")
  func recovered() throws {
    let outbox = MemoryOutbox([
      KeptMessage(number: 4, message: Message("old 4")),
      KeptMessage(number: 7, message: Message("old 7")),
    ])
    let rig = try rig(outbox)
    rig.post("new", in: 1)
    rig.open()
    #expect(
      rig.transport.orders.dropFirst()
        == ["send #1 old 4 +", "send #1 old 7 +", "send #1 new"])
    rig.transport.report(.acknowledged(through: rig.transport.sent[1]), on: 1)
    #expect(outbox.texts == ["new"])
    rig.transport.report(.acknowledged(through: rig.transport.sent[2]), on: 1)
    #expect(outbox.texts == [])
    #expect(rig.log.all == ["new acknowledged"])
  }

  @Test("I11: a lane takes a message once it is safe, and keeps the order of the calls")
  func safeFirst() throws {
    let outbox = MemoryOutbox(isPrompt: false)
    let rig = try rig(outbox)
    rig.open()
    rig.post("a", in: 1)
    rig.post("b", in: 1)
    #expect(rig.transport.sent.isEmpty)
    outbox.complete()
    rig.loop.settle()
    #expect(rig.transport.orders.suffix(2) == ["send #1 a", "send #1 b"])
  }

  @Test("I16: what the outbox cannot keep is turned away with the reason")
  func refusals() throws {
    let outbox = MemoryOutbox()
    let rig = try rig(outbox)
    for error in [OutboxError.full, .tooLarge, .store("No space left on device")] {
      outbox.fail(with: error)
      rig.post("\(error)".prefix(11).description, in: 1)
    }
    #expect(
      rig.log.all == ["the outbox  full", "the message tooLarge", "the outbox  notKept"])
  }

  @Test("RC199, I1: what waits or is in doubt at a close stays, and goes out at the next connect")
  func staysAtClose() throws {
    let outbox = MemoryOutbox()
    let rig = try rig(outbox, countLimit: 3)
    rig.open()
    rig.post("given", in: 1)
    rig.transport.report(.writabilityChanged(false), on: 1)
    for text in ["waits", "waits too", "no room yet"] { rig.post(text, in: 1) }
    let connection = rig.connection
    Task(executorPreference: rig.loop) { await connection.close() }
    rig.loop.settle()
    rig.post("after the close", in: 1)
    rig.transport.report(.closed(nil), on: 1)
    let all = ["given", "waits", "waits too", "no room yet", "after the close"]
    #expect(outbox.texts == all)
    #expect(rig.log.all == [], "none has ended")
    rig.connect()
    rig.transport.report(.opened, on: 2)
    let sent = ["send #2 given +", "send #2 waits +", "send #2 waits too"]
    #expect(rig.transport.orders.suffix(3) == sent)
    rig.transport.report(.acknowledged(through: rig.transport.sent.last!), on: 2)
    rig.transport.report(.acknowledged(through: rig.transport.sent.last!), on: 2)
    #expect(rig.log.all == all.map { "\($0) acknowledged" })
    #expect(outbox.texts == [])
  }

  @Test("F57: what is in doubt when a close ends goes out again, also if a connect came between")
  func connectDuringClose() throws {
    let outbox = MemoryOutbox()
    let rig = try rig(outbox)
    rig.open()
    rig.post("given", in: 1)
    let connection = rig.connection
    Task(executorPreference: rig.loop) { await connection.close() }
    rig.loop.settle()
    rig.connect()
    rig.transport.report(.closed(nil), on: 1)
    #expect(rig.log.all == [])
    #expect(outbox.texts == ["given"])
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    #expect(rig.transport.orders.last == "send #2 given")
    rig.transport.report(.acknowledged(through: rig.transport.sent.last!), on: 2)
    #expect(rig.log.all == ["given acknowledged"])
    #expect(outbox.texts == [])
  }

  @Test("F52, F57: the answer to a request of an earlier process answers none of this one")
  func earlierRequest() throws {
    let outbox = MemoryOutbox()
    let (loop, log) = (ManualLoop(), Log())
    var ids: [Substring] = []
    for (seed, text) in [(1, "old"), (2, "new")] as [(UInt64, String)] {
      let kept = outbox.texts.enumerated().map {
        KeptMessage(number: UInt64($0.offset + 1), message: Message($0.element))
      }
      let second = text == "old" ? outbox : MemoryOutbox(kept)
      let transport = ScriptedTransport(loop)
      let connection = try Connection(
        transport, policy: plainPolicy(sessionDeadline: .seconds(5)), seed: seed,
        session: WordsDialect(), outbox: (second, lane: durable))
      let asker = Task(executorPreference: loop) {
        do throws(RequestError) {
          log.add(try await connection.request(Message(text), in: durable).text)
        } catch { log.add("\(text) \(error)") }
      }
      loop.settle()
      guard text == "new" else {
        loop.advance(by: .seconds(10))
        #expect(outbox.texts.count == 1)
        continue
      }
      connection.connect(to: home)
      loop.settle()
      transport.report(.opened, on: 1)
      transport.receive("accepted token", on: 1)
      ids = transport.orders.suffix(2).map { $0.split(separator: " ")[3] }
      #expect(ids[0] != ids[1])
      transport.receive("answer \(ids[0]) old", on: 1)
      transport.receive("answer \(ids[1]) new", on: 1)
      loop.settle()
      asker.cancel()
      loop.settle()
    }
    #expect(log.all == ["old timedOut", "answer \(ids[1]) new"])
  }

  @Test(
    "F58: when the connection is released whoever waits hears in doubt, and the outbox keeps it")
  func release() throws {
    let outbox = MemoryOutbox()
    let loop = ManualLoop()
    let log = Log()
    do {
      let connection = try Connection(
        ScriptedTransport(loop), policy: plainPolicy(), seed: 1, outbox: (outbox, lane: durable))
      connection.post(Message("a"), in: durable) { log.add(word($0)) }
      loop.settle()
    }
    loop.settle()
    #expect(log.all == ["inDoubt"])
    #expect(outbox.texts == ["a"])
  }

  @Test("F58: a message that is being kept when the connection is released is told, too")
  func releaseMeanwhile() throws {
    let outbox = MemoryOutbox(isPrompt: false)
    let loop = ManualLoop()
    let log = Log()
    do {
      let connection = try Connection(
        ScriptedTransport(loop), policy: plainPolicy(), seed: 1, outbox: (outbox, lane: durable))
      connection.post(Message("a"), in: durable) { log.add(word($0)) }
      loop.settle()
    }
    loop.settle()
    outbox.complete()
    loop.settle()
    #expect(log.all == ["inDoubt"])
  }

  @Test("a message that its sender takes back is forgotten, wherever it waits")
  func takenBack() throws {
    for isPrompt in [true, false] {
      for isOpen in [true, false] {
        let outbox = MemoryOutbox(isPrompt: isPrompt)
        let rig = try rig(outbox)
        if isOpen {
          rig.open()
          rig.transport.report(.writabilityChanged(false), on: 1)
        }
        let (connection, log) = (rig.connection, rig.log)
        let sender = Task(executorPreference: rig.loop) {
          log.add((try? await connection.send(Message("a"), in: durable)).map { "\($0)" } ?? "-")
        }
        rig.loop.settle()
        sender.cancel()
        rig.loop.settle()
        outbox.complete()
        rig.loop.settle()
        #expect(log.all == ["cancelled"])
        #expect(outbox.texts == [])
      }
    }
  }

  @Test("I16: an outbox needs a lane that keeps what it takes")
  func unfit() throws {
    let loop = ManualLoop()
    #expect(throws: ConnectionError.outboxNeedsKeeping) {
      _ = try Connection(
        ScriptedTransport(loop), policy: plainPolicy(), outbox: (MemoryOutbox(), lane: LaneID(0)))
    }
    #expect(throws: ConnectionError.outboxNeedsLane) {
      _ = try Connection(
        ScriptedTransport(loop), policy: plainPolicy(), outbox: (MemoryOutbox(), lane: LaneID(2)))
    }
  }
}
