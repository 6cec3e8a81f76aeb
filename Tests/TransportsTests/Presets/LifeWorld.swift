import ConnectionFSM
import NetSim
import Transports

/// Where an app and its server live: the only difference between simulation and reality.
protocol LifeWorld: Sendable {
  /// The app's loop.
  var loop: any EventLoop { get }
  var endpoint: Endpoint { get }
  func connection<Framing: ProtocolEngine & Sendable>(
    _ preset: Preset<Framing>, _ trace: @escaping @Sendable (TraceRecord) -> Void
  ) throws -> Connection
  /// The server ends every connection in the protocol's order.
  func serverDropsAll() async
  func serverSends(_ message: Message) async
}

/// An app with a connection that lives by a preset, and what it has seen.
final class LifeApp<World: LifeWorld>: Sendable {
  let world: World
  let connection: Connection
  let journal = Journal()
  private let read = Confined<[String]>([])
  private let reading: Task<Void, Never>

  init<Framing: ProtocolEngine & Sendable>(_ world: World, _ preset: Preset<Framing>) throws {
    self.world = world
    let (journal, read) = (journal, read)
    connection = try world.connection(preset) { journal.record($0) }
    let messages = connection.messages(bufferingUpTo: 1000)
    reading = Task(executorPreference: world.loop) {
      do { for try await message in messages { read.value.append(message.text) } } catch {}
    }
  }

  func connect() { connection.connect(to: world.endpoint) }

  func post(_ message: Message) {
    let journal = journal
    connection.post(message) { journal.ended(message.text, $0) }
  }

  /// Until the phases that were passed end with these.
  func passes(_ phases: Phase...) async {
    let journal = journal
    await world.loop.until { journal.phases.suffix(phases.count).elementsEqual(phases) }
  }

  func reads(_ texts: String...) async { await readsInAll(texts.count) }

  /// Until so many messages were read since the last `takeRead`.
  func readsInAll(_ count: Int) async {
    let read = read
    await world.loop.until { read.value.count >= count }
  }

  func until(_ condition: @escaping @Sendable (Journal) -> Bool) async {
    let journal = journal
    await world.loop.until { condition(journal) }
  }

  /// What was read since the last time.
  func takeRead() async -> [String] {
    let read = read
    return await world.loop.run {
      defer { read.value = [] }
      return read.value
    }
  }

  func end() { reading.cancel() }
}

// MARK: In virtual time

struct SimulatedLife<Framing: ProtocolEngine & Sendable>: LifeWorld, @unchecked Sendable {
  // Unchecked: a simulation has one thread.
  private let internet: SimulatedInternet
  private let client: HostID
  private let server: SimulatedServer<Framing>
  let loop: any EventLoop
  let endpoint: Endpoint

  static func run(
    _ framing: Framing, _ program: any ServerProgram & Sendable,
    _ life: @escaping @Sendable (SimulatedLife) async throws -> Void
  ) throws {
    try VirtualTime.run(limit: .seconds(3600)) { loop in
      try await life(SimulatedLife(framing, program, on: loop))
    }
  }

  private init(
    _ framing: Framing, _ program: any ServerProgram & Sendable, on loop: SimulatedEventLoop
  ) {
    var state = Internet(seed: 1)
    client = state.addHost("client", link: .constant(.milliseconds(1)))
    let host = state.addHost("server")
    endpoint = Endpoint(host: state.addresses(of: host)[0], port: 4000)
    internet = SimulatedInternet(state, on: loop)
    self.loop = internet.loop(of: client)
    let box = Confined<SimulatedServer<Framing>?>(nil)
    server = SimulatedServer(
      internet, host: host, port: 4000, engine: { framing },
      arrived: { program.arrived($0.number) }, left: { program.left($0.number) },
      respond: { message, client in
        for deed in program.received(message, from: client.number) {
          switch deed {
          case .send(let message, let number): box.value?.send(message, to: number)
          case .close(let number): box.value?.close(number)
          }
        }
      })
    box.value = server
  }

  func connection<Client: ProtocolEngine & Sendable>(
    _ preset: Preset<Client>, _ trace: @escaping @Sendable (TraceRecord) -> Void
  ) throws -> Connection {
    try Connection(preset, over: internet.dialer(from: client), seed: 1, trace: trace)
  }

  func serverDropsAll() async { server.closeAll() }
  func serverSends(_ message: Message) async { server.broadcast(message) }
}

// MARK: Over loopback

final class LoopbackLife<Framing: ProtocolEngine & Sendable>: LifeWorld, @unchecked Sendable {
  private let clientLoop: SocketEventLoop
  private let serverLoop: SocketEventLoop
  /// On the server's loop.
  private let server = Confined<Server<TCPStream, Framing>?>(nil)
  let endpoint: Endpoint

  var loop: any EventLoop { clientLoop }

  static func run(
    _ framing: Framing, _ program: any ServerProgram & Sendable,
    _ life: @escaping @Sendable (LoopbackLife) async throws -> Void
  ) async throws {
    let world = try await LoopbackLife(framing, program)
    defer {
      world.clientLoop.stop()
      world.serverLoop.stop()
    }
    try await life(world)
    let server = world.server
    await world.serverLoop.run {
      server.value?.kill()
      server.value = nil
    }
  }

  private init(_ framing: Framing, _ program: any ServerProgram & Sendable) async throws {
    clientLoop = try SocketEventLoop()
    serverLoop = try SocketEventLoop()
    let (loop, server) = (serverLoop, server)
    let port = await loop.run { () -> Result<UInt16, ListenError> in
      let made = Server<TCPStream, Framing>(loop: loop, engine: { framing }, program: program)
      server.value = made
      do throws(ListenError) { return .success(try made.start()) } catch { return .failure(error) }
    }
    endpoint = Endpoint(host: "127.0.0.1", port: try port.get())
  }

  func connection<Client: ProtocolEngine & Sendable>(
    _ preset: Preset<Client>, _ trace: @escaping @Sendable (TraceRecord) -> Void
  ) throws -> Connection {
    try Connection(preset, over: TCPDialer(loop: clientLoop), seed: 1, trace: trace)
  }

  func serverDropsAll() async {
    let server = server
    await serverLoop.run { server.value?.closeAll() }
  }

  func serverSends(_ message: Message) async {
    let server = server
    await serverLoop.run { server.value?.broadcast(message) }
  }
}
