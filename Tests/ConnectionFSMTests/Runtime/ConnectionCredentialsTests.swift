import ConnectionFSM
import Synchronization
import Testing

private func policy(
  credentialsDeadline: TimeSpan? = .seconds(4), overrides: [VerdictOverride] = [],
  rollover: Rollover? = nil
) throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(5),
    backoff: Backoff(
      first: .seconds(2), base: .seconds(2), cap: .seconds(2), jitter: .none,
      stability: .seconds(10)),
    minimumDialSpacing: .seconds(1), heartbeat: nil,
    path: PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .zero),
    credentialsDeadline: credentialsDeadline, rollover: rollover,
    lanes: [Lane(.atMostOnce, timeToLive: nil)], overrides: overrides)
}

private struct Offline: Error {}

/// A provider that answers when and what the test says.
private final class Vault: Sendable {
  typealias Answer = Result<Credentials?, any Error>

  private struct State {
    var asked: [String] = []
    var waiting: [CheckedContinuation<Credentials?, any Error>] = []
    var cancelled = 0
  }

  private let state = Mutex(State())

  /// What it was told at each question: the refused token, or a dash.
  var asked: [String] { state.withLock { $0.asked } }
  /// How many of its tasks were cancelled.
  var cancelled: Int { state.withLock { $0.cancelled } }

  func answer(refused: Credentials?) async throws -> Credentials? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock {
          $0.asked.append(refused?.token ?? "-")
          $0.waiting.append(continuation)
        }
      }
    } onCancel: {
      state.withLock { $0.cancelled += 1 }
    }
  }

  /// Answers the oldest question that waits, whether anyone still wants to know or not.
  func answer(_ answer: Answer) {
    state.withLock { $0.waiting.removeFirst() }.resume(with: answer)
  }
}

private struct VaultRig {
  let loop = ManualLoop()
  let transport: ScriptedTransport
  let vault = Vault()
  let connection: Connection
  let trace = Lines()

  init(_ policy: Policy) throws {
    transport = ScriptedTransport(loop)
    connection = try Connection(
      transport, policy: policy, seed: 1,
      credentials: CredentialsProvider { [vault] in try await vault.answer(refused: $0) },
      trace: { [trace] record in
        if case .credentials = record.input { trace.add("\(record.disposition)") }
      })
    connection.connect(to: home)
    loop.settle()
  }

  func answer(_ answer: Vault.Answer) {
    vault.answer(answer)
    loop.settle()
  }

  func grant(_ token: String) { answer(.success(Credentials(token))) }

  /// Where the connection is now, and what led there.
  func now() -> String? {
    let lines = Lines()
    Task(executorPreference: loop) { [connection] in
      guard let state = await connection.explain() else { return }
      lines.add("\(state.phase) \(state.cause.map { "\($0)" } ?? "-")")
    }
    loop.settle()
    return lines.all.last
  }
}

private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

