import ConnectionFSM
import Dispatch
import NetSim
import Synchronization
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Plays a story over loopback sockets: the client's loop and the server's are threads of their
/// own, and a third one waits for both.
final class LoopbackWorld: StoryWorld, @unchecked Sendable {
  private let clientLoop: SocketEventLoop
  let dialer: TCPDialer
  private let port: StoryPort
  private let refused = RefusedPort()

  static func play(_ story: ByteStory) async throws -> ByteStory.Outcome {
    try await play(story) { world in story.clients.map { StoryClient(world, $0) } }
  }

  /// Plays the story's server against other programs than its clients.
  static func play(
    _ story: ByteStory, _ programs: @escaping @Sendable (LoopbackWorld) throws -> [any StoryProgram]
  ) async throws -> ByteStory.Outcome {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try SystemThread.start("story") {
          continuation.resume(with: Result { try playHere(story, programs) })
        }.detach()
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private static func playHere(
    _ story: ByteStory, _ programs: (LoopbackWorld) throws -> [any StoryProgram]
  ) throws -> ByteStory.Outcome {
    // Descriptors of this thread, and of those it starts, alone: other tests keep theirs.
    if story.machine == .withoutDescriptors { Descriptors.separate() }
    let world = try LoopbackWorld(story)
    if story.machine == .withoutDescriptors { Descriptors.exhaust() }
    let clients = try programs(world)
    for client in clients {
      world.clientLoop.execute { client.start() }
    }
    world.clientLoop.block { clients.allSatisfy(\.isDone) }
    let server = world.port.server
    if let server { world.port.loop.block { server.notes == story.served } }
    world.clientLoop.stop()
    world.port.stop()
    world.refused.close()
    return ByteStory.Outcome(clients, server)
  }

  private init(_ story: ByteStory) throws {
    clientLoop = try SocketEventLoop()
    port = try StoryPort(story.port, machine: story.machine)
    let second = [refused.endpoint, port.endpoint].map(\.address)
    let dead = [second[0], second[0]]
    let names = [
      "second": Resolution.addresses(second), "dead": Resolution.addresses(dead),
    ]
    let resolver = Resolver(threads: 1) { host, port, family in
      names[host]?.of(family)
        ?? Resolution(host: host, port: port, numeric: false, family: family)
    }
    dialer = TCPDialer(loop: clientLoop, resolver: resolver)
  }

  func endpoint(of target: Target) -> Endpoint {
    switch target {
    case .server: port.endpoint
    case .secondAddress: Endpoint(host: "second", port: port.endpoint.port)
    case .twoDeadAddresses: Endpoint(host: "dead", port: port.endpoint.port)
    case .endpoint(let endpoint): endpoint
    }
  }

  func holdUp(_ stream: TCPStream) {
    let limit = clientLoop.now + .seconds(20)
    let stream = Confined(stream)
    clientLoop.execute {
      while !stream.value.hasReset, self.clientLoop.now < limit { SystemThread.yield() }
    }
  }

  func letServerGoOn() { port.server?.letGoOn() }

  func begin(_ hidden: ClientAct.Hidden) {
    switch hidden {
    case .serverStops: port.loop.execute { self.port.hush() }
    case .serverListens: port.loop.execute { self.port.listen() }
    case .bytes, .end, .reset: break
    }
  }

  func isDone(_ hidden: ClientAct.Hidden, _ stream: TCPStream?, since: Instant) -> Bool {
    switch hidden {
    case .bytes(let count): stream?.hasUnread(count) ?? true
    case .end: stream?.hasEnd ?? true
    case .reset: stream?.hasReset ?? true
    case .serverStops: !port.isListening
    case .serverListens: port.isListening
    }
  }
}

/// What stands at the server's port of a story over loopback.
private final class StoryPort: @unchecked Sendable {
  let loop: SocketEventLoop
  let server: StoryServer<TCPStream>?
  private(set) var endpoint: Endpoint
  private let listening = Atomic(false)
  /// On the loop.
  private var listener: TCPListener?
  private let close: () -> Void

