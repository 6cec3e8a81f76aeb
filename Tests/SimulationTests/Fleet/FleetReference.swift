import ConnectionFSM
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
      static let played = [restart]
    #else
      static let patient = [restart, longOutage, smallBacklog]
      static let played = allCases
    #endif

    var server: FleetServer {
      FleetServer(
        serviceTime: self == .longOutage ? .microseconds(500) : .milliseconds(2),
        backlog: self == .smallBacklog ? 128 : 4_096,
        outage: .restart(down: .seconds(self == .longOutage ? 60 : 5)))
    }

    var connectDeadline: TimeSpan { .seconds(self == .giveUp ? 5 : 10) }
  }

  /// The policies of the model.
  enum Client: String, CaseIterable, Sendable {
    case constant = "constant_1s"
    case doubling = "expo_nojitter_1_30"
    case phoenix = "phoenix_js"
    case fullJitter = "full_jitter_1_30"
    case equalJitter = "equal_jitter_1_30"
    case grpc = "grpc_1_1p6_120_j20"
    case actionCable = "actioncable"
    case nats = "nats_2s_100ms"
    case decorrelated = "decorrelated_1_30"
    case socketIO = "socketio"
    case centrifuge = "centrifuge_swift_0p5_20"

    static let unjittered = [constant, doubling, phoenix]
    #if DEBUG
      static let jittered = [fullJitter, decorrelated]
    #else
      static let jittered = allCases.filter { !unjittered.contains($0) }
    #endif

    /// The backoff of a client, by its number.
    ///
    /// Three of the model's policies cap what was drawn, which a backoff never does: it bounds the
    /// range. Their waits are drawn here and stand in the client's table. It ends after sixteen, as
    /// few clients do; from there on a client waits the last again, which is as likely as another.
    func backoff(of client: UInt32, seed: UInt64) -> Backoff {
      guard Self.cappedAfterDraw.contains(self) else { return backoff }
      var random = RandomStream(seed: seed, name: rawValue, number: client)
      var last = 1.0
      let waits = (0..<Backoff.Table.capacity).map { before in
        last = wait(before, last: last, share: Double(random.next(through: .max)) * 0x1p-64)
        return TimeSpan.nanoseconds(Int64(last * 1e9))
      }
      return Backoff(strategy: .table(Backoff.Table(waits)), cap: .seconds(30), jitter: .none)
    }

    private static let cappedAfterDraw = [decorrelated, socketIO, centrifuge]

    /// A wait in seconds, by a draw from 0 to 1.
    private func wait(_ before: Int, last: Double, share: Double) -> Double {
      let step = Double(1 << before)
      switch self {
      case .decorrelated: return min(30, 1 + share * (3 * last - 1))
      case .centrifuge: return min(20, 0.5 + share * min(20, 0.5 * step))
      default:
        // backo2 takes the sign from a digit of the same draw, so that no wait is below 55 percent
        // of its step.
        let deviation = (share * 500 * step).rounded(.down) / 1000
        let isAbove = Int(share * 10) % 2 == 1
        return min(5, isAbove ? step + deviation : step - deviation)
      }
    }

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
      case .decorrelated: .steps(.doubling, .decorrelated, cap: .seconds(30))
      case .socketIO: Backoff(.socketIO)
      case .centrifuge: Backoff(.centrifuge)
      }
    }

    /// gRPC dials a lost link at once, whatever its backoff.
    var start: FleetSimulation.Start { self == .grpc ? .program : .lostLink }
  }

  #if DEBUG
    static let seeds: ClosedRange<UInt64> = 1...4
  #else
    static let seeds: ClosedRange<UInt64> = 1...10
  #endif

  static func run(
    _ scenario: Scenario, _ client: Client, seed: UInt64 = 1
  ) throws -> FleetReport {
    // Those that draw their own waits are one policy.
    let count: UInt32 = client.backoff(of: 0, seed: seed) == client.backoff ? 1 : 10_000
    let policies = try (0..<count).map { number in
      try Policy(
        connectDeadline: scenario.connectDeadline, backoff: client.backoff(of: number, seed: seed),
        minimumDialSpacing: .zero, heartbeat: nil)
    }
    return try FleetSimulation(
      clients: 10_000, server: scenario.server, seed: seed, start: client.start
    ) { policies[Int($0 % count)] }.run()
  }

  /// The reference's figures of a cell, by the names of its columns.
  static func row(_ scenario: Scenario, _ client: Client) throws -> [String: Double] {
    try ReferenceTable("fleet-reference").row(scenario.rawValue, client.rawValue)
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