@Suite("Connection: credentials")
struct ConnectionCredentialsTests {
  @Test("F21: each dial waits for credentials of its own, and takes them along")
  func granted() throws {
    let rig = try VaultRig(policy())
    #expect(rig.transport.orders == [])
    #expect(rig.now() == "waitingForCredentials -")
    rig.grant("first")
    #expect(rig.transport.orders == ["open #1 tcp://home:1 with first"])
    rig.transport.report(.failed(.system(.connectionRefused)), on: 1)
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked == ["-", "-"])
    #expect(rig.transport.orders.count == 1, "the old token is not dialled with again")
    rig.grant("second")
    #expect(rig.transport.orders.last == "open #2 tcp://home:1 with second")
    rig.transport.report(.opened, on: 2)
    #expect(rig.trace.all == ["accepted", "accepted"])
    #expect(rig.now() == "open system(connectionRefused)")
  }

  @Test("F21: without credentials to be had the connection ends, and only a connect asks again")
  func none() throws {
    let rig = try VaultRig(policy())
    rig.answer(.success(nil))
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.now() == "closed credentialsRefused")
    #expect(rig.vault.asked.count == 1)
    rig.connection.connect(to: home)
    rig.loop.settle()
    rig.grant("at last")
    #expect(rig.transport.orders == ["open #2 tcp://home:1 with at last"])
  }

  @Test("F21, I6: a provider that fails is asked again after the backoff, not at once")
  func failing() throws {
    let rig = try VaultRig(policy())
    rig.answer(.failure(Offline()))
    #expect(rig.now() == "backingOff credentialsUnavailable")
    rig.loop.advance(by: .milliseconds(1999))
    #expect(rig.vault.asked.count == 1)
    rig.loop.advance(by: .milliseconds(1))
    #expect(rig.vault.asked == ["-", "-"])
    rig.grant("now")
    #expect(rig.transport.orders == ["open #2 tcp://home:1 with now"])
  }

  @Test(
    "F21: after a refusal the provider hears what was refused, once; a second one is the end",
    arguments: [
      Cause.http(status: 401), .closedByPeer(CloseCode(1008)), .closedByPeer(CloseCode(4401)),
    ])
  func refresh(refusal: Cause) throws {
    let rig = try VaultRig(policy(overrides: VerdictOverride.httpLike))
    rig.grant("stale")
    rig.transport.report(.failed(refusal), on: 1)
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked == ["-", "stale"])
    rig.grant("fresh")
    #expect(rig.transport.orders.last == "open #2 tcp://home:1 with fresh")
    rig.transport.report(.failed(refusal), on: 2)
    #expect(rig.now()?.hasPrefix("closed") == true)
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.vault.asked.count == 2)
    rig.connection.connect(to: home)
    rig.loop.settle()
    #expect(rig.vault.asked == ["-", "stale", "fresh"], "the next run starts from the refusal")
    rig.grant("third")
  }

  @Test("F21: a refusal is told until there are new credentials, and of no others")
  func refusalStands() throws {
    let rig = try VaultRig(policy())
    rig.grant("stale")
    rig.transport.report(.failed(.http(status: 401)), on: 1)
    rig.loop.advance(by: .seconds(2))
    rig.answer(.failure(Offline()))
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked == ["-", "stale", "stale"])
    rig.grant("fresh")
    rig.transport.report(.opened, on: 3)
    rig.loop.advance(by: .seconds(60))
    rig.transport.report(.closed(nil), on: 3)
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked == ["-", "stale", "stale", "-"])
    rig.grant("later")
  }

  @Test("F21, F54, I2: in a rollover the link that was refused is told from its replacement")
  func rollover() throws {
    let rig = try VaultRig(policy(rollover: Rollover(maxAge: .seconds(60))))
    rig.grant("old")
    rig.transport.report(.opened, on: 1)
    rig.loop.advance(by: .seconds(60))
    #expect(rig.vault.asked == ["-", "-"])
    rig.grant("new")
    #expect(rig.transport.orders.last == "open #2 tcp://home:1 with new")
    rig.transport.report(.failed(.closedByPeer(CloseCode(1008))), on: 1)
    rig.transport.report(.failed(.system(.connectionReset)), on: 2)
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked == ["-", "-", "-"], "nobody has refused the new ones")
    rig.grant("newer")
  }

  @Test("I1, I2: an answer that comes after the close, or after a release, dials nothing")
  func lateAfterClose() throws {
    let rig = try VaultRig(policy())
    Task(executorPreference: rig.loop) { [connection = rig.connection] in await connection.close() }
    rig.loop.settle()
    #expect(rig.vault.cancelled == 1)
    rig.grant("late")
    rig.loop.advance(by: .seconds(3600))
    #expect(rig.transport.orders == [])
    #expect(rig.trace.all == ["ignored staleEpoch"])
    rig.connection.connect(to: home)
    rig.loop.settle()
    rig.grant("asked for")
    #expect(rig.transport.orders == ["open #2 tcp://home:1 with asked for"])
  }

  @Test("I2, I19: the wait has a deadline, and an answer after it serves no later attempt")
  func lateAfterDeadline() throws {
    let rig = try VaultRig(policy())
    rig.loop.advance(by: .seconds(4))
    #expect(rig.now() == "backingOff timedOut(credentials)")
    #expect(rig.vault.cancelled == 1)
    rig.loop.advance(by: .seconds(2))
    #expect(rig.vault.asked.count == 2)
    rig.grant("of the first")
    #expect(rig.transport.orders == [])
    rig.grant("of the second")
    #expect(rig.transport.orders == ["open #2 tcp://home:1 with of the second"])
    #expect(rig.vault.cancelled == 1)
  }

  @Test("I1, F53: a hold ends the wait; what is answered then is of no use")
  func held() throws {
    let rig = try VaultRig(policy())
    rig.connection.demandChanged(to: false)
    rig.loop.settle()
    #expect(rig.vault.cancelled == 1)
    rig.grant("late")
    #expect(rig.transport.orders == [])
    rig.connection.demandChanged(to: true)
    rig.loop.advance(by: .seconds(1))
    #expect(rig.now() == "waitingForCredentials -")
    rig.loop.advance(by: .seconds(4))
    rig.vault.answer(.success(nil))
  }
}

