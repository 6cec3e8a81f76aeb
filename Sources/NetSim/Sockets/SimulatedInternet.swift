public import ConnectionFSM

/// An ``Internet`` that lives on an event loop: programs dial, listen and talk over it, and it moves
/// on with the loop's time.
///
/// Confined to the thread of the loop, as are the loops of the programs on its hosts. `Sendable`
/// only in that its reference may be captured by tasks that prefer such a loop.
public final class SimulatedInternet: @unchecked Sendable {
  private var state: Internet
  private let loop: any EventLoop
  private var streams: [SocketID: WeakStream] = [:]
  private var lookups: [LookupID: WeakStream] = [:]
  private var listeners: [Port: Listener] = [:]
  private var devices: [HostID: Device] = [:]

  private struct Port: Hashable {
    let host: HostID
    let port: UInt16
  }

  private struct Listener {
    let loop: any EventLoop
    let accept: (SimulatedStream) -> Void
  }

  /// What hears of a device's life.
  private struct Device {
    var pathChanged: [(Path) -> Void] = []
    var sleeper: (any DeviceSleeper)?
  }

  private struct WeakStream {
    weak var stream: SimulatedStream?
  }

  /// Lets an internet live on a loop, whose time must not be behind the internet's.
  public init(_ internet: Internet, on loop: any EventLoop) {
    state = internet
    self.loop = loop
    rearm()
  }

  /// What it is like at this moment: a copy, which goes its own way.
  public var snapshot: Internet { state }

  /// How many sockets programs hold.
  public var liveSockets: Int { state.liveSockets }

  /// The loop it lives on.
  public var eventLoop: any EventLoop { loop }

  /// Changes it: adds hosts, serves ports, injects faults.
  @discardableResult
  public func change<Result>(_ body: (inout Internet) -> Result) -> Result {
    defer { rearm() }
    return body(&state)
  }

  /// Lets a fault befall after a span.
  public func inject(_ fault: Fault, after span: TimeSpan = .zero) {
    change { $0.inject(fault, at: loop.now + span) }
  }

  /// Tells of every path that a device reports from now on.
  public func observePath(of host: HostID, _ handler: @escaping (Path) -> Void) {
    devices[host, default: Device()].pathChanged.append(handler)
  }

  /// What stands still when the host does.
  func attach(_ sleeper: any DeviceSleeper, to host: HostID) {
    devices[host, default: Device()].sleeper = sleeper
  }

  /// Serves a port by a program.
  ///
  /// - Parameters:
  ///   - host: Whose port.
  ///   - port: Its number.
  ///   - service: What the system in front of the program is like; its script is not used.
  ///   - loop: Where the program runs; nil is the internet's own loop.
  ///   - accept: Gets each new connection, which is open. It must keep it: one that is let go of
  ///     closes.
  public func listen(
    _ host: HostID, port: UInt16, service: Service = Service(), on loop: (any EventLoop)? = nil,
    _ accept: @escaping (SimulatedStream) -> Void
  ) {
    var service = service
    service.script = nil
    change { $0.listen(host, port: port, service) }
    listeners[Port(host: host, port: port)] = Listener(loop: loop ?? self.loop, accept: accept)
  }

  /// Makes streams that leave from a host.
  /// - Parameter loop: Where the programs of the host run; nil is the internet's own loop.
  public func dialer(from host: HostID, on loop: (any EventLoop)? = nil) -> SimulatedDialer {
    SimulatedDialer(internet: self, host: host, loop: loop ?? self.loop)
  }

  private func rearm() { loop.arm(self, at: state.nextInstant) }
}

/// What stands still with a device: its event loop.
protocol DeviceSleeper: AnyObject {
  func sleep()
  func wake()
}

// MARK: What happens

extension SimulatedInternet: DeadlineHandler {
  public func deadlineReached() {
    while let occurrence = state.next(through: loop.now) { pass(on: occurrence) }
    rearm()
  }

  private func pass(on occurrence: Occurrence) {
    switch occurrence {
    case .opened(let socket): streams[socket]?.stream?.opened()
    case .failed(let socket, let cause): streams[socket]?.stream?.failed(cause)
    case .readable(let socket): streams[socket]?.stream?.readable()
    case .writable(let socket): streams[socket]?.stream?.writable()
    case .accepted(let socket, let host, let port): accept(socket, host, port)
    case .resolved(let lookup, let addresses, let cause):
      lookups.removeValue(forKey: lookup)?.stream?.resolved(addresses, cause)
    case .pathChanged(let host, let path):
      for handler in devices[host]?.pathChanged ?? [] { handler(path) }
    case .fellAsleep(let host): devices[host]?.sleeper?.sleep()
    case .woke(let host): devices[host]?.sleeper?.wake()
    }
  }

  private func accept(_ socket: SocketID, _ host: HostID, _ port: UInt16) {
    guard let listener = listeners[Port(host: host, port: port)] else {
      return change { $0.close(socket, at: loop.now) }
    }
    let stream = SimulatedStream(accepted: socket, by: self, loop: listener.loop)
    streams[socket] = WeakStream(stream: stream)
    listener.loop.later { listener.accept(stream) }
  }
}

// MARK: What streams do

extension SimulatedInternet {
  func dial(_ address: String, port: UInt16, from host: HostID, for stream: SimulatedStream)
    -> SocketID
  {
    let socket = change { $0.dial(from: host, to: address, port: port, at: loop.now) }
    streams[socket] = WeakStream(stream: stream)
    return socket
  }

  func resolve(_ name: String, from host: HostID, for stream: SimulatedStream) {
    let lookup = change { $0.resolve(name, from: host, at: loop.now) }
    lookups[lookup] = WeakStream(stream: stream)
  }

  func read(_ socket: SocketID, into buffer: inout MutableRawSpan) -> ReadResult {
    defer { rearm() }
    return state.read(socket, into: &buffer, at: loop.now)
  }

  func write(_ bytes: RawSpan, to socket: SocketID) -> WriteResult {
    defer { rearm() }
    return state.write(bytes, to: socket, at: loop.now)
  }

  func isReadable(_ socket: SocketID) -> Bool { state.isReadable(socket) }

  func finishWriting(_ socket: SocketID) {
    change { $0.finishWriting(socket, at: loop.now) }
  }

  func close(_ socket: SocketID, withReset: Bool = false) {
    streams[socket] = nil
    change {
      withReset ? $0.reset(socket, at: loop.now) : $0.close(socket, at: loop.now)
    }
  }
}
