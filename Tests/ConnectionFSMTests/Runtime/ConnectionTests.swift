import ConnectionFSM
import Synchronization
import Testing

@Suite("Connection: the driver performs what the machine decides")
struct ConnectionTests {
  @Test("F46: messages posted before the open are sent in order, in one batch, when it opens")
  func queuedBeforeOpen() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    for text in ["a", "b", "c"] { rig.post(text) }
    rig.open()
    #expect(
      rig.transport.orders == ["open #1 tcp://home:1", "send #1 a +", "send #1 b +", "send #1 c"])
  }

  @Test("I11, B1.4: each completion is called once, with the message's own end")
  func outcomes() throws {
    let rig = try ConnectionRig(policy: plainPolicy(countLimit: 2))
    rig.post("a")
    rig.post("b")
    rig.post("c")
    rig.open()
    rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
    rig.transport.report(.failed(.system(.connectionReset)), on: 1)
    #expect(rig.log.all == ["c full", "a written", "b inDoubt"])
  }

  @Test("I16: what the protocol cannot carry is turned away at the door and harms nothing")
  func notEncodable() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    rig.post("unsendable")
    rig.post("a")
    #expect(rig.log.all == ["unsendable notEncodable"])
    #expect(rig.transport.orders == ["open #1 tcp://home:1", "send #1 a"])
  }

  @Test("F47: what was not acknowledged is sent again on the next link, in order")
  func redelivery() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    rig.post("a", in: 1)
    rig.post("b", in: 1)
    rig.transport.report(.acknowledged(through: rig.transport.sent[0]), on: 1)
    rig.post("c", in: 1)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(3))
    rig.transport.report(.opened, on: 2)
    rig.transport.report(.acknowledged(through: rig.transport.sent.last!), on: 2)
    #expect(rig.transport.orders.suffix(2) == ["send #2 b +", "send #2 c"])
    #expect(
      rig.log.all
        == ["a acknowledged", "b acknowledged", "c acknowledged"])
  }

  @Test("I17: what a transport reports from inside an order is handled after it")
  func reportsFromInside() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.transport.duringOpen = { _ in [.opened] }
    rig.transport.duringSend = { _, id in [.written(through: id)] }
    rig.post("a")
    rig.post("b")
    rig.connect()
    #expect(
      rig.transport.orders == ["open #1 tcp://home:1", "send #1 a +", "send #1 b"])
    #expect(rig.log.all == ["a written", "b written"])
  }

  @Test("I17: a link that fails from inside a send fails when the whole batch was given")
  func failureFromInside() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let log = rig.log
    rig.transport.duringSend = { _, id in
      log.add("send \(id.sequence)")
      return id.sequence == 1 ? [.failed(.system(.connectionReset))] : []
    }
    for text in ["a", "b", "c"] { rig.post(text) }
    rig.open()
    #expect(
      rig.log.all == ["send 1", "send 2", "send 3", "a inDoubt", "b inDoubt", "c inDoubt"])
  }

  @Test("I17: a completion may call back; its call takes effect after the running transition")
  func callbackFromCompletion() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    let connection = rig.connection
    connection.post(Message("a")) { _ in connection.post(Message("b")) }
    rig.loop.settle()
    rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
    #expect(rig.transport.orders.suffix(2) == ["send #1 a", "send #1 b"])
  }

  @Test("I17, B3.15: connect inside the end of a link dials once, after all of the end was told")
  func connectInsideEnd() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (connection, log) = (rig.connection, rig.log)
    rig.transport.duringOpen = { epoch in
      log.add("open \(epoch)")
      return []
    }
    rig.open()
    connection.post(Message("a")) {
      log.add("a \(word($0))")
      connection.connect(to: home)
    }
    rig.post("b")
    rig.transport.report(.failed(.system(.connectionReset)), on: 1)
    #expect(log.all == ["open #1", "a inDoubt", "b inDoubt", "open #2"])
    rig.transport.report(.opened, on: 2)
    rig.loop.advance(by: .seconds(3600))
    #expect(log.all.count == 4)
  }

  @Test("I22, B2.7: what is sent is not heard as received; the server's echo of it is, once")
  func noLocalEcho() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let received = Log()
    let messages = rig.connection.messages()
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages { received.add(message.text) }
    }
    rig.open()
    rig.post("a")
    rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
    #expect(received.all == [])
    rig.transport.receive("a", on: 1)
    #expect(received.all == ["a"])
    reader.cancel()
    rig.loop.settle()
  }

  @Test("I11, B0.18, B4.11: a binary message that is no UTF-8 arrives as it is, beside text")
  func binary() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let received = Mutex<[Message]>([])
    let messages = rig.connection.messages()
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages { received.withLock { $0.append(message) } }
    }
    rig.open()
    let sent = [Message(bytes: [0xFF, 0xC0, 0x00]), Message("text"), Message(bytes: [0x74])]
    for message in sent {
      rig.transport.observer?.transport(Epoch(1), received: message)
      rig.loop.settle()
    }
    #expect(received.withLock { $0 } == sent)
    reader.cancel()
    rig.loop.settle()
  }

  @Test("I1, B0.3: no timer dials after close")
  func closeDuringBackoff() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.connect()
    rig.transport.report(.failed(.system(.connectionRefused)), on: 1)
    let connection = rig.connection
    let closing = Task(executorPreference: rig.loop) { await connection.close() }
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.transport.orders == ["open #1 tcp://home:1"])
    #expect(rig.loop.armed == 0)
    closing.cancel()
  }

  @Test("F04: connect to another endpoint lets the old link go before the new dial")
  func retarget() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    rig.connect(to: away)
    #expect(
      rig.transport.orders == ["open #1 tcp://home:1", "abort #1", "open #2 tcp://away:2"])
  }

  @Test("I2, B0.4: a message of a link that is over is not delivered")
  func staleMessage() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let received = Log()
    let messages = rig.connection.messages()
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages { received.add(message.text) }
    }
    rig.open()
    rig.transport.receive("one", on: 1)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(3))
    rig.transport.receive("late", on: 1)
    rig.transport.report(.opened, on: 2)
    rig.transport.receive("two", on: 2)
    #expect(received.all == ["one", "two"])
    reader.cancel()
    rig.loop.settle()
  }

  @Test("F48, B1.12: every consumer gets every message; one that falls behind is told so")
  func consumers() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let log = Log()
    let (fast, slow) = (rig.connection.messages(), rig.connection.messages(bufferingUpTo: 1))
    let reader = Task(executorPreference: rig.loop) {
      for try await message in fast { log.add(message.text) }
    }
    rig.open()
    for text in ["a", "b", "c"] { rig.transport.receive(text, on: 1) }
    let late = Task(executorPreference: rig.loop) {
      do {
        for try await message in slow { log.add("slow \(message.text)") }
      } catch { log.add("fell behind") }
    }
    rig.loop.settle()
    #expect(log.all == ["a", "b", "c", "slow a", "fell behind"])
    reader.cancel()
    late.cancel()
    rig.loop.settle()
  }

  @Test("RC123, I17: a consumer that throws ends its own interest, and nothing of the teardown")
  func consumerThrows() throws {
    struct Upset: Error {}
    let rig = try ConnectionRig(policy: plainPolicy())
    let (connection, log) = (rig.connection, rig.log)
    let messages = [connection.messages(), connection.messages()]
    let states = connection.states()
    Task(executorPreference: rig.loop) {
      for try await _ in messages[0] { throw Upset() }
    }
    Task(executorPreference: rig.loop) {
      for await state in states where state.phase == .backingOff { throw Upset() }
    }
    let reader = Task(executorPreference: rig.loop) {
      for try await message in messages[1] { log.add(message.text) }
    }
    rig.open()
    rig.post("a")
    rig.transport.receive("hello", on: 1)
    rig.transport.report(.failed(.system(.connectionReset)), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    rig.transport.receive("again", on: 2)
    #expect(log.all == ["hello", "a inDoubt", "again"])
    #expect(rig.transport.orders.suffix(1) == ["open #2 tcp://home:1"])
    reader.cancel()
    rig.loop.settle()
  }

  @Test("F03: states are heard in order, the current one first")
  func states() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let log = Log()
    let states = rig.connection.states()
    let reader = Task(executorPreference: rig.loop) {
      for await state in states { log.add("\(state.phase)") }
    }
    rig.open()
    rig.transport.report(.failed(.system(.connectionReset)), on: 1)
    rig.loop.advance(by: .seconds(2))
    #expect(log.all == ["idle", "connecting", "open", "backingOff", "connecting"])
    reader.cancel()
    rig.loop.settle()
  }

  @Test("F43, B0.10, B3.6: traffic keeps moving the ping; the loop's timer is told late and rarely")
  func heartbeat() throws {
    let rig = try ConnectionRig(
      policy: plainPolicy(heartbeat: Heartbeat(interval: .seconds(10), timeout: .seconds(4))))
    rig.open()
    for _ in 0..<5 {
      rig.loop.advance(by: .seconds(6))
      rig.transport.report(.received(byteCount: 1), on: 1)
    }
    #expect(!rig.transport.orders.contains("ping #1 1"))
    rig.loop.advance(by: .seconds(10))
    #expect(rig.transport.orders.last == "ping #1 1")
    rig.loop.advance(by: .seconds(4))
    #expect(rig.transport.orders.last == "abort #1")
  }
}

