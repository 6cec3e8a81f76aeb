import ConnectionFSM
import NetSim

/// Runs a fleet for so many virtual seconds, for tools that count what it costs.
@main
struct FleetBench {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let count = arguments.first.flatMap({ Int($0) }),
      let seconds = arguments.last.flatMap({ Int64($0) })
    else {
      print("usage: fleet-bench CLIENTS SECONDS")
      return
    }
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
}
