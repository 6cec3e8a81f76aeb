import ConnectionFSM
import Dispatch
import Testing
import Transports

/// One way in which a dial or a link ends: what the other side does, what the machine calls it, and
/// what it does next.
struct EndStory: Sendable, CustomTestStringConvertible {
  enum Next: Sendable {
    /// It waits so long after each of the first ends, and dials again; at last the link opens, if
    /// the other side is there.
    case retries(after: [TimeSpan], opens: Bool)
    /// It dials no more until the path is up, and then at once.
    case waits
    /// It stops after so many dials.
    case stops(Machine.Closed.Reason, dials: Int)
  }

  let name: String
  let policy: EndPolicy
  /// What the path is said to be, before the dial.
  let path: Path
  let cause: Cause
  let failureClass: FailureClass
  let next: Next
  /// Dials, and brings the end about.
  let play: @Sendable (EndRig) async throws -> Void

  init(
    _ name: String, policy: EndPolicy = EndPolicy(), path: Path = .unknown, _ cause: Cause,
    _ failureClass: FailureClass, _ next: Next,
    play: @escaping @Sendable (EndRig) async throws -> Void
  ) {
    self.name = name
    self.policy = policy
    self.path = path
    self.cause = cause
    self.failureClass = failureClass
    self.next = next
    self.play = play
  }

  var testDescription: String { name }
}

private let comesBack = EndStory.Next.retries(after: [.milliseconds(4)], opens: true)
private let triesAgain = EndStory.Next.retries(
  after: [.milliseconds(4), .milliseconds(8)], opens: false)

/// A verdict long before the patience of a test: a ping after 5 ms of silence, and 10 ms to answer.
private let impatient = EndPolicy(
  heartbeat: Heartbeat(interval: .milliseconds(5), timeout: .milliseconds(10)))

private let largeMessage = Message(String(repeating: "x", count: 65_000))

private let unknownName = Endpoint(host: "no-such-host.invalid", port: 1)

extension EndStory {
  static let all = serverEnds + silences + refusals + names + stops

  private static let serverEnds = [
    EndStory("a server that is killed and comes back", .closedByPeer(nil), .transient, comesBack) {
      rig in
      let server = try KillableServer()
      rig.atEnd { server.end() }
      let endpoint = try await server.start()
      rig.connection.connect(to: endpoint)
      rig.post("a")
      // Only then has the program accepted what the kernel had accepted for it.
      await rig.loop.until { server.lines.value == 1 }
      await server.kill()
      _ = try await server.start(port: endpoint.port)
    },
    EndStory("RST", .system(.connectionReset), .transient, comesBack) { rig in
      let server = try rig.serve { peer in
        _ = peer.read(2)
        peer.resetOnClose()
      }
      rig.connection.connect(to: server)
      rig.post("a")
    },
    EndStory("FIN", .closedByPeer(nil), .transient, comesBack) { rig in
      rig.connection.connect(to: try rig.serve { _ = $0.read(2) })
      rig.post("a")
    },
    EndStory("FIN inside a line", .truncated, .transient, comesBack) { rig in
      rig.connection.connect(to: try rig.serve { $0.write("half a li") })
    },
    EndStory("half a close: the peer goes on reading", .closedByPeer(nil), .transient, comesBack) {
      rig in
      let server = try rig.serve { peer in
        peer.finishWriting()
        _ = peer.readToEnd()
      }
      rig.connection.connect(to: server)
    },
    EndStory(
      "a server that accepts and drops: no open alone forgets a failure (I6)", .closedByPeer(nil),
      .transient, .retries(after: EndPolicy.steps, opens: true)
    ) { rig in
      let server = try TestServer { _ in }
      rig.atEnd { server.stop() }
      rig.connection.connect(to: server.endpoint)
    },
  ]

  private static let silences = [
    EndStory(
      "silence (F43)", policy: impatient, .timedOut(.pong), .transient,
      comesBack
    ) { rig in
      rig.connection.connect(to: try rig.serve { _ = $0.readToEnd() })
    },
    EndStory(
      "a peer that never reads, while we write (F43)", policy: impatient, .timedOut(.pong),
      .transient, comesBack
    ) { rig in
      let goOn = DispatchSemaphore(value: 0)
      let server = try rig.serve { _ in goOn.wait() }
      rig.atEnd { goOn.signal() }
      // 8 MB, more than both socket buffers take of a peer that reads nothing. Before the dial, so
      // that they leave at once, and the silence begins behind them.
      for _ in 0..<128 { rig.connection.post(largeMessage) }
      rig.connection.connect(to: server)
      await rig.until { !$0.ends.isEmpty }
      // It was written to until nothing was taken any more.
      let wasFull = rig.trace.ends[0].step.effects.contains { effect in
        if case .settle(_, .inDoubt) = effect { true } else { false }
      }
      #expect(wasFull)
    },
  ]