@Suite("Connection: construction and release")
struct ConnectionLifetimeTests {
  @Test("I16: a heartbeat over a transport that cannot ping is refused with the mend")
  func heartbeatNeedsPing() throws {
    let policy = try plainPolicy(heartbeat: Heartbeat(interval: .seconds(10), timeout: .seconds(4)))
    let transport = ScriptedTransport(ManualLoop(), canPing: false)
    #expect(throws: ConnectionError.heartbeatNeedsPing) {
      _ = try Connection(transport, policy: policy, seed: 1)
    }
  }

  @Test("I16: a policy with a session stage and nobody to answer it is refused")
  func stageNeedsProvider() throws {
    let policy = try plainPolicy(sessionDeadline: .seconds(5))
    let transport = ScriptedTransport(ManualLoop())
    #expect(throws: ConnectionError.stageNeedsProvider) {
      _ = try Connection(transport, policy: policy, seed: 1)
    }
  }

  @Test("F58, I18, B4.8: letting go ends the link, every message, every stream, and leaves nothing")
  func release() throws {
    let loop = ManualLoop()
    let transport = ScriptedTransport(loop)
    let log = Log()
    weak var gone: Connection?
    do {
      let connection = try Connection(
        transport,
        policy: plainPolicy(heartbeat: Heartbeat(interval: .seconds(9), timeout: .seconds(4))),
        seed: 1)
      gone = connection
      let states = connection.states()
      Task(executorPreference: loop) {
        for await _ in states {}
        log.add("states finished")
      }
      connection.connect(to: home)
      loop.settle()
      transport.report(.opened, on: 1)
      connection.post(Message("a")) { log.add("a \(word($0))") }
      loop.settle()
      transport.report(.writabilityChanged(false), on: 1)
      connection.post(Message("b")) { log.add("b \(word($0))") }
      loop.settle()
    }
    loop.settle()
    #expect(gone == nil)
    #expect(transport.orders.last == "abort #1")
    #expect(loop.armed == 0)
    #expect(
      log.all == ["b cancelled", "a inDoubt", "states finished"])
  }

  @Test("F58: a deadline that a release leaves behind keeps no timer, and with it nothing else")
  func releaseWithDeadline() throws {
    let loop = ManualLoop()
    let log = Log()
    do {
      let policy = try Policy(
        heartbeat: nil, path: PathPolicy(debounce: .seconds(2)), lanes: [Lane(.atMostOnce)])
      let connection = try Connection(ScriptedTransport(loop), policy: policy, seed: 1) {
        log.add("\($0.input)")
      }
      for interface in 1...2 as ClosedRange<UInt16> {
        connection.pathChanged(to: Path(.up, interface: interface))
      }
      loop.settle()
      #expect(loop.armed == 1)
    }
    loop.settle()
    #expect(loop.armed == 0)
    let steps = log.all.count
    loop.advance(by: .seconds(10))
    #expect(log.all.count == steps)
  }

  @Test("F02: close returns when the peer has answered")
  func closeReturns() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    rig.open()
    let (connection, log) = (rig.connection, rig.log)
    Task(executorPreference: rig.loop) {
      await connection.close()
      log.add("closed")
    }
    rig.loop.settle()
    #expect(rig.transport.orders.last == "close #1")
    #expect(rig.log.all == [])
    rig.transport.report(.closed(nil), on: 1)
    #expect(rig.log.all == ["closed"])
  }

  @Test("F02, I8: close returns too when the link was being let go for another cause")
  func closeWhileLetGo() throws {
    let rig = try ConnectionRig(
      policy: Policy(
        heartbeat: nil, lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: .seconds(30))))
    rig.open()
    let (connection, log) = (rig.connection, rig.log)
    connection.demandChanged(to: false)
    rig.loop.settle()
    rig.loop.advance(by: .seconds(30))
    #expect(rig.transport.orders.last == "close #1")
    Task(executorPreference: rig.loop) {
      await connection.close()
      log.add("closed")
    }
    rig.loop.settle()
    #expect(rig.log.all == [])
    rig.transport.report(.closed(nil), on: 1)
    #expect(rig.log.all == ["closed"])
  }

  @Test("cancelling a task that waits in send takes back what no link was given, and nothing else")
  func cancelledSend() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (connection, log) = (rig.connection, rig.log)
    let waiting = Task(executorPreference: rig.loop) {
      log.add("waiting \((try? await connection.send(Message("w"))).map { "\($0)" } ?? "thrown")")
    }
    rig.loop.settle()
    waiting.cancel()
    rig.loop.settle()
    #expect(rig.log.all == ["waiting cancelled"])
    rig.open()
    let given = Task(executorPreference: rig.loop) {
      log.add("given \((try? await connection.send(Message("g"))).map { "\($0)" } ?? "thrown")")
    }
    rig.loop.settle()
    given.cancel()
    rig.loop.settle()
    #expect(rig.transport.orders.last == "send #1 g")
    rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
    #expect(rig.log.all == ["waiting cancelled", "given written"])
  }

  @Test("I16: send returns the outcome and throws the rejection")
  func asyncSend() throws {
    let rig = try ConnectionRig(policy: plainPolicy(countLimit: 1))
    let (connection, log) = (rig.connection, rig.log)
    Task(executorPreference: rig.loop) {
      do {
        log.add("\(try await connection.send(Message("a")))")
        log.add("\(try await connection.send(Message("x"), in: LaneID(9)))")
      } catch { log.add("\(error)") }
    }
    rig.open()
    rig.transport.report(.written(through: rig.transport.sent[0]), on: 1)
    #expect(rig.log.all == ["written", "noSuchLane"])
  }
}
