import ConnectionFSM

/// One thing to measure: a run of so many rounds, and how many transitions a round has.
struct BenchCase: Sendable {
  let name: String
  let transitionsPerRound: Int
  /// Runs the rounds; the result depends on every effect, so that none is optimized away.
  let run: @Sendable (_ rounds: Int) -> Int
}

/// A machine as drivers hold it: a stored property of a class, beside its effects.
private final class Bench {
  @exclusivity(unchecked) var machine: Machine
  @exclusivity(unchecked) var effects = Effects()
  @exclusivity(unchecked) var sum = 0
  let epoch: Epoch

  /// A machine whose first link is open.
  init(_ policy: Policy) {
    machine = Machine(policy: policy, seed: 1)
    epoch = Epoch(1)
    feed(.connect(EndpointID(0)), at: .origin)
    feed(.transport(epoch, .opened), at: .origin)
  }

  @inline(__always)
  func feed(_ input: Input, at now: Instant) {
    machine.handle(input, at: now, into: &effects)
    sum &+= effects.count
  }
}

extension BenchCase {
  /// The cases, the yardstick first.
  static func all() throws(PolicyError) -> [BenchCase] {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(60)),
      minimumDialSpacing: .zero,
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)))
    return [
      bareSwitch, received(policy), offerAndWritten(policy), stale(policy), early(policy),
      heartbeat(policy), retry(policy),
    ]
  }

  private static let bareSwitch = BenchCase(name: "a bare switch", transitionsPerRound: 8) {
    var machine = BareMachine()
    var sum = 0
    _ = machine.handle(.connect)
    for _ in 0..<$0 {
      for event in BareMachine.life {
        switch machine.handle(event) {
        case .none: break
        case .dial, .ping: sum &+= 1
        case .wait(let span): sum &+= Int(truncatingIfNeeded: span)
        }
      }
    }
    return sum
  }

  private static func received(_ policy: Policy) -> BenchCase {
    BenchCase(name: "bytes received on an open link", transitionsPerRound: 1) {
      let bench = Bench(policy)
      for round in 0..<$0 {
        let now = Instant(nanoseconds: Int64(round))
        bench.feed(.transport(bench.epoch, .received(byteCount: 64)), at: now)
      }
      return bench.sum
    }
  }

  private static func offerAndWritten(_ policy: Policy) -> BenchCase {
    BenchCase(name: "message offered, then written", transitionsPerRound: 2) {
      let bench = Bench(policy)
      for round in 1...$0 {
        let now = Instant(nanoseconds: Int64(round))
        let id = MessageID(lane: LaneID(0), sequence: UInt64(round))
        bench.feed(.offer(LaneID(0), byteCount: 64), at: now)
        bench.feed(.transport(bench.epoch, .written(through: id)), at: now)
      }
      return bench.sum
    }
  }

  private static func stale(_ policy: Policy) -> BenchCase {
    BenchCase(name: "answer of an older attempt", transitionsPerRound: 1) {
      let bench = Bench(policy)
      for round in 0..<$0 {
        bench.feed(.transport(Epoch(0), .opened), at: Instant(nanoseconds: Int64(round)))
      }
      return bench.sum
    }
  }

  private static func early(_ policy: Policy) -> BenchCase {
    BenchCase(name: "timer that fires early", transitionsPerRound: 1) {
      let bench = Bench(policy)
      for _ in 0..<$0 { bench.feed(.deadlineReached, at: .origin) }
      return bench.sum
    }
  }

  private static func heartbeat(_ policy: Policy) -> BenchCase {
    BenchCase(name: "ping due, then pong", transitionsPerRound: 2) {
      let bench = Bench(policy)
      for round in 1...$0 {
        guard let due = bench.machine.nextDeadline else { break }
        bench.feed(.deadlineReached, at: due)
        let number = UInt32(truncatingIfNeeded: round)
        bench.feed(.transport(bench.epoch, .pong(number)), at: due)
      }
      return bench.sum
    }
  }

  private static func retry(_ policy: Policy) -> BenchCase {
    BenchCase(name: "dial refused, then retry due", transitionsPerRound: 2) {
      let bench = Bench(policy)
      for round in 1...$0 {
        let failed = TransportEvent.failed(.system(.connectionRefused))
        bench.feed(.transport(Epoch(UInt64(round)), failed), at: .origin)
        guard let due = bench.machine.nextDeadline else { break }
        bench.feed(.deadlineReached, at: due)
      }
      return bench.sum
    }
  }
}
