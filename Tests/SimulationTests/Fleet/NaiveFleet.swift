import ConnectionFSM
import NetSim

/// The capacity model for clients without jitter, who stay in step: a plain loop over whole
/// microseconds, without a machine.
struct NaiveFleet {
  private(set) var dials = 0
  private(set) var refused = 0
  private(set) var dropped = 0
  private(set) var wasted = 0
  private(set) var served = 0
  /// When each client was connected again, rising.
  private(set) var connections: [Int] = []
  /// At how many instants some client dialled a server that was up.
  private(set) var rounds = 0

  private let server: FleetServer
  private let giveUp: Int
  private let wait: (_ dialsBefore: Int) -> Int
  /// When each in line is done.
  private var line: [Int] = []

  private static let oneWay = 25_000

  init(clients: Int, server: FleetServer, connectDeadline: TimeSpan, backoff: Backoff) {
    self.server = server
    giveUp = Self.microseconds(connectDeadline)
    wait = { Self.microseconds(backoff.step(afterFailures: UInt32($0))) }
    // Who dials at an instant, by how often each has dialled before.
    var due = [wait(0): Array(repeating: 0, count: clients)]
    while let instant = due.keys.min(), let dialling = due.removeValue(forKey: instant) {
      let arrival = instant + Self.oneWay
      let isUp = arrival >= downUntil
      if isUp { rounds += 1 }
      line.removeAll { $0 <= arrival }
      for before in dialling {
        guard let failure = dial(at: instant, isUp: isUp) else { continue }
        due[failure + wait(before + 1), default: []].append(before + 1)
      }
    }
    connections.sort()
  }

  /// - Returns: When the client knows that it failed; nil if it is connected.
  private mutating func dial(at instant: Int, isUp: Bool) -> Int? {
    dials += 1
    let arrival = instant + Self.oneWay
    guard isUp else {
      refused += 1
      return arrival + Self.oneWay
    }
    guard line.count < server.backlog else {
      dropped += 1
      return instant + giveUp
    }
    served += 1
    let done = (line.last ?? arrival) + Self.microseconds(server.serviceTime)
    line.append(done)
    guard done + Self.oneWay <= instant + giveUp else {
      wasted += 1
      return instant + giveUp
    }
    connections.append(done + Self.oneWay)
    return nil
  }

  private var downUntil: Int {
    if case .restart(let down) = server.outage { Self.microseconds(down) } else { 0 }
  }

  private static func microseconds(_ span: TimeSpan) -> Int { Int(span.nanoseconds / 1000) }
}
