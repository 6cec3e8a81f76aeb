#if canImport(Glibc) || canImport(Musl)
  import CEventLoop
  import ConnectionFSM

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// A monitor from start to stop. `Sendable` only in that its reference may be captured by work
  /// for the loop; nothing of it is touched anywhere else.
  final class PathSession: @unchecked Sendable {
    private let loop: SocketEventLoop
    private var handler: (@Sendable (Path) -> Void)?
    private let descriptor: Int32
    /// The socket's place on the loop, which closes it then.
    private var registration: Registration?
    private var hasBegun = false
    private var watch = RouteWatch()
    private var effects: [RouteWatch.Effect] = []
    // The kernel fits its answers to the buffer they are read into, up to 32 KiB.
    private var buffer = [UInt8](repeating: 0, count: 32 << 10)

    /// Datagrams a turn: a swarm of announcements must not starve the loop.
    private static let datagramsPerTurn = 16

    /// Makes the socket; from any thread.
    init(
      _ loop: SocketEventLoop, _ handler: @escaping @Sendable (Path) -> Void
    ) throws(PathSourceError) {
      do throws(Errno) { descriptor = try System.routeSocket().release() } catch {
        throw PathSourceError(error)
      }
      self.loop = loop
      self.handler = handler
    }

    deinit {
      if !hasBegun { System.close(descriptor) }
    }

    func begin() {
      // Stopped before it began.
      guard handler != nil else { return }
      hasBegun = true
      // Fails for lack of memory alone. The path stays unknown then, which lets everybody try.
      registration = try? loop.register(Descriptor(descriptor), for: .read, self)
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

  extension PathSession: DescriptorHandler {
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

  extension PathSession: DeadlineHandler {
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
