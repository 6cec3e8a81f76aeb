import ConnectionFSM
import Synchronization
import Testing
import Transports

/// A session spoken with an echo server: what is asked for comes back, and is the answer.
private struct EchoDialect: SessionDialect {
  /// Whether the login's echo counts as its answer; otherwise nothing does.
  var isAccepted = true

  func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message? {
    Message("login")
  }
  func subscribe(to topics: [String]) -> Message { Message("sub \(topics[0])") }
  func unsubscribe(from topics: [String]) -> Message { Message("unsub \(topics[0])") }
  func request(_ message: Message, id: UInt64) -> Message { Message("ask \(id)") }

  func read(_ message: Message) -> SessionMessage {
    let words = message.text.split(separator: " ").map(String.init)
    switch words.first {
    case "login": return isAccepted ? .accepted(nil) : .nothing
    case "sub": return .subscribed([words[1]])
    case "unsub": return .unsubscribed([words[1]])
    case "ask": return .response(id: UInt64(words[1]) ?? 0, message)
    default: return .application(message)
    }
  }
}

/// Something of the user's that a connection is given.
private final class Belonging: ConnectionMonitor {
  func touch() {}
}

/// Where the connections of the rounds live, and whom they speak with.
private final class LeakRig: Sendable {
  let loop: SocketEventLoop
  private let serverLoop: SocketEventLoop
  private let server = Confined<EchoServer?>(nil)
  let endpoint: Endpoint

  init() async throws {
    loop = try SocketEventLoop()
    serverLoop = try SocketEventLoop()
    let (server, serverLoop) = (server, serverLoop)
    let bound = await serverLoop.run { () -> Result<UInt16, ListenError> in
      let echo = EchoServer(loop: serverLoop)
      server.value = echo
      do throws(ListenError) { return .success(try echo.start()) } catch { return .failure(error) }
    }
    endpoint = Endpoint(host: "127.0.0.1", port: try bound.get())
  }

  static func policy(sessionDeadline: TimeSpan? = nil) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(30), closeDeadline: .seconds(30),
      backoff: Backoff(
        first: .milliseconds(1), base: .milliseconds(1), cap: .milliseconds(1), jitter: .none,
        stability: .seconds(10)),
      minimumDialSpacing: .zero, heartbeat: nil, sessionDeadline: sessionDeadline,
      lanes: [Lane(.atMostOnce, timeToLive: nil)])
  }

  /// A connection whose parts hold on to what is the user's.
  func connection(
    _ belonging: Belonging, session: EchoDialect? = nil
  ) throws -> Connection {
    let framing = try DelimiterFraming(delimiter: .lf)
    let transport = StreamTransport(TCPDialer(loop: loop)) { [belonging] in
      belonging.touch()
      return framing
    }
    return try Connection(
      transport, policy: Self.policy(sessionDeadline: session.map { _ in .seconds(30) }),
      seed: 1, session: session, monitors: [belonging]
    ) { [belonging] _ in belonging.touch() }
  }

  func stop() async {
    let server = server
    await serverLoop.run {
      server.value?.kill()
      server.value = nil
    }
    loop.stop()
    serverLoop.stop()
  }
}

/// Holds weakly what must be gone.
private final class Remains: Sendable {
  private struct Weak: Sendable {
    weak var object: (any AnyObject & Sendable)?
  }

  private let all = Mutex<[Weak]>([])

  func expectEnd(of object: any AnyObject & Sendable) {
    all.withLock { $0.append(Weak(object: object)) }
  }

  var count: Int { all.withLock { $0.count { $0.object != nil } } }
}

extension RealSockets {
  @Suite("Nothing is left of a thousand connections")
  struct LeakTests {
    /// What this process holds.
    private struct Holdings: Equatable {
      let sockets = ProcessCounts.sockets
      let threads = ProcessCounts.threads
    }

    @Test("F58, I18: 1,000 rounds of connect and close leave no object, socket, timer or thread")
    func rounds() async throws {
      let (before, timers) = (Holdings(), ProcessCounts.timers)
      let rig = try await LeakRig()
      let remains = Remains()
      for _ in 0..<1000 {
        let belonging = Belonging()
        let connection = try rig.connection(belonging)
        remains.expectEnd(of: belonging)
        remains.expectEnd(of: connection)
        connection.connect(to: rig.endpoint)
        #expect(try await connection.send(Message("hello")) == .written)
        await connection.close()
      }
      await rig.loop.until { remains.count == 0 }
      await rig.stop()
      #expect(Holdings() == before)
      #expect(ProcessCounts.timers <= timers + 3)
    }

    /// When a connection is let go of.
    enum Moment: CaseIterable {
      case beforeTheDial, dialling, loggingIn, open, closing
    }

    @Test(
      "F58, I18: released at any moment, with all that a connection can have: nothing is left",
      arguments: Moment.allCases)
    func released(_ moment: Moment) async throws {
      let (before, timers) = (Holdings(), ProcessCounts.timers)
      let rig = try await LeakRig()
      let remains = Remains()
      for _ in 0..<200 { try await Self.round(rig, moment, remains) }
      await rig.loop.until { remains.count == 0 }
      await rig.stop()
      #expect(Holdings() == before)
      #expect(ProcessCounts.timers <= timers + 3)
    }

    private static func round(_ rig: LeakRig, _ moment: Moment, _ remains: Remains) async throws {
      let belonging = Belonging()
      remains.expectEnd(of: belonging)
      let tasks = try await attend(rig, moment, belonging, remains)
      // Everybody who waits for something of the connection hears of its end.
      for task in tasks { await task.value }
    }

    /// Makes a connection with all that can be attached to one, and lets go of it at that moment.
    private static func attend(
      _ rig: LeakRig, _ moment: Moment, _ belonging: Belonging, _ remains: Remains
    ) async throws -> [Task<Void, Never>] {
      let connection = try rig.connection(
        belonging, session: EchoDialect(isAccepted: moment != .loggingIn))
      remains.expectEnd(of: connection)
      let (messages, topic) = (connection.messages(), connection.messages(of: "news"))
      let states = connection.states()
      var tasks = [messages, topic].map { arrivals in
        Task { do { for try await _ in arrivals {} } catch { Issue.record("\(error)") } }
      }
      tasks.append(Task { for await _ in states {} })
      let posted = AsyncStream<Void>.makeStream()
      connection.post(Message("hello")) { [belonging] _ in
        belonging.touch()
        posted.continuation.finish()
      }
      tasks.append(Task { for await _ in posted.stream {} })
      if moment != .beforeTheDial { connection.connect(to: rig.endpoint) }
      switch moment {
      case .beforeTheDial, .dialling: break
      case .loggingIn: await reach(.authenticating, connection)
      case .open:
        await reach(.open, connection)
        let answer = try await connection.request(Message("what"), timeout: .seconds(30))
        #expect(answer.text == "ask 1")
      case .closing:
        await reach(.open, connection)
        tasks.append(Task { await connection.close() })
      }
      return tasks
    }

    private static func reach(_ phase: Phase, _ connection: Connection) async {
      for await state in connection.states() where state.phase == phase { return }
    }
  }
}
