import ConnectionFSM
import Testing

@Suite("Connection: what the application may ask for")
struct ConnectionWishesTests {
  @Test("F01: connect without a word of where goes to the transport's own endpoint")
  func connectsHome() throws {
    let rig = try ConnectionRig(policy: plainPolicy(), home: home)
    rig.connection.connect()
    rig.loop.settle()
    #expect(rig.transport.orders == ["open #1 tcp://home:1"])
  }

  @Test("F04, RC191: of a list every endpoint is tried before the backoff takes a step")
  func endpointList() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.connection.connect(to: [home, away])
    rig.loop.settle()
    rig.transport.report(.failed(.system(.connectionRefused)), on: 1)
    rig.loop.advance(by: .seconds(1))
    rig.transport.report(.failed(.system(.connectionRefused)), on: 2)
    rig.loop.advance(by: .seconds(2))
    #expect(
      rig.transport.orders
        == ["open #1 tcp://home:1", "open #2 tcp://away:2", "open #3 tcp://home:1"])
  }

  @Test("F04: the same list again changes nothing; another one lets the old link go first")
  func anotherList() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    for list in [[home, away], [home, away], [away, home]] {
      rig.connection.connect(to: list)
      rig.loop.settle()
    }
    rig.connection.connect(to: [])
    rig.loop.settle()
    #expect(
      rig.transport.orders == ["open #1 tcp://home:1", "abort #1", "open #2 tcp://away:2"])
  }

  @Test("RC206: retry now cuts a wait short, and a dial that hangs, and a link that is frozen")
  func reconnectNow() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.connection.reconnectNow()
    rig.loop.settle()
    #expect(rig.transport.orders == [], "nobody wants a connection yet")
    rig.connect()
    for epoch in 1...2 as ClosedRange<UInt64> {
      rig.connection.reconnectNow()
      rig.loop.settle()
      if epoch == 2 { rig.transport.report(.opened, on: 3) }
    }
    rig.connection.reconnectNow()
    rig.loop.settle()
    rig.transport.report(.failed(.system(.connectionReset)), on: 4)
    rig.connection.reconnectNow()
    rig.loop.settle()
    #expect(
      rig.transport.orders == [
        "open #1 tcp://home:1", "abort #1", "open #2 tcp://home:1", "abort #2",
        "open #3 tcp://home:1", "abort #3", "open #4 tcp://home:1", "open #5 tcp://home:1",
      ])
  }

  @Test("I1: retry now after a close dials nothing")
  func reconnectAfterClose() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    let connection = rig.connection
    Task(executorPreference: rig.loop) { await connection.close() }
    rig.loop.settle()
    rig.connection.reconnectNow()
    rig.loop.settle()
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.transport.orders == ["open #1 tcp://home:1", "close #1"])
  }

  @Test("F02: a close that drains sends what waits first; one that does not cancels it")
  func draining() throws {
    for draining in [true, false] {
      let rig = try ConnectionRig(policy: plainPolicy())
      rig.open()
      rig.transport.report(.writabilityChanged(false), on: 1)
      rig.post("a")
      let connection = rig.connection
      Task(executorPreference: rig.loop) { await connection.close(draining: draining) }
      rig.loop.settle()
      rig.transport.report(.writabilityChanged(true), on: 1)
      if draining {
        #expect(rig.transport.orders.last == "send #1 a")
        rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
      }
      #expect(rig.transport.orders.last == "close #1")
      #expect(rig.log.all == [draining ? "a written" : "a cancelled"])
    }
  }

  @Test("a policy that is replaced moves what follows from it at once")
  func updates() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    rig.loop.advance(by: .seconds(30))
    try rig.connection.update(
      policy: plainPolicy(heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(4))))
    rig.loop.settle()
    rig.loop.advance(by: .seconds(1))
    #expect(rig.transport.orders.last == "ping #1 1")
  }

  @Test("I16: a policy of other lanes, or that the transport cannot follow, is refused")
  func refusedUpdates() throws {
    let loop = ManualLoop()
    let connection = try Connection(
      ScriptedTransport(loop, canPing: false), policy: plainPolicy(), seed: 1)
    #expect(throws: ConnectionError.lanesDiffer) {
      try connection.update(policy: plainPolicy(countLimit: 11))
    }
    #expect(throws: ConnectionError.heartbeatNeedsPing) {
      try connection.update(
        policy: plainPolicy(heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(4))))
    }
  }

  @Test("messages that are posted close together are given to the link as one batch")
  func batch() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    for text in ["a", "b", "unsendable", "c"] { rig.connection.post(Message(text)) }
    rig.loop.settle()
    #expect(rig.transport.orders.suffix(3) == ["send #1 a +", "send #1 b +", "send #1 c +"])
    #expect(rig.transport.flushes == [Epoch(1)])
    rig.connection.post(Message("d"))
    rig.connection.connect(to: away)
    rig.loop.settle()
    #expect(rig.transport.orders.suffix(3) == ["send #1 d +", "abort #1", "open #2 tcp://away:2"])
  }
}

@Suite("Connection: a message that a later one replaces")
struct ReplacingTests {
  @Test("F46, I11: while it waits, the later takes its place, and the earlier ends as evicted")
  func replaces() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let log = rig.log
    func post(_ text: String, replacing key: String?) {
      rig.connection.post(Message(text), replacing: key) { log.add("\(text) \(word($0))") }
      rig.loop.settle()
    }
    post("position 1", replacing: "position")
    post("hello", replacing: nil)
    post("position 2", replacing: "position")
    #expect(log.all == ["position 1 evicted"])
    rig.open()
    #expect(rig.transport.orders.suffix(2) == ["send #1 position 2 +", "send #1 hello"])
    post("position 3", replacing: "position")
    #expect(rig.transport.orders.last == "send #1 position 3", "the link has the one before")
    for id in rig.transport.sent { rig.transport.report(.written(through: id), on: 1) }
    #expect(
      log.all.dropFirst() == ["position 2 written", "hello written", "position 3 written"])
  }

  @Test("a sender that was replaced and then cancels takes nothing back")
  func cancelledAfterwards() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (connection, log) = (rig.connection, rig.log)
    let first = Task(executorPreference: rig.loop) {
      log.add(
        "\((try? await connection.send(Message("1"), replacing: "k")).map { "\($0)" } ?? "-")")
    }
    rig.loop.settle()
    connection.post(Message("2"), replacing: "k")
    rig.loop.settle()
    first.cancel()
    rig.loop.settle()
    rig.open()
    #expect(log.all == ["evicted"])
    #expect(rig.transport.orders.last == "send #1 2")
  }
}