@Suite("Connection: credentials, construction and release")
struct ConnectionCredentialsLifetimeTests {
  @Test("F58, I18: a connection released while it asks leaves no task, no timer and no provider")
  func released() throws {
    let loop = ManualLoop()
    let transport = ScriptedTransport(loop)
    weak var kept: Vault?
    do {
      let vault = Vault()
      kept = vault
      let connection = try Connection(
        transport, policy: policy(), seed: 1,
        credentials: CredentialsProvider { try await vault.answer(refused: $0) })
      connection.connect(to: home)
      loop.settle()
      #expect(vault.asked == ["-"])
      withExtendedLifetime(connection) {}
    }
    loop.settle()
    let vault = try #require(kept, "its answer is still out")
    #expect(vault.cancelled == 1)
    vault.answer(.success(Credentials("late")))
    loop.settle()
    #expect(transport.orders == [])
    #expect(loop.armed == 0)
  }

  @Test("F58, I18: nothing holds the provider once its last answer is in")
  func letGo() throws {
    let loop = ManualLoop()
    let transport = ScriptedTransport(loop)
    weak var kept: Vault?
    do {
      let vault = Vault()
      kept = vault
      let connection = try Connection(
        transport, policy: policy(), seed: 1,
        credentials: CredentialsProvider { try await vault.answer(refused: $0) })
      connection.connect(to: home)
      loop.settle()
      vault.answer(.success(Credentials("token")))
      loop.settle()
      transport.report(.opened, on: 1)
      withExtendedLifetime(connection) {}
    }
    loop.settle()
    #expect(kept == nil)
    #expect(transport.orders == ["open #1 tcp://home:1 with token", "close #1", "abort #1"])
    #expect(loop.armed == 0)
  }

  @Test("I16: a deadline, a provider and a place for what it gives come together, or are refused")
  func refused() throws {
    func error(_ policy: Policy, _ canAuthenticate: Bool, _ provider: CredentialsProvider?) throws
      -> ConnectionError?
    {
      let transport = ScriptedTransport(ManualLoop(), canAuthenticate: canAuthenticate)
      do throws(ConnectionError) {
        _ = try Connection(transport, policy: policy, seed: 1, credentials: provider)
        return nil
      } catch { return error }
    }
    let asking = try policy()
    let plain = try policy(credentialsDeadline: nil)
    let provider = CredentialsProvider { _ in nil }
    #expect(try error(asking, true, provider) == nil)
    #expect(try error(plain, false, nil) == nil)
    #expect(try error(asking, true, nil) == .credentialsNeedProvider)
    #expect(try error(plain, true, provider) == .providerNeedsDeadline)
    #expect(try error(asking, false, provider) == .credentialsNeedAuthentication)
  }

  @Test("a token shows in no description and no dump of credentials, alone or inside of something")
  func hidden() {
    struct Login { let name = "ann", credentials: Credentials? = Credentials("s3cret") }
    let credentials = Credentials("s3cret")
    var dumped = ""
    dump(Login(), to: &dumped)
    dump(credentials, to: &dumped)
    let texts = [
      "\(credentials)", String(reflecting: credentials), "\(Login())",
      String(reflecting: [credentials]), dumped,
    ]
    for text in texts {
      #expect(text.contains("credentials (hidden)") && !text.contains("s3cret"), "\(text)")
    }
    #expect(Mirror(reflecting: credentials).children.isEmpty)
  }
}

@Suite("StreamTransport: credentials")
struct StreamCredentialsTests {
  @Test("F21: an engine gets its link's own credentials, once and before its start")
  func engine() throws {
    let loop = ManualLoop()
    let dialer = ScriptedDialer(loop)
    let log = Lines()
    let transport = StreamTransport(dialer, engine: { GuardedEngine(log: log) })
    #expect(transport.canAuthenticate)
    let connection = try Connection(
      transport, policy: policy(), seed: 1,
      credentials: CredentialsProvider { Credentials($0 == nil ? "first" : "second") })
    connection.connect(to: home)
    loop.settle()
    dialer.streams[0].observer?.streamOpened()
    loop.settle()
    dialer.streams[0].observer?.streamFailed(.http(status: 401))
    loop.settle()
    loop.advance(by: .seconds(2))
    dialer.streams[1].observer?.streamOpened()
    loop.settle()
    #expect(log.all == ["got first", "started", "got second", "started"])
    #expect(!StreamTransport(dialer, engine: { ScriptedEngine(.init()) }).canAuthenticate)
  }
}

/// Notes what it is given.
private struct GuardedEngine: ProtocolEngine {
  let log: Lines
  var canPing: Bool { false }
  var canAuthenticate: Bool { true }
  var nextDeadline: Instant? { nil }
  func admits(_ message: Message) -> Bool { true }

  mutating func authenticate(with credentials: Credentials) { log.add("got \(credentials.token)") }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    log.add("started")
    output.events.append(.opened)
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {}
  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {}
  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {}
  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}
  mutating func close(at now: Instant, into output: inout EngineOutput) {}
  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
