import ConnectionFSM
import NetSim

/// Plays a story in virtual time.
final class SimulatedWorld: StoryWorld, @unchecked Sendable {
  private let story: ByteStory
  private let internet: SimulatedInternet
  private let client: HostID
  private let host: HostID
  private let loop: SimulatedEventLoop
  private let server: StoryServer<SimulatedStream>?
  let dialer: SimulatedDialer
  /// By then a script's wait is over.
  private var scriptGoesOnAt = Instant.origin

  private static let port: UInt16 = 4000
  private static let latency = TimeSpan.milliseconds(1)
  /// By then all that is under way has come about: a hundred round trips.
  private static let settling = TimeSpan.milliseconds(200)
  /// A script waits for the client no longer than this, and the client takes less.
  private static let scriptWait = TimeSpan.seconds(3)

  /// - Parameter byScript: The server is a script of the internet's; what it sees is not told then.
  static func play(_ story: ByteStory, byScript: Bool) throws -> ByteStory.Outcome {
    try play(story, byScript: byScript) { world in
      story.clients.map { StoryClient(world, $0) }
    }
  }

  /// Plays the story's server against other programs than its clients.
  static func play(
    _ story: ByteStory, byScript: Bool,
    _ programs: @escaping (SimulatedWorld) throws -> [any StoryProgram]
  ) throws -> ByteStory.Outcome {
    try VirtualTime.run(limit: .seconds(600)) { loop in
      let world = SimulatedWorld(story, on: loop, byScript: byScript)
      await loop.pause(Self.settling)
      let clients = try programs(world)
      for client in clients {
        world.dialer.eventLoop.execute { client.start() }
      }
      await loop.until { clients.allSatisfy(\.isDone) }
      await loop.pause(Self.settling)
      let outcome = ByteStory.Outcome(clients, world.server)
      world.server?.close()
      return outcome
    }
  }

  private init(_ story: ByteStory, on loop: SimulatedEventLoop, byScript: Bool) {
    self.story = story
    self.loop = loop
    var internet = Internet(seed: 1)
    client = internet.addHost("client", link: .constant(Self.latency))
    host = internet.addHost("server")
    let deaf = internet.addHost("deaf")
    let address = internet.addresses(of: host)[0]
    let nowhere = internet.addresses(of: deaf)[0]
    internet.inject(.moveName("second", to: [nowhere, address], staleFor: .zero), at: .origin)
    internet.inject(.moveName("dead", to: [nowhere, nowhere], staleFor: .zero), at: .origin)
    switch story.machine {
    case .healthy: break
    case .withoutRoute: internet.inject(.failLocally(client, .networkUnreachable), at: .origin)
    case .withoutDescriptors: internet.inject(.limitDescriptors(client, 0), at: .origin)
    }
    let simulated = SimulatedInternet(internet, on: loop)
    self.internet = simulated
    dialer = simulated.dialer(from: client)
    switch story.port {
    case .serves(let scripts) where !byScript:
      server = StoryServer(loop: simulated.loop(of: host), scripts: scripts)
    default: server = nil
    }
    serve()
  }

  private func serve() {
    switch story.port {
    case .refuses: break
    case .zombie:
      internet.change { $0.listen(host, port: Self.port, Service(accepts: false)) }
    case .full:
      internet.change { state in
        state.listen(host, port: Self.port, Service(backlog: 0, accepts: false))
        let address = state.addresses(of: host)[0]
        _ = state.dial(from: host, to: address, port: Self.port, at: loop.now)
      }
    case .serves(let scripts):
      guard let server else {
        let script = scripts[0].map { act in
          if case .wait = act { ServerAct.wait(Self.scriptWait) } else { act }
        }
        return internet.change { $0.listen(host, port: Self.port, Service(script: script)) }
      }
      internet.listen(host, port: Self.port) { stream in
        stream.setReading(false)
        stream.start(observer: server.accept(stream))
      }
    }
  }

  func endpoint(of target: Target) -> Endpoint {
    switch target {
    case .server:
      Endpoint(host: internet.snapshot.addresses(of: host)[0], port: Self.port)
    case .secondAddress: Endpoint(host: "second", port: Self.port)
    case .twoDeadAddresses: Endpoint(host: "dead", port: Self.port)
    case .endpoint(let endpoint): endpoint
    }
  }

  func holdUp(_ stream: SimulatedStream) {
    // The dial has left, and its answer is on its way.
    internet.inject(.suspend(client), after: .microseconds(1500))
    internet.inject(.wake(client, sockets: .kept), after: Self.settling)
  }

  func letServerGoOn() {
    if let server { server.letGoOn() } else { scriptGoesOnAt = loop.now + Self.scriptWait }
  }

  func begin(_ hidden: ClientAct.Hidden) {
    switch hidden {
    case .serverStops: internet.inject(.refuse(host, port: Self.port))
    case .serverListens: serve()
    case .bytes, .end, .reset: break
    }
  }

  func isDone(
    _ hidden: ClientAct.Hidden, _ stream: SimulatedStream?, since: Instant
  ) -> Bool {
    dialer.eventLoop.now - max(since, scriptGoesOnAt) >= Self.settling
  }
}
