import ConnectionFSM
import NetSim

/// The reconnect workload that simulators are compared by, and what it comes to.
enum Workload {
  static let latency = LatencyRange(.milliseconds(20), .milliseconds(80))

  static func policy(attemptLimit: UInt32? = nil) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(10),
      backoff: Backoff(
        strategy: .doubling, first: .seconds(1), base: .seconds(1), cap: .seconds(60),
        jitter: .full, stability: .zero, attemptLimit: attemptLimit),
      minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)))
  }

  static func conditions(refusalsPerMillion: UInt32 = 200_000) -> FleetConditions {
    FleetConditions(
      startsWithin: .seconds(1), latency: latency, refusalsPerMillion: refusalsPerMillion,
      meanLifetime: .seconds(300))
  }

  static func fleet(
    _ count: Int, seed: UInt64, checks: Fleet.Checks = .books
  ) throws -> Fleet {
    try Fleet(
      count: count, policy: policy(), conditions: conditions(), seed: seed, checks: checks)
  }
}

extension Fleet {
  /// The events up to an instant.
  mutating func events(through end: Instant) throws -> [FleetEvent] {
    var events: [FleetEvent] = []
    while let event = try step(), event.instant <= end { events.append(event) }
    return events
  }
}

extension [FleetEvent] {
  var digest: UInt64 {
    var digest = Digest()
    for event in self {
      digest.add(event.instant.nanoseconds)
      digest.add(UInt64(event.client) << 8 | UInt64(event.kind.rawValue))
    }
    return digest.value
  }
}

/// A client of the workload written out by hand, without machine, driver or queue: it waits for one
/// thing at a time. It draws from the same streams as the client of that number in a fleet.
struct NaiveClient {
  private let number: UInt32
  private var network: RandomStream
  private var waits: SplitMix64
  private var failures: UInt64 = 0
  private(set) var events: [FleetEvent] = []

  init(number: UInt32, seed: UInt64) {
    self.number = number
    network = RandomStream(seed: seed, name: "fleet.client", number: number)
    var dice = RandomStream(seed: seed, name: "fleet.machine", number: number)
    waits = SplitMix64(seed: dice.next(through: .max))
  }

  /// Lives up to an instant, and perhaps a little beyond.
  mutating func live(through end: Instant) {
    var now = Instant.origin + network.span(through: .seconds(1))
    log(.started, now)
    while now <= end {
      if let opened = dial(at: now) {
        now = stayOpen(from: opened)
      } else {
        now = events.last?.instant ?? now
      }
      failures += 1
      let step = UInt64(min(60, 1 << min(failures - 1, 10))) * 1_000_000_000
      now = now + .nanoseconds(Int64(waits.next(through: step)))
      log(.deadlineReached, now)
    }
    events.removeAll { $0.instant > end }
  }

  private mutating func log(_ kind: FleetEvent.Kind, _ instant: Instant) {
    events.append(FleetEvent(instant: instant, client: number, kind: kind))
  }

  private mutating func latency() -> TimeSpan {
    .nanoseconds(20_000_000 + network.span(through: .milliseconds(60)).nanoseconds)
  }

  private mutating func dial(at now: Instant) -> Instant? {
    let arrival = now + latency()
    log(.dialArrived, arrival)
    let isRefused = network.next(through: 999_999) < 200_000
    let answer = arrival + latency()
    log(isRefused ? .refused : .opened, answer)
    return isRefused ? nil : answer
  }

  private mutating func stayOpen(from opened: Instant) -> Instant {
    failures = 0
    let end = opened + network.exponential(mean: .seconds(300))
    var now = opened
    let beat: [FleetEvent.Kind] = [.deadlineReached, .pingArrived, .pongArrived]
    for place in 0... {
      let kind = beat[place % 3]
      now = now + (kind == .deadlineReached ? .seconds(25) : latency())
      if now >= end { break }
      log(kind, now)
    }
    log(.dropped, end)
    return end
  }
}
