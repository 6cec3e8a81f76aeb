import ConnectionFSM
import Synchronization

let home = Endpoint(host: "home", port: 1)
let away = Endpoint(host: "away", port: 2)

func plainPolicy(
  heartbeat: Heartbeat? = nil, sessionDeadline: TimeSpan? = nil, countLimit: UInt32 = 10
) throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(5),
    backoff: Backoff(
      first: .seconds(2), base: .seconds(2), cap: .seconds(8), jitter: .none,
      stability: .seconds(10)),
    minimumDialSpacing: .seconds(1), heartbeat: heartbeat,
    path: PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .zero),
    sessionDeadline: sessionDeadline,
    lanes: [
      Lane(.atMostOnce, timeToLive: .seconds(20), countLimit: countLimit),
      Lane(.atLeastOnce, timeToLive: nil, countLimit: countLimit),
    ])
}

/// What a test heard, in order, from whatever thread.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

func word(_ result: Result<Outcome, Rejection>) -> String {
  switch result {
  case .success(let outcome): "\(outcome)"
  case .failure(let rejection): "\(rejection)"
  }
}

struct ConnectionRig {
  let loop = ManualLoop()
  let transport: ScriptedTransport
  let connection: Connection
  let log = Log()

  init(
    policy: Policy, home: Endpoint? = nil, outbox: (any Outbox, lane: LaneID)? = nil,
    monitors: [any ConnectionMonitor] = []
  ) throws {
    let transport = ScriptedTransport(loop, home: home)
    self.transport = transport
    connection = try Connection(
      transport, policy: policy, seed: 1, outbox: outbox, monitors: monitors)
  }

  func post(_ text: String, in lane: UInt8 = 0) {
    connection.post(Message(text), in: LaneID(lane)) { [log] in log.add("\(text) \(word($0))") }
    loop.settle()
  }

  func connect(to endpoint: Endpoint = home) {
    connection.connect(to: endpoint)
    loop.settle()
  }

  func open() {
    connect()
    transport.report(.opened, on: 1)
  }
}
