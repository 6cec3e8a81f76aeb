import ConnectionFSM
import NetSim
import Testing

/// Notes when it dials.
private final class NotingDialer: ByteStreamDialer {
  private let base: SimulatedDialer
  private let journal: CrowdJournal

  init(_ base: SimulatedDialer, _ journal: CrowdJournal) {
    self.base = base
    self.journal = journal
  }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> SimulatedStream {
    journal.dials.append(base.eventLoop.now.nanoseconds)
    return base.dial(endpoint, observer: observer)
  }
}

/// What a crowd did. Touched on the simulation's thread alone.
private final class CrowdJournal: @unchecked Sendable {
  var dials: [Int64] = []
  var open = 0
  /// Attempts that the connect deadline cut, most of them in line.
  var cut = 0
  /// Comes back when all are open.
  var whenOpen: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  func note(_ record: TraceRecord) {
    for case .ended(_, .timedOut(.connect)) in record.effects { cut += 1 }
    guard record.to != record.from else { return }
    if record.to == .open { open += 1 }
    if record.from == .open { open -= 1 }
    guard let waiting = whenOpen, open == waiting.count else { return }
    whenOpen = nil
    waiting.continuation.resume()
  }

  func allOpen(_ count: Int) async {
    await withCheckedContinuation { whenOpen = (count, $0) }
  }
}

@Suite("A limit on the dials of a crowd, in virtual time")
struct CrowdLimitTests {
  // 50 a second, 250 of them at once: Coinbase's 750 in 10 s.
  private static let burst = 250
  private static let interval = TimeSpan.milliseconds(20)

  private struct Result: Equatable {
    var dials: [Int64] = []
    var cut = 0
    var lostAt: Int64 = 0
  }

  /// A crowd connects, loses its server at one instant, and comes back.
  private static func run(_ count: Int) throws -> Result {
    try VirtualTime.run(jobsPerInstant: 1_000_000) { loop in
      var world = Internet(seed: 1)
      let client = world.addHost("client", link: .constant(.milliseconds(10)))
      let host = world.addHost("server")
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedServer(
        internet, host: host, port: 1, engine: { SimulatedProtocol() }, respond: { _, _ in })
      let limiter = DialLimiter(burst: burst, interval: interval)
      let journal = CrowdJournal()
      let policy = try Policy(
        connectDeadline: .seconds(10), connectDeadlineLimit: .seconds(640),
        backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30), jitter: .full),
        minimumDialSpacing: .seconds(1), heartbeat: nil)
      let connections = try (0..<count).map { number in
        let base = StreamTransport(NotingDialer(internet.dialer(from: client), journal)) {
          SimulatedProtocol()
        }
        return try Connection(
          LimitedTransport(base, by: limiter), policy: policy, seed: UInt64(number)
        ) { journal.note($0) }
      }
      for connection in connections { connection.connect(to: Endpoint(host: "server", port: 1)) }
      await journal.allOpen(count)
      let lostAt = loop.now.nanoseconds
      internet.inject(.cut(client))
      while journal.open == count { try await loop.clock.sleep(for: .milliseconds(1)) }
      await journal.allOpen(count)
      // The last one's word that it is open is still on its way.
      try await loop.clock.sleep(for: .seconds(1))
      #expect(server.connectionCount == count)
      for connection in connections { loop.task("close") { await connection.close() } }
      try await loop.clock.sleep(for: .seconds(10))
      #expect(!limiter.isAnyoneWaiting)
      return Result(dials: journal.dials, cut: journal.cut, lostAt: lostAt)
    }
  }

  // Without optimization that many would take a minute.
  #if DEBUG
    private static let crowd = 1_000
  #else
    private static let crowd = 10_000
  #endif

  @Test(
    """
    F55: 10,000 connections (1,000 in debug) that lose their server at once never dial faster than \
    allowed
    """)
  func crowd() throws {
    let count = Self.crowd
    let result = try Self.run(count)
    #expect(
      DialWindow.isKept(
        by: result.dials, burst: Self.burst, interval: Self.interval.nanoseconds))
    // Nobody dials in vain: those who are cut in line have taken no token. A few have their turn
    // with too little time left.
    #expect(result.dials.count >= 2 * count)
    #expect(result.dials.count < 2 * count + count / 10)
    if count == 10_000 { #expect(result.cut > count) }
    // As fast as is allowed, almost: (10,000 - 250) · 20 ms = 195 s.
    let last = result.dials[result.dials.count - 1]
    #expect(last - result.lostAt < TimeSpan.seconds(400).nanoseconds)
  }

  @Test("F55, F59: the same crowd dials at the same instants on every run")
  func deterministic() throws {
    #expect(try Self.run(500) == Self.run(500))
  }
}

/// The promise of a limiter about instants of dials, in order.
private enum DialWindow {
  /// Whether from any dial to any later one there are at most burst + (time between) / interval.
  static func isKept(by dials: [Int64], burst: Int, interval: Int64) -> Bool {
    // From dial i to dial j there are j - i + 1: the promise is that j · interval - t(j) rises by
    // at most (burst - 1) · interval above the least before it.
    var least = Int64.max
    for (number, dial) in dials.enumerated() {
      let lead = Int64(number) * interval - dial
      least = min(least, lead)
      if lead - least > Int64(burst - 1) * interval { return false }
    }
    return true
  }
}
