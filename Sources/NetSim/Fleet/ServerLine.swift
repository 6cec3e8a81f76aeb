import ConnectionFSM

/// What a fleet's server does, and what it sees.
///
/// Since handshakes take equally long and come one after the other, the instant at which the server
/// is free says everything of its line; there is no list of who stands in it.
struct ServerLine: Sendable {
  enum Answer {
    case accepted(finish: Instant)
    case refused, shed, dropped
  }

  let server: FleetServer
  private(set) var report = FleetReport()
  /// When all handshakes taken on are done.
  private var freeAt = Instant.origin
  private let downUntil: Instant

  init(_ server: FleetServer) {
    self.server = server
    switch server.outage {
    case .restart(let down), .silence(let down): downUntil = .origin + down
    case .drain, .zoneLoss: downUntil = .origin
    }
  }

  /// A dial arrives.
  mutating func answer(at now: Instant) -> Answer {
    let bin = extend(to: now)
    report.series[bin].dials += 1
    if now < downUntil {
      if case .silence = server.outage {
        report.dropped += 1
        return .dropped
      }
      report.refused += 1
      return .refused
    }
    let waiting = line(at: now)
    if let shedding = server.shedding, waiting >= shedding.queueLimit {
      report.shed += 1
      return .shed
    }
    guard waiting < server.backlog else {
      report.dropped += 1
      return .dropped
    }
    report.served += 1
    report.series[bin].queue = max(report.series[bin].queue, UInt32(waiting + 1))
    freeAt = max(freeAt, now) + server.serviceTime
    return .accepted(finish: freeAt)
  }

  /// The report, with what the clients saw.
  mutating func close(
    at now: Instant, clients: Int, dialling: Int, _ all: [ClientBooks]
  ) -> FleetReport {
    extend(to: now)
    report.clients = clients
    report.duration = now - .origin
    for books in all {
      report.dials += books.dials
      report.wasted += books.wasted
      report.radioWakeUps += books.radioWakeUps
      report.connections += books.connections
    }
    if all.count > 1 { report.connections.sort() }
    report.connected = report.connections.count
    // In whole nanoseconds, so that the sum does not depend on who was counted first.
    let end = now.sinceOrigin
    let atDials = all.reduce(0) { $0 + $1.dialling } + Int128(dialling) * end
    let open = report.connections.reduce(0) { $0 + end - $1.sinceOrigin }
    let lost = Int128(clients) * end - all.reduce(0) { $0 + $1.lostLate }
    report.dialling = Double(atDials) / 1e9
    report.open = Double(open) / 1e9
    report.waiting = Double(lost - atDials - open) / 1e9
    countConnected()
    return report
  }

  private mutating func countConnected() {
    var connected = 0
    for bin in report.series.indices {
      let end = Instant.origin + .milliseconds(100 * Int64(bin + 1))
      while connected < report.connections.count, report.connections[connected] < end {
        connected += 1
      }
      report.series[bin].connected = UInt32(connected)
    }
  }

  /// How many stand in line. At one instant handshakes end first, and then dials arrive.
  private func line(at now: Instant) -> Int {
    guard freeAt > now else { return 0 }
    let (whole, part) = (freeAt - now).nanoseconds.quotientAndRemainder(
      dividingBy: server.serviceTime.nanoseconds)
    return Int(whole) + (part > 0 ? 1 : 0)
  }

  /// Makes the series long enough, and says where the instant is in it.
  @discardableResult
  private mutating func extend(to now: Instant) -> Int {
    let bin = Int((now - .origin).nanoseconds / 100_000_000)
    while report.series.count <= bin {
      let start = Instant.origin + .milliseconds(100 * Int64(report.series.count))
      report.series.append(FleetReport.Bin(queue: UInt32(line(at: start))))
    }
    return bin
  }
}

extension Instant {
  /// How long after the origin, in nanoseconds; sums of it do not fit 64 bits.
  fileprivate var sinceOrigin: Int128 { Int128(nanoseconds) }
}
