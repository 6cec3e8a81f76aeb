public import ConnectionFSM

/// Faults and when they befall, counted from an instant of choice.
public struct FaultSchedule: Equatable, Sendable {
  /// One of them.
  public struct Step: Equatable, Sendable {
    /// How long after the beginning.
    public var after: TimeSpan
    /// What befalls.
    public var fault: Fault

    /// Makes a step.
    public init(after: TimeSpan, _ fault: Fault) {
      self.after = after
      self.fault = fault
    }
  }

  /// All of them; at one instant in this order.
  public var steps: [Step]

  /// Makes a schedule.
  public init(_ steps: [Step]) { self.steps = steps }
}

extension Internet {
  /// Lets all faults of a schedule befall, counted from an instant.
  public mutating func inject(_ schedule: FaultSchedule, from start: Instant) {
    for step in schedule.steps { inject(step.fault, at: start + step.after) }
  }
}

// MARK: Schedules that every client meets

extension FaultSchedule {
  /// A network that comes and goes, as a square wave: at the start of each period it goes, and it
  /// comes back for the rest of it.
  /// - Parameters:
  ///   - host: The device.
  ///   - interface: The way out that comes and goes.
  ///   - period: From one loss to the next.
  ///   - downFor: How much of a period the network is away.
  ///   - times: How many periods.
  ///   - sockets: What becomes of the sockets each time it goes.
  public static func flapping(
    _ host: HostID, interface: UInt16 = 1, period: TimeSpan, downFor: TimeSpan, times: Int,
    sockets: SocketFate = .kept
  ) -> FaultSchedule {
    var steps: [Step] = []
    var start = TimeSpan.zero
    for _ in 0..<max(0, times) {
      steps.append(Step(after: start, .leaveNetwork(host, sockets: sockets)))
      steps.append(Step(after: start + downFor, .join(host, interface: interface, sockets: .kept)))
      start = start + period
    }
    return FaultSchedule(steps)
  }

  /// A device goes from one network to another one, and has none in between.
  /// - Parameters:
  ///   - host: The device.
  ///   - interface: The one that it has then.
  ///   - gap: How long it has none.
  ///   - sockets: What becomes of the sockets of the network that is left.
  public static func handover(
    _ host: HostID, to interface: UInt16, gap: TimeSpan, sockets: SocketFate
  ) -> FaultSchedule {
    FaultSchedule([
      Step(after: .zero, .leaveNetwork(host, sockets: sockets)),
      Step(after: gap, .join(host, interface: interface, sockets: .kept)),
    ])
  }

  /// An Android device in doze. One hour after it was laid down its programs stand still, but for
  /// windows of 5 to 10 minutes, after 1, 2, 4, 6 and 6 more hours.
  public static func doze(_ host: HostID, window: TimeSpan) -> FaultSchedule {
    var steps = [Step(after: .seconds(3600), .suspend(host))]
    var end = TimeSpan.seconds(3600)
    for hours in [1, 2, 4, 6, 6] as [Int64] {
      let start = end + .seconds(hours * 3600)
      end = start + window
      steps.append(Step(after: start, .wake(host, sockets: .kept)))
      steps.append(Step(after: end, .suspend(host)))
    }
    return FaultSchedule(steps)
  }

  /// A server that is stopped and started: every connection is reset within a window, and dials are
  /// refused until it is back.
  public static func restart(
    _ server: HostID, port: UInt16, as service: Service, within window: TimeSpan,
    back: TimeSpan
  ) -> FaultSchedule {
    FaultSchedule([
      Step(after: .zero, .refuse(server, port: port)),
      Step(after: .zero, .resetAll(server, port: port, within: window)),
      Step(after: back, .serve(server, port: port, service)),
    ])
  }

  /// Servers that are emptied one after the other: each takes no new connections, says that it will
  /// go away, and lets go of whoever is left when its grace is over.
  /// - Parameters:
  ///   - servers: In the order of their turns.
  ///   - port: What they serve.
  ///   - notice: What they say on every connection.
  ///   - grace: From the notice to the end of a server.
  ///   - every: From one server's turn to the next.
  public static func rollingDrain(
    _ servers: [HostID], port: UInt16, notice: [UInt8], grace: TimeSpan, every: TimeSpan
  ) -> FaultSchedule {
    var steps: [Step] = []
    var start = TimeSpan.zero
    for server in servers {
      steps.append(Step(after: start, .refuse(server, port: port)))
      steps.append(Step(after: start, .sayAll(server, port: port, notice, within: .zero)))
      steps.append(
        Step(after: start + grace, .closeAll(server, port: port, lastWords: [], within: .zero)))
      start = start + every
    }
    return FaultSchedule(steps)
  }
}
