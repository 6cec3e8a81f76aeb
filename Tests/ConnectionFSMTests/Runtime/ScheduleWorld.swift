import ConnectionFSM

/// A small life of a connection on a loop that is stepped by hand, into which something is thrown
/// at any point, and the books of what must hold of it.
///
/// Unchecked: a test's own thread does everything.
final class ScheduleWorld: @unchecked Sendable {
  /// What may come in between.
  enum Action: CaseIterable {
    case cancel, release, close, drain, connect, retarget, reconnect, update, send, request, listen
    case background, foreground
  }

  /// What comes in, and when.
  struct Plan {
    var actions: [Action] = []
    /// Before which piece of the loop's work, or inside which callback, counted from 0.
    var place = 0
    var isInCallback = false
  }

  let loop = SteppingLoop()
  private let plan: Plan
  private var connection: Connection?
  private weak var transport: PlayedTransport?
  private var tasks: [Task<Void, Never>] = []
  private var endedTasks = 0
  /// How often each message was told an end.
  private var ends: [Int] = []
  private(set) var pieces = 0
  private(set) var callbacks = 0
  private(set) var problems: [String] = []

  init(_ plan: Plan) { self.plan = plan }

  /// Lives through it; what did not hold is in ``problems``.
  func run() throws {
    try begin()
    while pieces < 2000 {
      if !plan.isInCallback, pieces == plan.place { for action in plan.actions { perform(action) } }
      guard loop.step() else { break }
      pieces += 1
    }
    // A send that waits for the foreground holds its connection, which nobody else has any more.
    if connection == nil, plan.actions.contains(.background) { perform(.cancel) }
    perform(.close)
    settle()
    connection = nil
    settle()
    check()
  }

  private func settle() {
    var count = 0
    while count < 5000, loop.step() { count += 1 }
  }

  private func begin() throws {
    let transport = PlayedTransport(loop) { [unowned self] in problems.append($0) }
    self.transport = transport
    connection = try Connection(
      transport, policy: Self.policy(capped: .seconds(8)), seed: 1, session: WordsDialect()
    ) { [unowned self] _ in called() }
    for action in [Action.listen, .request] { perform(action) }
    watch()
    post("posted")
    task { world in
      world.connection?.connect(to: home)
      await world.send("a", LaneID(0))
      await world.send("drop", LaneID(1))
      await world.send("b", LaneID(1))
      await world.ask()
      await world.connection?.close(draining: true)
    }
  }

  private static func policy(capped cap: TimeSpan) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(10), closeDeadline: .seconds(5), drainDeadline: .seconds(5),
      backoff: Backoff(
        first: .seconds(2), base: .seconds(2), cap: cap, jitter: .none, stability: .seconds(10)),
      minimumDialSpacing: .seconds(1), heartbeat: nil, sessionDeadline: .seconds(5),
      lanes: [Lane(.atMostOnce, timeToLive: nil), Lane(.atLeastOnce, timeToLive: nil)])
  }

  /// A callback has been entered.
  private func called() {
    callbacks += 1
    if plan.isInCallback, callbacks == plan.place + 1 {
      for action in plan.actions { perform(action) }
    }
  }
}

// MARK: What users do

extension ScheduleWorld {
  private func perform(_ action: Action) {
    switch action {
    case .cancel: for task in tasks { task.cancel() }
    case .release: connection = nil
    case .close: task { await $0.connection?.close() }
    case .drain: task { await $0.connection?.close(draining: true) }
    case .connect: connection?.connect(to: home)
    case .retarget: connection?.connect(to: [away, home])
    case .reconnect: connection?.reconnectNow()
    case .update:
      do { try connection?.update(policy: Self.policy(capped: .seconds(4))) } catch {
        problems.append("\(error)")
      }
    case .send:
      post("more")
      task { await $0.send("sent", LaneID(1)) }
    case .request: task { await $0.ask() }
    case .listen:
      for messages in [connection?.messages(), connection?.messages(of: "news")] {
        guard let messages else { return }
        task { _ in
          // It ends with nil, or with an error that is told once.
          do { for try await _ in messages {} } catch {}
        }
      }
    case .background: connection?.lifecycleChanged(to: .background)
    case .foreground: connection?.lifecycleChanged(to: .foreground)
    }
  }

