#if canImport(Glibc) || canImport(Musl)
  import CEventLoop
  public import ConnectionFSM
  import Synchronization

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Watches the system's network: by rtnetlink on Linux, by `NWPathMonitor` on Apple systems.
  ///
  /// The path is up if a default route (IPv4 or IPv6) leads over an interface that is up, running,
  /// and has an address of that family which is good beyond its link. Loopback alone is down:
  /// nothing beyond the machine can be reached; a connection to the machine itself should follow
  /// no monitor. The number of the path's interface changes with the interface and with its
  /// gateway.
  ///
  /// The handler is called on the loop. A monitor that nobody holds any more stops.
  public final class SystemPathMonitor: PathSource {
    private let loop: SocketEventLoop
    private let session = Mutex<RouteSession?>(nil)

    /// Makes a monitor that is not started yet.
    /// - Parameter loop: Where it listens and calls its handler.
    public init(loop: SocketEventLoop) { self.loop = loop }

    deinit { stop() }

    /// Starts to tell; from any thread.
    public func start(_ handler: @escaping @Sendable (Path) -> Void) throws(PathSourceError) {
      stop()
      let raw: Int32
      do throws(Errno) { raw = try System.routeSocket().release() } catch {
        throw PathSourceError(error)
      }
      let session = RouteSession(loop, handler)
      self.session.withLock { $0 = session }
      if !loop.execute({ session.begin(Descriptor(raw)) }) { System.close(raw) }
    }

    /// Tells nothing more; from any thread. Elsewhere than on the loop, a call of the handler that
    /// is under way may still come.
    public func stop() {
      guard let ending = session.withLock({ $0.take() }) else { return }
      if loop.isCurrent { ending.end() } else { loop.execute { ending.end() } }
    }
  }

  /// A monitor from start to stop. `Sendable` only in that its reference may be captured by work
  /// for the loop; nothing of it is touched anywhere else.
  private final class RouteSession: @unchecked Sendable {
    private let loop: SocketEventLoop
    private var handler: (@Sendable (Path) -> Void)?
    private var registration: Registration?
    private var descriptor: Int32 = -1
    private var watch = RouteWatch()
    private var effects: [RouteWatch.Effect] = []
    // The kernel fits its answers to the buffer they are read into, up to 32 KiB.
    private var buffer = [UInt8](repeating: 0, count: 32 << 10)

    /// Datagrams a turn: a swarm of announcements must not starve the loop.
    private static let datagramsPerTurn = 16

    init(_ loop: SocketEventLoop, _ handler: @escaping @Sendable (Path) -> Void) {
      self.loop = loop
      self.handler = handler
    }

    func begin(_ socket: consuming Descriptor) {
      // Stopped before it began.
      guard handler != nil else { return }
      descriptor = socket.raw
      // Fails for lack of memory alone. The path stays unknown then, which lets everybody try.
      registration = try? loop.register(socket, for: .read, self)
      guard registration != nil else { return end() }
      watch.start(at: loop.now, into: &effects)
      perform()
    }

    func end() {
      handler = nil
      loop.arm(self, at: nil)
      if let registration { loop.close(registration) }
      registration = nil
    }

    private func perform() {
      for effect in effects {
        switch effect {
        case .ask(let question, let number):
          // A question that is not taken has no answer, and is put again in a while.
          guard registration != nil else { continue }
          question.request(number: number).withUnsafeBytes { _ = System.send(descriptor, $0) }
        case .tell(let path): handler?(path)
        }
      }
      effects.removeAll(keepingCapacity: true)
      if handler != nil { loop.arm(self, at: watch.nextDeadline) }
    }
  }

  extension RouteSession: DescriptorHandler {
    func descriptorReady(_ registration: Registration, for ready: Interest) {
      for _ in 0..<Self.datagramsPerTurn where self.registration == registration {
        let count = buffer.withUnsafeMutableBytes { System.receive(descriptor, into: $0) }
        if count == 0 || count == -Int(EAGAIN) { return }
        if count > 0 {
          watch.receive(buffer.span.bytes.extracting(0..<count), at: loop.now, into: &effects)
        } else {
          // ENOBUFS: announcements were lost; ENOMEM: an answer may have been.
          watch.overrun(at: loop.now, into: &effects)
        }
        perform()
      }
    }

    func loopStopped() {
      // The loop has closed the socket already.
      registration = nil
      handler = nil
    }
  }

  extension RouteSession: DeadlineHandler {
    func deadlineReached() {
      watch.deadlineReached(at: loop.now, into: &effects)
      perform()
    }
  }

  extension System {
    /// Makes a socket that hears what the kernel announces of links, addresses and routes.
    fileprivate static func routeSocket() throws(Errno) -> Descriptor {
      let type = cel_raw_type | cel_stream_flags
      // NETLINK_ROUTE
      let descriptor = Descriptor(try check { socket(AF_NETLINK, type, 0) })
      var address = cel_netlink_address()
      address.family = UInt16(AF_NETLINK)
      // RTMGRP_LINK, _IPV4_IFADDR, _IPV4_ROUTE, _IPV6_IFADDR, _IPV6_ROUTE
      address.groups = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
      let groups = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          SocketAddress($0, length: socklen_t(MemoryLayout<cel_netlink_address>.size))
        }
      }
      try bind(descriptor.raw, to: groups)
      return descriptor
    }
  }
#endif
