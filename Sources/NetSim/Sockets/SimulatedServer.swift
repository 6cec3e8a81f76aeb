public import ConnectionFSM

/// A server on a simulated host that speaks any protocol of which there is an engine, and answers
/// messages by a closure.
public final class SimulatedServer<Engine: ProtocolEngine> {
  private let loop: any EventLoop
  private let makeEngine: () -> Engine
  private let arrived: (Client) -> Void
  private let left: (Client) -> Void
  private let respond: (Message, Client) -> Void
  private let buffer: ReadBuffer
  private let meter = TrafficMeter()
  private var links: [StreamLink<SimulatedStream, Engine>] = []
  private var count: UInt64 = 0
  /// How many connections it has accepted.
  public var acceptedCount: Int { Int(count) }

  /// A connection that a message came by.
  public struct Client {
    fileprivate let link: StreamLink<SimulatedStream, Engine>
    fileprivate let reply: () -> MessageID

    /// Which connection, counted from 1 in order of arrival.
    public var number: Int { Int(link.epoch.rawValue) }

    /// Sends it a message.
    public func send(_ message: Message) { link.send(message, id: reply(), more: false) }

    /// Ends it in the protocol's order.
    public func close() { link.close() }

    /// Ends it with a reset.
    public func reset() {
      link.stream?.reset()
      link.letGo()
    }
  }

  /// Serves a port from now on. The server must be kept; its connections end with it.
  ///
  /// - Parameters:
  ///   - internet: Where it stands.
  ///   - host: Whose port.
  ///   - port: Its number.
  ///   - service: What the system in front of the program is like; its script is not used.
  ///   - engine: Makes an engine for each connection.
  ///   - arrived: Hears of a connection that is there.
  ///   - left: Hears of a connection that has ended.
  ///   - respond: Gets each message, and whom it came from.
  public init(
    _ internet: SimulatedInternet, host: HostID, port: UInt16, service: Service = Service(),
    engine: @escaping () -> Engine,
    arrived: @escaping (Client) -> Void = { _ in },
    left: @escaping (Client) -> Void = { _ in },
    respond: @escaping (Message, Client) -> Void
  ) {
    loop = internet.loop(of: host)
    buffer = .shared(on: loop)
    makeEngine = engine
    self.arrived = arrived
    self.left = left
    self.respond = respond
    internet.listen(host, port: port, service: service) { [weak self] stream in
      self?.accept(stream)
    }
  }

  deinit {
    for link in links { link.letGo() }
  }

  /// What has passed over all its connections so far.
  public var traffic: Traffic { meter.traffic }

  /// How many connections it has at this moment.
  public var connectionCount: Int { links.count }

  /// Sends a message to every client.
  public func broadcast(_ message: Message) {
    for link in links { client(link).send(message) }
  }

  /// Sends a message to the connection of that number, if it is there.
  public func send(_ message: Message, to number: Int) {
    if let link = link(number) { client(link).send(message) }
  }

  /// Ends the connection of that number in the protocol's order, if it is there.
  public func close(_ number: Int) { link(number)?.close() }

  private func link(_ number: Int) -> StreamLink<SimulatedStream, Engine>? {
    links.first { $0.epoch == Epoch(UInt64(number)) }
  }

  /// Ends every connection in the protocol's order.
  public func closeAll() {
    for link in links { link.close() }
  }

  private func accept(_ stream: SimulatedStream) {
    count += 1
    let epoch = Epoch(count)
    let link = StreamLink<SimulatedStream, Engine>(
      epoch: epoch, engine: makeEngine(), loop: loop, buffer: buffer, meter: meter,
      observer: Relay(self))
    link.whenOver = { [weak self, unowned link] in
      guard let self else { return }
      links.removeAll { $0.epoch == epoch }
      left(client(link))
    }
    link.stream = stream
    links.append(link)
    arrived(client(link))
    link.streamOpened()
    stream.start(observer: link)
  }

  private var sent: UInt64 = 0

  private func client(_ link: StreamLink<SimulatedStream, Engine>) -> Client {
    Client(link: link) { [weak self] in
      self?.sent += 1
      return MessageID(lane: LaneID(0), sequence: self?.sent ?? 0)
    }
  }
}

extension SimulatedServer {
  /// What links hold in place of the server: else one whose client fell silent would keep the
  /// server, which keeps it.
  private final class Relay: TransportObserver {
    private weak var server: SimulatedServer?

    init(_ server: SimulatedServer) { self.server = server }

    func transport(_ epoch: Epoch, reports event: TransportEvent) {}

    func transport(_ epoch: Epoch, received message: Message) {
      guard let server, let link = server.links.first(where: { $0.epoch == epoch }) else { return }
      server.respond(message, server.client(link))
    }
  }
}
