import ConnectionFSM
import Foundation
import NetSim
import Testing

/// The capacity model whose results an independent program computed: 10,000 clients that lose a
/// server and come back, in four scenarios.
enum FleetReference {
  enum Scenario: String, CaseIterable, Sendable {
    case restart = "A_restart5s_mu500_B4096_Tc10"
    case giveUp = "B_giveup_mu500_B4096_Tc5"
    case longOutage = "C_outage60s_mu2000_B4096_Tc10"
    case smallBacklog = "D_smallbacklog128_mu500_Tc10"

    /// Those in which whoever is in line is served before it gives up. A debug build, which takes a
    /// minute for all of them, plays one.
    #if DEBUG
      static let patient = [restart]
    #else
      static let patient = [restart, longOutage, smallBacklog]
    #endif

    var server: FleetServer {
      FleetServer(
        serviceTime: self == .longOutage ? .microseconds(500) : .milliseconds(2),
        backlog: self == .smallBacklog ? 128 : 4_096,
        outage: .restart(down: .seconds(self == .longOutage ? 60 : 5)))
    }

    var connectDeadline: TimeSpan { .seconds(self == .giveUp ? 5 : 10) }
  }

  /// The policies of the model that a backoff can say.
  enum Client: String, CaseIterable, Sendable {
    case constant = "constant_1s"
    case doubling = "expo_nojitter_1_30"
    case phoenix = "phoenix_js"
    case fullJitter = "full_jitter_1_30"
    case equalJitter = "equal_jitter_1_30"
    case grpc = "grpc_1_1p6_120_j20"
    case actionCable = "actioncable"
    case nats = "nats_2s_100ms"

    static let unjittered = [constant, doubling, phoenix]
    static let jittered = allCases.filter { !unjittered.contains($0) }

    var backoff: Backoff {
      switch self {
      case .constant: .steps(.constant, .none, cap: .seconds(1))
      case .doubling: .steps(.doubling, .none, cap: .seconds(30))
      case .fullJitter: .steps(.doubling, .full, cap: .seconds(30))
      case .equalJitter: .steps(.doubling, .equal, cap: .seconds(30))
      case .phoenix: Backoff(.phoenix)
      case .grpc: Backoff(.grpc)
      case .actionCable: Backoff(.actionCable)
      case .nats: Backoff(.nats)
      }
    }

    /// gRPC dials a lost link at once, whatever its backoff.
    var start: FleetSimulation.Start { self == .grpc ? .program : .lostLink }
  }

  static func run(
    _ scenario: Scenario, _ client: Client, seed: UInt64 = 1
  ) throws -> FleetReport {
    let policy = try Policy(
      connectDeadline: scenario.connectDeadline, backoff: client.backoff, minimumDialSpacing: .zero,
      heartbeat: nil)
    return try FleetSimulation(
      clients: 10_000, policy: policy, server: scenario.server, seed: seed, start: client.start
    ).run()
  }

  /// The reference's figures of a cell, by the names of its columns.
  static func row(_ scenario: Scenario, _ client: Client) throws -> [String: Double] {
    try #require(try rows(scenario).first { $0.policy == client.rawValue }).figures
  }

  /// The reference's figures of a scenario, policy by policy.
  static func rows(
    _ scenario: Scenario
  ) throws -> [(policy: String, figures: [String: Double])] {
    let file = try #require(
      Bundle.module.url(forResource: "Fixtures/fleet-reference", withExtension: "csv"))
    let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
    let names = try #require(lines.first).split(separator: ",").map(String.init)
    return lines.filter { $0.hasPrefix("\(scenario.rawValue),") }.map { line in
      let fields = line.split(separator: ",").map(String.init)
      let figures = zip(names, fields).compactMap { name, field in
        Double(field).map { (name, $0) }
      }
      return (fields[1], Dictionary(uniqueKeysWithValues: figures))
    }
  }

  /// The measures of a report, by the names of the columns less their `_mean`.
  static func measures(_ report: FleetReport) -> [(name: String, value: Double)] {
    [
      ("att", report.attempts), ("peak100", Double(report.peak)),
      ("t50", seconds(report, 50)), ("t95", seconds(report, 95)), ("t99", seconds(report, 99)),
      ("tmax", seconds(report, 100)), ("refused", Double(report.refused)),
      ("dropped", Double(report.dropped)), ("wasted", Double(report.wasted)),
      ("served", Double(report.served)), ("conn", Double(report.connected)),
    ]
  }

  private static func seconds(_ report: FleetReport, _ percent: Int) -> Double {
    report.time(percent: percent).map { Double($0.nanoseconds) / 1e9 } ?? .infinity
  }
}

extension Backoff {
  fileprivate static func steps(_ strategy: Strategy, _ jitter: Jitter, cap: TimeSpan) -> Backoff {
    Backoff(
      strategy: strategy, first: .seconds(1), base: .seconds(1), cap: cap, jitter: jitter)
  }
}
