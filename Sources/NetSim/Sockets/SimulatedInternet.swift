public import ConnectionFSM

/// An ``Internet`` in ``VirtualTime``: programs dial, listen and talk over it, each host's on a
/// loop of its own.
///
/// Confined to the simulation's thread. `Sendable` only in that its reference may be captured by
/// tasks of the simulation.
public final class SimulatedInternet: @unchecked Sendable {
  private var state: Internet
  private let loop: SimulatedEventLoop
  private var armedAt: Instant?
  private var streams: [SocketID: WeakStream] = [:]
  private var lookups: [LookupID: WeakStream] = [:]
  private var listeners: [Port: Listener] = [:]
  private var devices: [HostID: Device] = [:]
  private var faultHandlers: [(Fault) -> Void] = []
  private var captured: ((Segment) -> Void)?

  private struct Port: Hashable {
    let host: HostID
    let port: UInt16
  }

  private struct Listener {
    let accept: (SimulatedStream) -> Void
  }

  /// What hears of a device's life.
  private struct Device {
    var pathChanged: [(Path) -> Void] = []
    var loop: SimulatedEventLoop?
  }

  private struct WeakStream {
    weak var stream: SimulatedStream?
  }

  /// Lets an internet live in the time of a simulation.
  /// - Parameters:
  ///   - internet: What it is like; its own time must not be ahead.
  ///   - loop: The simulation's main loop.
  public init(_ internet: Internet, on loop: SimulatedEventLoop) {
    state = internet
    self.loop = loop
    rearm()
  }

  /// What it is like at this moment: a copy, which goes its own way.
  public var snapshot: Internet { state }

  /// How many sockets programs hold.
  public var liveSockets: Int { state.liveSockets }

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

  /// Tells of every fault that befalls from now on, at that moment. The handler is kept: one that
  /// needs this internet holds it weakly.
  public func observeFaults(_ handler: @escaping (Fault) -> Void) { faultHandlers.append(handler) }

  /// Tells of every segment that leaves or reaches a host over connections that it dials from now
  /// on; of one host at a time, the last that was asked for.
  public func observeSegments(of host: HostID, _ handler: @escaping (Segment) -> Void) {
    state.capture(on: host)
    captured = handler
  }

  /// Where the programs of a host run: a loop that sleeps when the device does.
  /// - Parameters:
  ///   - host: Whose programs.
  ///   - skew: By how many millionths its clock is fast, or slow if negative; what the first call
  ///     for a host says holds.
  public func loop(of host: HostID, skew: Int32 = 0) -> SimulatedEventLoop {
    if let loop = devices[host]?.loop { return loop }
    let made = loop.time.makeLoop(skew: skew)
    devices[host, default: Device()].loop = made
    return made
  }

  /// Serves a port by a program.
  ///
  /// - Parameters:
  ///   - host: Whose port.
  ///   - port: Its number.
  ///   - service: What the system in front of the program is like; its script is not used.
  ///   - accept: Gets each new connection, which is open. It must keep it: one that is let go of
  ///     closes.
  public func listen(
    _ host: HostID, port: UInt16, service: Service = Service(),
    _ accept: @escaping (SimulatedStream) -> Void
  ) {
    var service = service
    service.script = nil
    change { $0.listen(host, port: port, service) }
    listeners[Port(host: host, port: port)] = Listener(accept: accept)
  }

  /// Makes streams that leave from a host, timed as the socket streams are.
  public func dialer(
    from host: HostID, timing: DialTiming = .standard
  ) -> sending SimulatedDialer {
    SimulatedDialer(internet: self, host: host, loop: loop(of: host), timing: timing)
  }

  private func rearm() {
    if let captured { for segment in state.takeSegments() { captured(segment) } }
    let next = state.nextInstant
    guard next != armedAt else { return }
    armedAt = next
    loop.arm(self, at: next, actor: VirtualTime.network)
  }
}

// MARK: What happens

extension SimulatedInternet: DeadlineHandler {
  public func deadlineReached() {
    armedAt = nil
    while let occurrence = state.next(through: loop.now) { pass(on: occurrence) }
    rearm()
  }

  private func pass(on occurrence: Occurrence) {
    switch occurrence {
    case .opened(let socket): streams[socket]?.stream?.opened(socket)
    case .failed(let socket, let cause):
      streams.removeValue(forKey: socket)?.stream?.failed(socket, cause)
    case .readable(let socket): streams[socket]?.stream?.readable()
    case .writable(let socket): streams[socket]?.stream?.writable()
    case .accepted(let socket, let host, let port): accept(socket, host, port)
    case .resolved(let lookup, let addresses, let cause):
      lookups.removeValue(forKey: lookup)?.stream?.resolved(addresses, cause)
    case .pathChanged(let host, let path):
      let handlers = devices[host]?.pathChanged ?? []
      self.loop(of: host).later { for handler in handlers { handler(path) } }
    case .fellAsleep(let host): devices[host]?.loop?.sleep()
    case .woke(let host): devices[host]?.loop?.wake()
    case .befell(let fault): for handler in faultHandlers { handler(fault) }
    }
  }

  private func accept(_ socket: SocketID, _ host: HostID, _ port: UInt16) {
    guard let listener = listeners[Port(host: host, port: port)] else {
      return change { $0.close(socket, at: loop.now) }
    }
    let device = loop(of: host)
    let stream = SimulatedStream(accepted: socket, by: self, loop: device)
    streams[socket] = WeakStream(stream: stream)
    device.later { listener.accept(stream) }
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

  func takeError(of socket: SocketID) -> Cause? { state.takeError(of: socket) }

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
