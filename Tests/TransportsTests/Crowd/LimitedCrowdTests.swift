import ConnectionFSM
import Testing
import Transports

/// Dials, and notes when. Lives on its loop.
private final class NotingDialer: ByteStreamDialer {
  private let base: TCPDialer
  private let dials: Confined<[Instant]>

  init(_ loop: SocketEventLoop, _ dials: Confined<[Instant]>) {
    base = TCPDialer(loop: loop)
    self.dials = dials
  }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TCPStream {
    dials.value.append(eventLoop.now)
    return base.dial(endpoint, observer: observer)
  }
}

/// Connections that share a loop and a limiter. What is noted lives on their loop.
private final class LimitedCrowd: @unchecked Sendable {
  let loop: SocketEventLoop
  private(set) var connections: [Connection] = []
  let dials = Confined<[Instant]>([])
  let open = Confined(0)

  init(_ count: Int, on loop: SocketEventLoop, _ limiter: DialLimiter) throws {
    self.loop = loop
    let framing = try DelimiterFraming(delimiter: .lf)
    let policy = try Policy(
      connectDeadline: .seconds(60), closeDeadline: .seconds(10),
      backoff: Backoff(
        first: .milliseconds(50), base: .milliseconds(50), cap: .milliseconds(500), jitter: .full,
        stability: .seconds(10)),
      minimumDialSpacing: .milliseconds(1), heartbeat: nil,
      lanes: [Lane(.atMostOnce, timeToLive: nil)])
    let open = open
    connections = try (0..<count).map { number in
      try Connection(
        LimitedTransport(StreamTransport(NotingDialer(loop, dials)) { framing }, by: limiter),
        policy: policy, seed: UInt64(number)
      ) { record in
        guard record.to != record.from else { return }
        if record.to == .open { open.value += 1 }
        if record.from == .open { open.value -= 1 }
      }
    }
  }

  func close() async {
    await withTaskGroup(of: Void.self) { group in
      for connection in connections { group.addTask { await connection.close() } }
    }
  }
}

extension RealSockets {
  @Suite("A crowd of clients with one limit on dials")
  struct LimitedCrowdTests {
    /// Two descriptors a client, both ends being in this process, and some to spare.
    private static let count = min(2000, (DescriptorLimit.raise() - 200) / 2)
    private static let burst = 100
    private static let interval = TimeSpan.milliseconds(1)

    @Test("F55: 2,000 clients lose their server at once and come back, never faster than allowed")
    func crowd() async throws {
      let (sockets, timers) = (ProcessCounts.sockets, ProcessCounts.timers)
      let count = Self.count
      #expect(count > 100, "there are too few descriptors to speak of a crowd")
      let loop = try SocketEventLoop.shared()
      let serverLoop = try SocketEventLoop()
      let limiter = DialLimiter(burst: Self.burst, interval: Self.interval)
      let crowd = try LimitedCrowd(count, on: loop, limiter)
      let server = Confined<EchoServer?>(nil)
      let port = try await Self.start(server, on: serverLoop, port: 0)
      for connection in crowd.connections {
        connection.connect(to: Endpoint(host: "127.0.0.1", port: port))
      }
      await loop.until { crowd.open.value == count }
      await serverLoop.run {
        server.value?.kill()
        server.value = nil
      }
      await loop.until { crowd.open.value == 0 }
      _ = try await Self.start(server, on: serverLoop, port: port)
      await loop.until { crowd.open.value == count }

      let dials = await loop.run { crowd.dials.value }
      #expect(dials.count >= 2 * count)
      // A thread that is held up between a turn and its note brings two notes closer together: a
      // quarter of a second is forgiven. Without a limit the whole crowd would be ahead.
      #expect(Self.mostAhead(dials) <= Self.burst + 250)
      #expect(!limiter.isAnyoneWaiting)
      await crowd.close()
      await serverLoop.run {
        server.value?.kill()
        server.value = nil
      }
      serverLoop.stop()
      // The shared loop stays, with its timer.
      await loop.until { ProcessCounts.sockets == sockets }
      #expect(ProcessCounts.timers <= timers + 3)
    }

    /// By how many dials those of some window exceed window / interval, at most.
    private static func mostAhead(_ dials: [Instant]) -> Int {
      var least = Int64.max
      var most: Int64 = 0
      for (number, dial) in dials.enumerated() {
        let lead = Int64(number) * interval.nanoseconds - dial.nanoseconds
        least = min(least, lead)
        most = max(most, lead - least)
      }
      // From the first dial of a window to its last, both counted.
      return Int(most / interval.nanoseconds) + 1
    }

    private static func start(
      _ server: Confined<EchoServer?>, on loop: SocketEventLoop, port: UInt16
    ) async throws -> UInt16 {
      let bound = await loop.run { () -> Result<UInt16, ListenError> in
        let echo = EchoServer(loop: loop)
        server.value = echo
        do throws(ListenError) { return .success(try echo.start(port: port)) } catch {
          return .failure(error)
        }
      }
      return try bound.get()
    }
  }
}