  private static let refusals = [
    EndStory("refused (F09)", .system(.connectionRefused), .transient, triesAgain) { rig in
      let port = RefusedPort()
      rig.atEnd { port.close() }
      rig.connection.connect(to: port.endpoint)
    },
    EndStory(
      "refused, by the steps of xt in milliseconds (F09)",
      policy: EndPolicy(steps: [0, 2, 4, 8, 16, 32, 60, 60].map { .milliseconds($0) }),
      .system(.connectionRefused), .transient,
      .retries(after: [0, 2, 4].map { .milliseconds($0) }, opens: false)
    ) { rig in
      let port = RefusedPort()
      rig.atEnd { port.close() }
      rig.connection.connect(to: port.endpoint)
    },
    EndStory(
      "an accept queue that is full", policy: EndPolicy(connectDeadline: .milliseconds(10)),
      .timedOut(.connect), .transient, triesAgain
    ) { rig in
      let port = FullBacklog()
      rig.atEnd { port.close() }
      rig.connection.connect(to: port.endpoint)
    },
    EndStory(
      "refused, as often as the policy allows", policy: EndPolicy(attemptLimit: 3),
      .system(.connectionRefused), .transient, .stops(.exhausted, dials: 3)
    ) { rig in
      let port = RefusedPort()
      rig.atEnd { port.close() }
      rig.connection.connect(to: port.endpoint)
    },
    EndStory(
      "refused while the path is said to be down", path: .down, .system(.connectionRefused),
      .network, .waits
    ) { rig in
      let port = RefusedPort()
      rig.atEnd { port.close() }
      rig.connection.connect(to: port.endpoint)
    },
    EndStory(
      "a path that is lost, where the policy closes then (F07)",
      policy: EndPolicy(onLoss: .close), path: .up, .pathLost, .network, .waits
    ) { rig in
      rig.connection.connect(to: try rig.serve { $0.echo() })
      await rig.until { !$0.opened.isEmpty }
      rig.path.update(to: .down)
    },
  ]

  private static let names = [
    EndStory(
      "a name that nobody knows, on a path that is up", path: .up, .resolution(.unknownName),
      .transient, .stops(.terminal, dials: 4)
    ) { $0.connection.connect(to: unknownName) },
    EndStory(
      "a name that nobody knows, on a path of which nothing is known", .resolution(.unknownName),
      .network, triesAgain
    ) { $0.connection.connect(to: unknownName) },
    EndStory(
      "a name that nobody knows, on a path that is down", path: .down, .resolution(.unknownName),
      .network, .waits
    ) { $0.connection.connect(to: unknownName) },
  ]

  private static let stops = [
    EndStory(
      "a line without an end: one more try, in case a box on the way did it", .protocolError,
      .terminal, .stops(.terminal, dials: 2)
    ) { rig in
      let server = try TestServer { peer in
        peer.write(repeatElement(UInt8(ascii: "x"), count: 70_000))
        _ = peer.readToEnd()
      }
      rig.atEnd { server.stop() }
      rig.connection.connect(to: server.endpoint)
    },
    EndStory(
      "an end that the application's own verdict makes final (F05)",
      policy: EndPolicy(overrides: [VerdictOverride(.kind(.closedByPeer), .terminal)]),
      .closedByPeer(nil), .transient, .stops(.terminal, dials: 1)
    ) { $0.connection.connect(to: try $0.serve { _ in }) },
    EndStory(
      "a close by the application", .closedByUser, .terminal, .stops(.requested, dials: 1)
    ) { rig in
      rig.connection.connect(to: try rig.serve { $0.echo() })
      await rig.until { !$0.opened.isEmpty }
      await rig.connection.close()
    },
  ]
}

/// The echo server as a program that can be killed and started again on its port.
final class KillableServer: Sendable {
  private let loop: SocketEventLoop
  private let server = Confined<EchoServer?>(nil)
  /// How many lines it has read.
  let lines = Counter()

  init() throws { loop = try SocketEventLoop() }

  /// Listens, at the given port if it ran there before. While it was gone the system may have lent
  /// the port to somebody who dials, for a moment: then it is asked for again.
  func start(port: UInt16 = 0) async throws -> Endpoint {
    while true {
      do {
        return try await listen(port: port)
      } catch let error as ListenError where port > 0 && "\(error)".contains("addressInUse") {
        await loop.pause(.milliseconds(5))
        if Task.isCancelled { throw error }
      }
    }
  }

  private func listen(port: UInt16) async throws -> Endpoint {
    let (loop, server, lines) = (loop, server, lines)
    let bound = await loop.run { () -> Result<UInt16, ListenError> in
      let echo = EchoServer(loop: loop) { if case .message = $0 { lines.next() } }
      server.value = echo
      do throws(ListenError) { return .success(try echo.start(port: port)) } catch {
        return .failure(error)
      }
    }
    return Endpoint(host: "127.0.0.1", port: try bound.get())
  }

  /// How many connections are open.
  var connectionCount: Int {
    get async {
      let server = server
      return await loop.run { server.value?.connectionCount ?? 0 }
    }
  }

  func kill() async {
    let server = server
    await loop.run {
      server.value?.kill()
      server.value = nil
    }
  }

  func end() {
    let server = server
    loop.execute {
      server.value?.kill()
      server.value = nil
    }
    loop.stop()
  }
}
