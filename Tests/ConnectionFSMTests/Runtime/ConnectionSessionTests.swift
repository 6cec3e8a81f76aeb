import ConnectionFSM
import Testing

private func sessionPolicy() throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(5),
    backoff: Backoff(
      first: .seconds(2), base: .seconds(2), cap: .seconds(8), jitter: .none,
      stability: .seconds(10)),
    minimumDialSpacing: .seconds(1), heartbeat: nil, sessionDeadline: .seconds(5),
    resumeWindow: .seconds(60),
    lanes: [Lane(.atMostOnce, timeToLive: .seconds(20)), Lane(.atLeastOnce, timeToLive: nil)])
}

private struct SessionConnectionRig {
  let loop = ManualLoop()
  let transport: ScriptedTransport
  let connection: Connection
  let log = Log()

  init() throws {
    let transport = ScriptedTransport(loop)
    self.transport = transport
    connection = try Connection(
      transport, policy: sessionPolicy(), seed: 1, session: WordsDialect(),
      sessionSettings: SessionSettings(confirmationTimeout: .seconds(5)))
  }

  /// Lets the link of that epoch open and log in.
  func open(_ epoch: UInt64) {
    if epoch == 1 { connection.connect(to: home) }
    loop.settle()
    transport.report(.opened, on: epoch)
    transport.receive("accepted token", on: epoch)
  }

  func hear(_ messages: Messages, as name: String) -> Task<Void, Never> {
    Task(executorPreference: loop) { [log] in
      do {
        for try await message in messages { log.add("\(name) \(message.text)") }
        log.add("\(name) end")
      } catch { log.add("\(name) \(error)") }
    }
  }

  /// What was given to links, without the dials.
  var said: [String] { transport.orders.filter { $0.hasPrefix("send") } }
}

@Suite("Connection: with a session")
struct ConnectionSessionTests {
  @Test("I14, F49, B0.17, B2.6: login, its answer, subscriptions, and only then what was posted")
  func order() throws {
    let rig = try SessionConnectionRig()
    rig.connection.post(Message("hello"))
    let topic = rig.connection.messages(of: "news")
    rig.connection.connect(to: home)
    rig.loop.settle()
    rig.transport.report(.opened, on: 1)
    #expect(rig.said == ["send #1 login"])
    rig.transport.receive("accepted token", on: 1)
    #expect(rig.said == ["send #1 login", "send #1 sub news", "send #1 hello"])
    withExtendedLifetime(topic) {}
  }

  @Test("F50: a topic is subscribed to once for many consumers, again on each link, and let go of")
  func topics() throws {
    let rig = try SessionConnectionRig()
    rig.open(1)
    var (first, second): (Messages?, Messages?) = (
      rig.connection.messages(of: "news"), rig.connection.messages(of: "news")
    )
    rig.loop.settle()
    rig.transport.receive("subbed news", on: 1)
    #expect(rig.said == ["send #1 login", "send #1 sub news"])
    withExtendedLifetime(first) {}
    first = nil
    rig.loop.settle()
    #expect(rig.said.count == 2)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    rig.transport.receive("expired", on: 2)
    rig.transport.receive("accepted token", on: 2)
    #expect(rig.said.suffix(1) == ["send #2 sub news"])
    rig.transport.receive("subbed news", on: 2)
    withExtendedLifetime(second) {}
    second = nil
    rig.loop.settle()
    #expect(rig.said.suffix(1) == ["send #2 unsub news"])
  }

