import ConnectionFSM
import NetSim
import Testing

/// A transport without a network: it refuses the first dials, then opens and echoes, each a tenth
/// of a second later. Its network goes on while nobody waits for it.
private final class TinyTransport: Transport {
  private let loop: SimulatedEventLoop
  private var refusals: Int
  private weak var observer: (any TransportObserver)?
  private var live: Epoch?

  init(_ loop: SimulatedEventLoop, refusals: Int) {
    self.loop = loop
    self.refusals = refusals
  }

  var eventLoop: any EventLoop { loop }
  var canPing: Bool { true }

  func admits(_ message: Message) -> Bool { true }

  private func soon(_ epoch: Epoch, _ action: @escaping (any TransportObserver) -> Void) {
    let alarm = Alarm { [weak self] _ in
      guard let self, let observer, live == epoch else { return }
      action(observer)
    }
    loop.arm(alarm, at: loop.now + .milliseconds(100), actor: VirtualTime.network)
  }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    self.observer = observer
    live = epoch
    let isRefused = refusals > 0
    refusals -= 1
    soon(epoch) {
      $0.transport(epoch, reports: isRefused ? .failed(.system(.connectionRefused)) : .opened)
    }
  }

  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    soon(epoch) {
      if let id { $0.transport(epoch, reports: .written(through: id)) }
      $0.transport(epoch, received: message)
    }
  }

  func ping(_ number: UInt32, on epoch: Epoch) {
    soon(epoch) { $0.transport(epoch, reports: .pong(number)) }
  }

  func close(_ epoch: Epoch) { soon(epoch) { $0.transport(epoch, reports: .closed(nil)) } }

  func abort(_ epoch: Epoch) { live = nil }
}

@Suite("Virtual time: a connection")
struct VirtualTimeConnectionTests {
  private static func policy() throws -> Policy {
    try Policy(
      connectDeadline: .seconds(10), closeDeadline: .seconds(5),
      backoff: Backoff(
        first: .seconds(2), base: .seconds(2), cap: .seconds(8), jitter: .none,
        stability: .seconds(10)),
      minimumDialSpacing: .seconds(1),
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(5)),
      path: PathPolicy(
        onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
        returnJitter: .zero),
      lanes: [Lane(.atMostOnce, timeToLive: .seconds(20), countLimit: 10)])
  }

  /// Two dials are refused, then it is open for two hours; tasks of every kind listen.
  private static func story() throws -> [String] {
    let journal = Journal()
    try VirtualTime.run(limit: .seconds(10_000)) { loop in
      let connection = try Connection(
        TinyTransport(loop, refusals: 2), policy: policy(), seed: 1)
      let states = connection.states()
      let watcher = Task {
        for await state in states { journal.add("\(state.phase)", at: loop.now) }
      }
      let messages = connection.messages()
      let reader = Task.detached {
        for try await message in messages { journal.add("got \(message.text)", at: loop.now) }
      }
      connection.connect(to: Endpoint(host: "server", port: 1))
      let outcome = try await connection.send(Message("hello"))
      journal.add("hello: \(outcome)", at: loop.now)
      try await Task.sleep(for: .seconds(7200))
      await connection.close()
      watcher.cancel()
      reader.cancel()
    }
    return journal.all
  }

  @Test("a connection backs off, opens, sends, lives for two hours and closes; nothing is left")
  func wholeLife() throws {
    let story = try Self.story()
    #expect(
      story == [
        "0.0 idle", "0.0 connecting", "0.1 backingOff", "2.1 connecting", "2.2 backingOff",
        "6.2 connecting", "6.3 open", "6.4 hello: written", "6.4 got hello", "7206.4 closing",
        "7206.5 closed",
      ])
    #expect(try Self.story() == story)
  }

  @Test("a connection that is let go of without a close leaves nothing either")
  func released() throws {
    try VirtualTime.run { loop in
      let connection = try Connection(
        TinyTransport(loop, refusals: 0), policy: Self.policy(), seed: 1)
      connection.connect(to: Endpoint(host: "server", port: 1))
      try await loop.clock.sleep(for: .seconds(100))
    }
  }

  @Test("a connection that is kept open when the body ends is named by its armed deadline")
  func kept() throws {
    var kept: Connection?
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { loop in
        let connection = try Connection(
          TinyTransport(loop, refusals: 0), policy: Self.policy(), seed: 1)
        kept = connection
        connection.connect(to: Endpoint(host: "server", port: 1))
        try await loop.clock.sleep(for: .seconds(100))
      }
    }
    guard case .leaked(_, let left) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(left.handlers.map(\.name) == ["Driver"])
    #expect(kept != nil)
  }
}