  init(_ port: ByteStory.Port, machine: ByteStory.Machine) throws {
    let loop = try SocketEventLoop()
    self.loop = loop
    switch port {
    case .serves(let scripts):
      server = StoryServer(loop: loop, scripts: scripts)
      endpoint = Endpoint(host: "127.0.0.1", port: 0)
      close = {}
    case .refuses:
      let refused = RefusedPort()
      (server, endpoint, close) = (nil, refused.endpoint, refused.close)
    case .zombie:
      let (peer, port) = Peer.bound("127.0.0.1")
      Self.open(peer)
      (server, endpoint) = (nil, Endpoint(host: "127.0.0.1", port: port))
      close = peer.close
    case .full:
      let full = FullBacklog()
      (server, endpoint, close) = (nil, full.endpoint, full.close)
    }
    if server != nil {
      loop.execute { self.listen() }
      loop.block { self.isListening }
    }
    // The address that a network uses to reach all its hosts takes no connections, and this one
    // never leaves the machine.
    if machine == .withoutRoute { endpoint = Endpoint(host: "127.255.255.255", port: 9) }
  }

  /// Lets a bound socket listen.
  private static func open(_ peer: Peer) {
    #if canImport(Darwin)
      Darwin.listen(peer.descriptor, 16)
    #elseif canImport(Musl)
      Musl.listen(peer.descriptor, 16)
    #else
      Glibc.listen(peer.descriptor, 16)
    #endif
  }

  var isListening: Bool { listening.load(ordering: .acquiring) }

  /// At the port where it listened before, if it did.
  func listen() {
    guard let server else { return }
    let listener = TCPListener(loop: loop) { server.accept($0) }
    guard let bound = try? listener.start(host: "127.0.0.1", port: endpoint.port) else { return }
    endpoint = Endpoint(host: "127.0.0.1", port: bound)
    self.listener = listener
    listening.store(true, ordering: .releasing)
  }

  func hush() {
    listener?.stop()
    listener = nil
    listening.store(false, ordering: .releasing)
  }

  func stop() {
    loop.execute { self.server?.close() }
    loop.stop()
    close()
  }
}

extension Endpoint {
  /// Of a numeric host.
  fileprivate var address: SocketAddress {
    guard case .addresses(let addresses) = Resolution(host: host, port: port, numeric: true) else {
      fatalError("\(host) is no address")
    }
    return addresses[0]
  }
}

// MARK: What the kernel knows before the program does

extension TCPStream {
  fileprivate func hasUnread(_ count: Int) -> Bool {
    guard let descriptor else { return true }
    var buffer = [UInt8](repeating: 0, count: count)
    return recv(descriptor, &buffer, count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == count
  }

  fileprivate var hasEnd: Bool { polled & (POLLHUP | POLLERR | Self.peerFinished) != 0 }
  fileprivate var hasReset: Bool { polled & POLLERR != 0 }

  #if canImport(Darwin)
    private static let peerFinished = POLLHUP
  #else
    // POLLRDHUP, which is not in the C library's module for Swift.
    private static let peerFinished: Int32 = 0x2000
  #endif

  private var polled: Int32 {
    var request = pollfd(
      fd: descriptor ?? -1, events: Int16(POLLIN | Self.peerFinished), revents: 0)
    poll(&request, 1, 0)
    return Int32(request.revents)
  }
}

extension SocketEventLoop {
  /// Blocks the calling thread until the condition, asked on the loop, holds, or for 40 s at
  /// most.
  fileprivate func block(until condition: @escaping @Sendable () -> Bool) {
    let held = DispatchSemaphore(value: 0)
    let limit = now + .seconds(40)
    execute {
      let asking = Alarm { alarm in
        if condition() || self.now > limit {
          held.signal()
        } else {
          self.arm(alarm, at: self.now + .milliseconds(1))
        }
      }
      asking.deadlineReached()
    }
    held.wait()
  }
}