  @Test("F48: a message of a topic reaches its consumers and those of all, and no others")
  func delivery() throws {
    let rig = try SessionConnectionRig()
    let tasks = [
      rig.hear(rig.connection.messages(), as: "all"),
      rig.hear(rig.connection.messages(of: "news"), as: "news"),
      rig.hear(rig.connection.messages(of: "sport"), as: "sport"),
    ]
    rig.open(1)
    rig.transport.receive("subbed news,sport", on: 1)
    rig.transport.receive("pub news 1 first", on: 1)
    rig.transport.receive("pub news 1 first", on: 1)
    rig.transport.receive("nosuch sport", on: 1)
    #expect(
      rig.log.all.sorted() == [
        "all pub news 1 first", "news pub news 1 first",
        "sport the peer refuses the topic: no such topic",
      ])
    for task in tasks { task.cancel() }
    rig.loop.settle()
  }

  @Test("F47, I22: at least once has numbers, the same when it is sent again, until acknowledged")
  func numbers() throws {
    let rig = try SessionConnectionRig()
    let log = rig.log
    rig.open(1)
    for text in ["a", "b"] {
      rig.connection.post(Message(text), in: LaneID(1)) { log.add("\(text) \(word($0))") }
    }
    rig.loop.settle()
    rig.transport.receive("acked 1", on: 1)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    rig.transport.receive("resumed", on: 2)
    rig.transport.receive("acked 99", on: 2)
    #expect(log.all == ["a acknowledged", "b acknowledged"])
    #expect(
      rig.said == [
        "send #1 login", "send #1 1:a +", "send #1 2:b +", "send #2 login token", "send #2 2:b",
      ])
  }

  @Test("a request has its answer, or the reason why there is none")
  func requests() throws {
    let rig = try SessionConnectionRig()
    rig.open(1)
    let (connection, log) = (rig.connection, rig.log)
    func ask(_ text: String, in lane: UInt8 = 0) -> Task<Void, Never> {
      defer { rig.loop.settle() }
      return Task(executorPreference: rig.loop) {
        do throws(RequestError) {
          let answer = try await connection.request(
            Message(text), in: LaneID(lane), timeout: .seconds(9))
          log.add("\(text): \(answer.text)")
        } catch { log.add("\(text): \(error)") }
      }
    }
    _ = ask("time")
    #expect(rig.said.last == "send #1 ask 1 time")
    rig.transport.receive("answer 1 noon", on: 1)
    _ = ask("weather")
    rig.loop.advance(by: .seconds(9))
    let cancelled = ask("patience")
    cancelled.cancel()
    rig.loop.settle()
    _ = ask("lost")
    _ = ask("survives", in: 1)
    rig.transport.report(.closed(nil), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.transport.report(.opened, on: 2)
    rig.transport.receive("resumed", on: 2)
    rig.transport.receive("answer 5 yes", on: 2)
    rig.transport.receive("answer 5 twice", on: 2)
    #expect(
      log.all == [
        "time: answer 1 noon", "weather: timedOut", "patience: cancelled",
        "lost: linkLost", "survives: answer 5 yes",
      ])
  }

  @Test("I16: topics and requests without a session say so; policy and session must fit")
  func unfit() throws {
    let rig = try ConnectionRig(policy: plainPolicy())
    let (connection, log) = (rig.connection, rig.log)
    Task(executorPreference: rig.loop) {
      do {
        for try await _ in connection.messages(of: "news") {}
      } catch { log.add("\(error)") }
      do throws(RequestError) { _ = try await connection.request(Message("a")) } catch {
        log.add("\(error)")
      }
    }
    rig.loop.settle()
    #expect(
      log.all
        == ["the connection has no session: give it a dialect, which knows topics", "noSession"])
    let loop = ManualLoop()
    #expect(throws: ConnectionError.sessionNeedsDeadline) {
      _ = try Connection(ScriptedTransport(loop), policy: plainPolicy(), session: WordsDialect())
    }
    #expect(
      throws: ConnectionError.settings(knob: "session.burst", mend: "must be 1 to 1,000,000")
    ) {
      _ = try Connection(
        ScriptedTransport(loop), policy: sessionPolicy(), session: WordsDialect(),
        sessionSettings: SessionSettings(burst: 0))
    }
  }

  @Test("F58: a released connection ends its requests and topics")
  func release() throws {
    let loop = ManualLoop()
    let log = Log()
    do {
      let connection = try Connection(
        ScriptedTransport(loop), policy: sessionPolicy(), seed: 1, session: WordsDialect())
      let news = connection.messages(of: "news")
      Task(executorPreference: loop) {
        for try await _ in news {}
        log.add("news ended")
      }
    }
    loop.settle()
    #expect(log.all == ["news ended"])
    #expect(loop.armed == 0)
  }
}
