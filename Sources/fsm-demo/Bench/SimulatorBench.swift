import ConnectionFSM
import Foundation
import NetSim

/// Measures the simulator: its queue alone, small fleets, and a large one beside a bare loop.
struct SimulatorBench {
  /// How many clients the reconnect workload has.
  let clients: Int

  private static let hour = 3600
  private let policy: Policy

  init(clients: Int) throws(PolicyError) {
    self.clients = clients
    policy = try Policy(
      backoff: Backoff(
        strategy: .doubling, first: .seconds(1), base: .seconds(1), cap: .seconds(60),
        jitter: .full, stability: .zero),
      minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)))
  }

  func run() throws {
    let bytes = try bytesAClient()
    reportQueue()
    try reportSmallFleets(bytesAClient: bytes)
    try reportWorkload()
  }

  // MARK: The queue

  private func reportQueue() {
    Console.print("\n" + Self.aligned("event queue alone", "million events a second"))
    for pending in [2, 100, 10_000, 100_000] {
      let rate = Stopwatch.median(of: 5) { Self.queueRate(pending: pending) }
      let name = "\(Self.grouped(pending)) events to come"
      Console.print(Self.aligned(name, String(format: "%.1f", rate / 1e6)))
    }
  }

  /// Events a second, taken and scheduled again.
  private static func queueRate(pending: Int) -> Double {
    var trial = QueueTrial(pending: pending, seed: 1)
    let rounds = 2_000_000
    return Double(rounds) / Stopwatch.seconds { trial.run(rounds: rounds) }
  }

  // MARK: Small fleets

  private func reportSmallFleets(bytesAClient: Int?) throws {
    let rate = try Stopwatch.median(of: 5) {
      var fleet = try workload(100)
      let seconds = try Stopwatch.seconds { try fleet.run(through: Self.instant(20 * Self.hour)) }
      return Double(fleet.counts.events) / seconds
    }
    let year = try Stopwatch.median(of: 3) {
      let quiet = FleetConditions(
        startsWithin: .zero, latency: LatencyRange(.milliseconds(20), .milliseconds(80)),
        refusalsPerMillion: 0, meanLifetime: nil)
      var fleet = try Fleet(count: 1, policy: policy, conditions: quiet, seed: 1)
      return try Stopwatch.seconds { try fleet.run(through: Self.instant(365 * 24 * Self.hour)) }
    }
    Console.print("\nfleet of machines")
    let lines = [
      ("100 clients, as many events to come", String(format: "%.1f million events/s", rate / 1e6)),
      ("one client's year of heartbeats, every 25 s", String(format: "%.2f s", year)),
      ("memory a client", bytesAClient.map { "\($0) bytes" } ?? "not told here"),
    ]
    for (name, figure) in lines { Console.print(Self.aligned(name, figure)) }
  }

  /// By how much the process grows with 100,000 clients that have lived a while.
  private func bytesAClient() throws -> Int? {
    let count = 100_000
    guard let before = ResidentMemory.bytes else { return nil }
    var fleet = try workload(count)
    try fleet.run(through: Self.instant(60))
    guard let after = ResidentMemory.bytes else { return nil }
    // Held until here.
    return withExtendedLifetime(fleet) { (after - before) / count }
  }

  // MARK: The workload

  /// Ten virtual minutes of the one, then of the other, so that a slow moment of the computer falls
  /// on both.
  private func reportWorkload() throws {
    var bare = BareLoop(count: clients, seed: 1)
    var fleet = try workload(clients)
    var (bareSeconds, fleetSeconds) = (0.0, 0.0)
    for end in stride(from: 600, through: Self.hour, by: 600) {
      Console.progress("reconnect workload: \(end / 60 - 10) of 60 virtual minutes")
      bareSeconds += Stopwatch.seconds { bare.run(seconds: Double(end)) }
      fleetSeconds += try Stopwatch.seconds { try fleet.run(through: Self.instant(end)) }
    }
    Console.progress("")
    let title = "\(Self.grouped(clients)) clients reconnect for an hour"
    Console.print("\n" + title.padded(to: 44) + "events          s     M/s    × bare")
    Self.report("bare loop without machines", bare.events, bareSeconds, against: bareSeconds)
    Self.report("fleet of machines", fleet.counts.events, fleetSeconds, against: bareSeconds)
    Console.print(
      """

      Processor time of one thread. Medians of several runs; the two loops ran in turn, ten
      virtual minutes each.
      """)
  }

  private func workload(_ count: Int) throws(FleetError) -> Fleet {
    try Fleet(
      count: count, policy: policy,
      conditions: FleetConditions(
        startsWithin: .seconds(1), latency: LatencyRange(.milliseconds(20), .milliseconds(80)),
        refusalsPerMillion: 200_000, meanLifetime: .seconds(300)),
      seed: 1)
  }

  private static func instant(_ seconds: Int) -> Instant { .origin + .seconds(Int64(seconds)) }

  // MARK: Words

  private static func aligned(_ name: String, _ figure: String) -> String {
    name.padded(to: 44) + String(repeating: " ", count: max(0, 24 - figure.count)) + figure
  }

  private static func report(
    _ name: String, _ events: Int, _ seconds: Double, against bare: Double
  ) {
    let rate = Double(events) / seconds / 1e6
    let count = grouped(events)
    let space = String(repeating: " ", count: max(0, 50 - 36 - count.count))
    Console.print(
      name.padded(to: 36) + space + count
        + String(format: "%11.3f %7.1f   %7.2f", seconds, rate, seconds / bare))
  }

  /// 12345678 as 12,345,678.
  private static func grouped(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
      if place > 0, place % 3 == 0 { text = "," + text }
      text = String(digit) + text
    }
    return text
  }
}
