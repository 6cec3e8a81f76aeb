import ConnectionFSM

/// What a fleet's server does, and the report on it while it grows.
///
/// Since handshakes take equally long and come one after the other, the instant at which the server
/// is free says everything of its line; there is no list of who stands in it.
struct ServerBooks: Sendable {
  enum Answer {
    case accepted(finish: Instant)
    case refused, shed, dropped
  }

  let server: FleetServer
  let start: FleetSimulation.Start
  private(set) var report = FleetReport()
  /// When each client last had network activity; before the origin until there was any.
  private var activeAt: [Instant]
  /// When all handshakes taken on are done.
  private var freeAt = Instant.origin
  private let downUntil: Instant
  /// Client-seconds before the losses that a drain spread out.
  private var lostLate = 0.0

  init(_ server: FleetServer, clients: Int, start: FleetSimulation.Start) {
    self.server = server
    self.start = start
    activeAt = Array(repeating: Instant(nanoseconds: .min), count: clients)
    report.clients = clients
    report.connections.reserveCapacity(clients)
    switch server.outage {
    case .restart(let down), .silence(let down): downUntil = .origin + down
    case .drain, .zoneLoss: downUntil = .origin
    }
  }

  var isOver: Bool { report.connected == report.clients }

  /// A client loses its link.
  mutating func lose(at now: Instant) { lostLate += now.secondsSinceOrigin }

  /// A client dials.
  mutating func dial(_ client: Int, at now: Instant) {
    report.dials += 1
    // Its end less its begin, each when it comes: nothing is kept of a client for it.
    report.dialling -= now.secondsSinceOrigin
    stir(client, at: now)
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

  /// A dial ends: an answer arrives, or the client gives up.
  mutating func end(_ client: Int, at now: Instant, isWasted: Bool, isAnswer: Bool) {
    report.dialling += now.secondsSinceOrigin
    if isWasted { report.wasted += 1 }
    if isAnswer { stir(client, at: now) }
  }

  /// A client is connected.
  mutating func open(_ client: Int, at now: Instant) {
    end(client, at: now, isWasted: false, isAnswer: true)
    report.connected += 1
    report.connections.append(now)
    report.series[extend(to: now)].connected = UInt32(report.connected)
  }

  /// The report, with what is only known at the end.
  mutating func close(at now: Instant, dialling: Int) -> FleetReport {
    extend(to: now)
    report.dialling += Double(dialling) * now.secondsSinceOrigin
    report.duration = now - .origin
    for instant in report.connections {
      report.open += now.secondsSinceOrigin - instant.secondsSinceOrigin
    }
    let all = Double(report.clients) * now.secondsSinceOrigin - lostLate
    report.waiting = all - report.dialling - report.open
    return report
  }
}

extension ServerBooks {
  /// How many stand in line. At one instant handshakes end first, and then dials arrive.
  private func line(at now: Instant) -> Int {
    guard freeAt > now else { return 0 }
    let (whole, part) = (freeAt - now).nanoseconds.quotientAndRemainder(
      dividingBy: server.serviceTime.nanoseconds)
    return Int(whole) + (part > 0 ? 1 : 0)
  }

  /// Notes network activity of a client.
  private mutating func stir(_ client: Int, at now: Instant) {
    let last = activeAt[client]
    if last < .origin || now - last > .seconds(10) { report.radioWakeUps += 1 }
    activeAt[client] = now
  }

  /// Makes the series long enough, and says where the instant is in it.
  @discardableResult
  private mutating func extend(to now: Instant) -> Int {
    let bin = Int((now - .origin).nanoseconds / 100_000_000)
    while report.series.count <= bin {
      let start = Instant.origin + .milliseconds(100 * Int64(report.series.count))
      report.series.append(
        FleetReport.Bin(
          connected: UInt32(report.connected), queue: UInt32(line(at: start))))
    }
    return bin
  }
}

extension Instant {
  /// How long after the origin, in seconds.
  fileprivate var secondsSinceOrigin: Double { Double(nanoseconds) / 1e9 }
}
