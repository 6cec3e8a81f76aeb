#if os(Linux)
  import CEventLoop

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// Sockets and epoll without anything around them: the measure.
  enum Bare {
    // One thread: no mode runs beside another.
    nonisolated(unsafe) private static let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 65_536, alignment: 16)

    /// One message goes, comes back, and goes again.
    static func pingPong(port: UInt16, rounds: Int, stopwatch: Stopwatch) {
      let socket = connected(to: port)
      let epoll = epoll(watching: socket)
      var events = [epoll_event](repeating: epoll_event(), count: 16)
      var left = stopwatch.warmUp + rounds
      transmit(socket, EchoBench.size)
      while left > 0 {
        let count = epoll_wait(epoll, &events, 16, -1)
        for index in 0..<Int(max(count, 0)) {
          let received = recv(events[index].data.fd, buffer.baseAddress, buffer.count, 0)
          guard received == EchoBench.size else {
            fatalError("received \(received), errno \(errno)")
          }
          left -= 1
          if left == rounds { stopwatch.start() }
          if left == 0 { return stopwatch.stop() }
          transmit(socket, EchoBench.size)
        }
      }
    }

    /// Echoes whatever comes, for ever; says which port it took.
    static func serve() {
      let listener = socket(AF_INET, cel_stream_type, 0)
      var address = loopback(port: 0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          guard bind(listener, $0, length) == 0, listen(listener, 128) == 0,
            getsockname(listener, $0, &length) == 0
          else { fatalError("no port, errno \(errno)") }
        }
      }
      print(UInt16(bigEndian: address.sin_port))
      fflush(nil)
      let epoll = epoll(watching: listener)
      var events = [epoll_event](repeating: epoll_event(), count: 64)
      while true {
        let count = epoll_wait(epoll, &events, 64, -1)
        for index in 0..<Int(max(count, 0)) {
          let socket = events[index].data.fd
          if socket == listener {
            let client = accept(listener, nil, nil)
            disableDelay(client)
            watch(client, with: epoll)
            continue
          }
          let received = recv(socket, buffer.baseAddress, buffer.count, 0)
          if received > 0 { transmit(socket, received) } else { close(socket) }
        }
      }
    }

    private static func transmit(_ socket: Int32, _ count: Int) {
      let sent = send(socket, buffer.baseAddress, count, Int32(MSG_NOSIGNAL))
      guard sent == count else { fatalError("sent \(sent), errno \(errno)") }
    }

    private static func connected(to port: UInt16) -> Int32 {
      let socket = socket(AF_INET, cel_stream_type, 0)
      var address = loopback(port: port)
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard result == 0 else { fatalError("not connected, errno \(errno)") }
      disableDelay(socket)
      guard fcntl(socket, F_SETFL, O_NONBLOCK) == 0 else { fatalError("errno \(errno)") }
      return socket
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return address
    }

    private static func disableDelay(_ socket: Int32) {
      var one: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    private static func epoll(watching socket: Int32) -> Int32 {
      let epoll = epoll_create1(0)
      watch(socket, with: epoll)
      return epoll
    }

    private static func watch(_ socket: Int32, with epoll: Int32) {
      var event = epoll_event()
      event.events = cel_epoll_in
      event.data.fd = socket
      guard epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0 else {
        fatalError("not watched, errno \(errno)")
      }
    }
  }
#endif
