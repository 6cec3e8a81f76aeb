import ConnectionFSM
import Synchronization
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Waits of milliseconds without jitter, so that a trace shows which step of the backoff was taken.
struct EndPolicy: Sendable {
  static let steps: [TimeSpan] = [4, 8, 16, 32].map { .milliseconds($0) }

  var connectDeadline = TimeSpan.seconds(20)
  var attemptLimit: UInt32?
  var heartbeat: Heartbeat?
  var beat: Beat?
  var onLoss = PathPolicy.Loss.probe
  var suspectTimeout = TimeSpan.milliseconds(50)
  var overrides: [VerdictOverride] = []
  var steps = Self.steps

  func policy() throws -> Policy {
    try Policy(
      connectDeadline: connectDeadline, closeDeadline: .seconds(20), drainDeadline: .seconds(20),
      backoff: Backoff(
        strategy: .table(Backoff.Table(steps)), cap: .seconds(60), jitter: .none,
        stability: .seconds(60), attemptLimit: attemptLimit),
      minimumDialSpacing: .zero, heartbeat: heartbeat, beat: beat,
      path: PathPolicy(
        onLoss: onLoss, onSwitch: .probe, suspectTimeout: suspectTimeout,
        probeInterval: .seconds(60), returnJitter: .zero, debounce: .zero),
      lanes: [Lane(.atMostOnce, timeToLive: nil, countLimit: 1000, byteLimit: 64 << 20)],
      overrides: overrides)
  }
}

/// A connection over a real socket, the trace of it, a source of paths that it follows, and what is
/// to be cleared away in the end.
final class EndRig: Sendable {
  let loop: SocketEventLoop
  let connection: Connection
  let trace = RecordedTrace()
  let path = ManualPathSource()
  private let cleanups = Mutex<[@Sendable () -> Void]>([])

  init(_ policy: EndPolicy, beat: BeatMessage? = nil) throws {
    loop = try SocketEventLoop()
    // RFC 6761, section 6.4: no name ends in this. What the system's resolver says of one is tested
    // with the dialer.
    let resolver = Resolver(threads: 1) { host, port, family in
      host.hasSuffix(".invalid")
        ? .failed(Cause(resolverCode: EAI_NONAME, errno: 0))
        : Resolution(host: host, port: port, numeric: false, family: family)
    }
    let framing = try DelimiterFraming(
      delimiter: .lf, maximumLength: 65_536, acknowledgement: .echo, pingLine: Array("ping".utf8))
    let trace = trace
    connection = try Connection(
      StreamTransport(TCPDialer(loop: loop, resolver: resolver)) { framing },
      policy: policy.policy(), seed: 1, beat: beat
    ) { trace.append($0) }
    path.start { [weak connection] in connection?.pathChanged(to: $0) }
  }

  /// A server of this round alone, which does this with the first connection and sends back what
  /// arrives on the others.
  func serve(_ first: @escaping @Sendable (Peer) -> Void) throws -> Endpoint {
    let served = Counter()
    let server = try TestServer { peer in
      if served.next() == 1 { first(peer) } else { peer.echo() }
    }
    atEnd { server.stop() }
    return server.endpoint
  }

  func atEnd(_ cleanup: @escaping @Sendable () -> Void) {
    cleanups.withLock { $0.append(cleanup) }
  }

  func post(_ text: String) { connection.post(Message(text)) }

  /// Comes back once the trace holds such a step.
  func until(_ condition: @escaping @Sendable (RecordedTrace) -> Bool) async {
    let trace = trace
    await loop.until { condition(trace) }
  }

  /// Closes, and clears everything away.
  func close() async {
    await connection.close()
    path.stop()
    loop.stop()
    for cleanup in cleanups.withLock({ $0 }).reversed() { cleanup() }
  }
}

/// Counts from 1.
final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  @discardableResult
  func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// The steps of a machine, readable from any thread.
final class RecordedTrace: Sendable {
  /// The end of an attempt or a link, and the step that told of it.
  struct End: Sendable {
    let epoch: Epoch
    let cause: Cause
    let step: TraceRecord
  }

  private let steps = Mutex<[TraceRecord]>([])

  func append(_ step: TraceRecord) { steps.withLock { $0.append(step) } }

  var all: [TraceRecord] { steps.withLock { $0 } }
  var last: TraceRecord? { all.last }

  /// When each dial was made.
  var dials: [Instant] {
    all.flatMap { step in
      step.effects.compactMap { if case .openTransport = $0 { step.instant } else { nil } }
    }
  }

  var ends: [End] {
    all.flatMap { step in
      step.effects.compactMap { effect in
        if case .ended(let epoch, let cause) = effect {
          End(epoch: epoch, cause: cause, step: step)
        } else {
          nil
        }
      }
    }
  }

  /// The links that have opened.
  var opened: [Epoch] {
    all.flatMap(\.moments).compactMap { if case .opened(let epoch) = $0 { epoch } else { nil } }
  }

  /// How it came to rest last.
  var closed: Machine.Closed? {
    all.compactMap { if case .closed(let closed) = $0.entered { closed } else { nil } }.last
  }

  /// When each beat was sent, by link.
  var beats: [(epoch: Epoch, at: Instant)] {
    all.flatMap { step in
      step.effects.compactMap { effect in
        if case .sendBeat(let epoch, _) = effect { (epoch, step.instant) } else { nil }
      }
    }
  }
}
