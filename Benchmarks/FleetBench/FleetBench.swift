import ConnectionFSM
import NetSim

/// Runs a fleet, for tools that count what it costs: so many virtual seconds of one that lives, or
/// the way back of one that lost its server.
@main
struct FleetBench {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2, let count = arguments.first.flatMap({ Int($0) }) else {
      return explain()
    }
    let word = arguments[arguments.startIndex + 1]
    if word == "recover" {
      return try recover(count, shards: arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1)
    }
    guard arguments.count == 2, let seconds = Int64(word) else { return explain() }
    try live(count, seconds: seconds)
  }

  private static func explain() { print("usage: fleet-bench CLIENTS SECONDS|recover [SHARDS]") }

  private static func live(_ count: Int, seconds: Int64) throws {
    let policy = try Policy(
      backoff: Backoff(
        first: .seconds(1), base: .seconds(1), cap: .seconds(60), jitter: .full, stability: .zero),
      minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)))
    let conditions = FleetConditions(
      startsWithin: .seconds(1), latency: LatencyRange(.milliseconds(20), .milliseconds(80)),
      refusalsPerMillion: 200_000, meanLifetime: .seconds(300))
    var fleet = try Fleet(count: count, policy: policy, conditions: conditions, seed: 1)
    try fleet.run(through: .origin + .seconds(seconds))
    print("\(fleet.counts.events) events")
  }

  /// A restart of 5 s of a server that shakes 50,000 hands a second, with a line of 8 s.
  private static func recover(_ count: Int, shards: Int) throws {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30), jitter: .full),
      minimumDialSpacing: .zero, heartbeat: nil)
    let server = FleetServer(
      serviceTime: .microseconds(20), backlog: 409_600, outage: .restart(down: .seconds(5)))
    let report = try FleetSimulation(clients: count, policy: policy, server: server, shards: shards)
      .run()
    print(
      """
      \(report.connected) of \(report.clients) connected, \(report.dials) dials, \
      \(MemoryLayout<Machine>.stride) bytes a machine
      """)
  }
}
