import ConnectionFSM
import NetSim

/// What befalls a chat client: drawn from the seed, whole families of faults on or off (swarm
/// testing), and healed at the end.
struct ChatWeather {
  enum Family: CaseIterable {
    case blocks, holds, severs, cuts, resets, closes, crashes, refusals, leaving, switching,
      sleeping
    case names, losses, chunks, lifecycle, mute
  }

  /// What the application is told or does, with the instant.
  enum Event {
    case fault(Fault)
    case lifecycle(Lifecycle)
  }

  private(set) var events: [(at: TimeSpan, event: Event)] = []
  private(set) var families: [Family] = []
  let link: LinkProfile
  let chunking: Chunking
  /// The most that a message is padded with: what is cut finely is short.
  var padding: Int {
    switch chunking {
    case .single: 10
    case .atMost(let most): most * 3
    case .whole: 600
    }
  }

  /// From here on nothing is wrong any more.
  static let healedAt = TimeSpan.seconds(120)

  init(seed: UInt64, client: HostID, server: HostID, cell: UInt16, port: UInt16) {
    var draws = RandomStream(seed: seed, name: "chat/weather")
    families = Family.allCases.filter { _ in draws.next(through: 2) == 0 }
    let isLossy = families.contains(.losses)
    let channel = Channel(
      latency: .uniform(.milliseconds(5) ... .milliseconds(60)),
      loss: isLossy ? .independent(perTenThousand: 500) : .none)
    link = LinkProfile("chat", about: "a chat's link", source: "", up: channel, down: channel)
    chunking =
      families.contains(.chunks)
      ? [.single, .atMost(7), .atMost(100)][Int(draws.next(through: 2))]
      : .whole
    for family in families {
      for _ in 0...draws.next(through: 2) {
        let at = TimeSpan.seconds(2) + draws.span(through: .seconds(110))
        let length = TimeSpan.milliseconds(100) + draws.span(through: .seconds(25))
        let pick = draws.next(through: 3)
        add(family, at, length, pick, client, server, cell, port)
      }
    }
    heal(client, server, port)
    events.sort { $0.at < $1.at }
  }

  private mutating func add(
    _ family: Family, _ at: TimeSpan, _ length: TimeSpan, _ pick: UInt64, _ client: HostID,
    _ server: HostID, _ cell: UInt16, _ port: UInt16
  ) {
    let window = TimeSpan.milliseconds(500)
    switch family {
    case .blocks, .holds:
      let ends = [(client, server), (server, client)][Int(pick & 1)]
      let mode = family == .blocks ? BlockMode.drop : .hold
      during(at, length, .block(from: ends.0, to: ends.1, mode), .unblock(from: ends.0, to: ends.1))
    case .severs: once(at, .sever(client))
    case .cuts: once(at, .cut(client))
    case .resets: once(at, .resetAll(server, port: port, within: window))
    case .closes: once(at, .closeAll(server, port: port, lastWords: [], within: window))
    case .crashes: during(at, length, .crash(server), .restart(server))
    case .refusals:
      during(at, length, .refuse(server, port: port), .serve(server, port: port, Service()))
    case .leaving:
      let fate: SocketFate = pick & 1 == 0 ? .kept : .failed(.networkDown)
      during(
        at, length, .leaveNetwork(client, sockets: fate),
        .join(client, interface: 1, sockets: .kept))
    case .switching:
      let fate: SocketFate = pick & 1 == 0 ? .kept : .failed(.connectionAborted)
      during(
        at, length, .join(client, interface: cell, sockets: fate),
        .join(client, interface: 1, sockets: fate))
    case .sleeping:
      let fate: SocketFate = pick & 1 == 0 ? .kept : .failed(.connectionAborted)
      during(
        at, length, pick & 2 == 0 ? .sleep(client) : .suspend(client), .wake(client, sockets: fate))
    case .names:
      let moved = Fault.moveName("server", to: ["192.0.2.1"], staleFor: .zero)
      let bad: [Fault] = [
        .unknownName("server"), .silentName("server"), .slowName("server", .seconds(3)), moved,
      ]
      once(at, bad[Int(pick)])
      once(at + length, .moveName("server", to: ["10.0.0.2"], staleFor: .zero))
    case .losses, .chunks: break
    case .lifecycle:
      let lifecycle: Lifecycle = pick & 1 == 0 ? .background : .suspended
      events.append((at, .lifecycle(lifecycle)))
      events.append((at + length, .lifecycle(.foreground)))
    case .mute:
      during(
        at, length, .serve(server, port: port, Service(script: [.hang])),
        .serve(server, port: port, Service()))
    }
  }

  private mutating func once(_ at: TimeSpan, _ fault: Fault) { events.append((at, .fault(fault))) }

  private mutating func during(_ at: TimeSpan, _ length: TimeSpan, _ bad: Fault, _ good: Fault) {
    once(at, bad)
    once(at + length, good)
  }

  private mutating func heal(_ client: HostID, _ server: HostID, _ port: UInt16) {
    // Whatever was to last longer ends now.
    events = events.map { (min($0.at, Self.healedAt), $0.event) }
    let good: [Fault] = [
      .unblock(from: client, to: server), .unblock(from: server, to: client), .restart(server),
      .serve(server, port: port, Service()), .moveName("server", to: ["10.0.0.2"], staleFor: .zero),
      .slowName("server", .zero), .wake(client, sockets: .kept),
      .join(client, interface: 1, sockets: .kept),
    ]
    let healed = Self.healedAt + .milliseconds(1)
    events += good.map { (healed, .fault($0)) }
    events.append((healed, .lifecycle(.foreground)))
  }
}