  private func task(_ body: @escaping @Sendable (ScheduleWorld) async -> Void) {
    tasks.append(
      Task(executorPreference: loop) { [unowned self] in
        await body(self)
        endedTasks += 1
      })
  }

  private func watch() {
    guard let states = connection?.states() else { return }
    task { _ in for await _ in states {} }
  }

  private func post(_ text: String) {
    guard let connection else { return }
    let number = ends.count
    ends.append(0)
    connection.post(Message(text)) { [unowned self] _ in
      ends[number] += 1
      called()
    }
  }

  private func send(_ text: String, _ lane: LaneID) async {
    guard let connection else { return }
    let number = ends.count
    ends.append(0)
    _ = try? await connection.send(Message(text), in: lane)
    ends[number] += 1
  }

  private func ask() async { _ = try? await connection?.request(Message("what"), in: LaneID(0)) }
}

// MARK: What must hold

extension ScheduleWorld {
  private func check() {
    if endedTasks != tasks.count {
      problems.append("\(tasks.count - endedTasks) tasks wait for ever")
    }
    for (number, count) in ends.enumerated() where count != 1 {
      problems.append("message \(number) had \(count) ends")
    }
    if !loop.isEmpty { problems.append("something is armed or ready for ever") }
    if transport != nil { problems.append("the transport is retained") }
  }
}

/// A network whose first dial fails, and a peer that speaks ``WordsDialect`` and lets go of a link
/// by which it is told to drop it. Everything it does is a piece of work of its own.
///
/// Unchecked: a test's own thread does everything.
private final class PlayedTransport: Transport, @unchecked Sendable {
  private let loop: SteppingLoop
  private let complain: (String) -> Void
  private var live: Epoch?
  private var dials = 0
  private var drops = 0
  private weak var observer: (any TransportObserver)?

  init(_ loop: SteppingLoop, complain: @escaping (String) -> Void) {
    self.loop = loop
    self.complain = complain
  }

  deinit { if live != nil { complain("a link outlives its transport") } }

  var eventLoop: any EventLoop { loop }
  var canPing: Bool { true }

  func admits(_ message: Message) -> Bool { true }

  /// Later, if the link is still there then.
  private func soon(
    _ epoch: Epoch, _ action: @escaping @Sendable (any TransportObserver) -> Void
  ) {
    loop.execute { [weak self] in
      guard let self, live == epoch, let observer else { return }
      action(observer)
    }
  }

  private func end(_ epoch: Epoch, _ event: TransportEvent) {
    loop.execute { [weak self] in
      guard let self, live == epoch, let observer else { return }
      live = nil
      observer.transport(epoch, reports: event)
    }
  }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    if let live { complain("\(epoch) is dialled beside \(live)") }
    live = epoch
    self.observer = observer
    dials += 1
    if dials == 1 { return end(epoch, .failed(.system(.connectionRefused))) }
    soon(epoch) { $0.transport(epoch, reports: .opened) }
  }

  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    if live != epoch { complain("a message is sent on \(epoch), which is over") }
    if let id { soon(epoch) { $0.transport(epoch, reports: .written(through: id)) } }
    let words = message.text.split(separator: " ").map(String.init)
    switch words[0] {
    case "login": hear("accepted token", epoch)
    case "sub": hear("subbed \(words[1])", epoch)
    case "unsub": hear("unsubbed \(words[1])", epoch)
    case "ask": hear("answer \(words[1])", epoch)
    case let word where word.hasSuffix(":drop") && drops == 0:
      drops += 1
      end(epoch, .failed(.system(.connectionReset)))
    case let word where word.contains(":"): hear("acked \(word.prefix { $0 != ":" })", epoch)
    default: hear(message.text, epoch)
    }
  }

  private func hear(_ text: String, _ epoch: Epoch) {
    soon(epoch) { $0.transport(epoch, received: Message(text)) }
  }

  func ping(_ number: UInt32, on epoch: Epoch) {
    soon(epoch) { $0.transport(epoch, reports: .pong(number)) }
  }

  func close(_ epoch: Epoch) { end(epoch, .closed(nil)) }

  func abort(_ epoch: Epoch) {
    if live == epoch { live = nil }
  }
}
