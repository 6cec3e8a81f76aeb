import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import CEventLoop
  import Musl
#else
  import CEventLoop
  import Glibc
#endif

extension System {
  static func setOption(
    _ level: Int32, _ name: Int32, to value: Int32, of socket: Int32
  ) throws(Errno) {
    try check {
      withUnsafePointer(to: value) {
        setsockopt(socket, level, name, $0, socklen_t(MemoryLayout<Int32>.size))
      }
    }
  }

  /// Sends small segments at once instead of waiting for the acknowledgement of earlier ones.
  static func disableDelay(_ socket: Int32) throws(Errno) {
    try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1, of: socket)
  }

  /// Lets a server take its port again while connections of its last run still linger (RFC 9293
  /// section 3.6.1, TIME-WAIT).
  static func reuseAddress(_ socket: Int32) throws(Errno) {
    try setOption(SOL_SOCKET, SO_REUSEADDR, to: 1, of: socket)
  }

  /// Makes the coming close a reset: what is unsent is dropped, and the peer is told so.
  static func resetOnClose(_ socket: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    // Fails only for what is no socket.
    _ = setsockopt(
      socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Sets what was asked for. Before connecting: the window's scale is settled in the handshake,
  /// and so the receive buffer must be known by then.
  static func apply(_ options: TCPOptions, to socket: Int32) throws(Errno) {
    let tcp = Int32(IPPROTO_TCP)
    if let size = options.sendBuffer {
      try setOption(SOL_SOCKET, SO_SNDBUF, to: Int32(size), of: socket)
    }
    if let size = options.receiveBuffer {
      try setOption(SOL_SOCKET, SO_RCVBUF, to: Int32(size), of: socket)
    }
    if let keepalive = options.keepalive {
      #if canImport(Darwin)
        let idle = TCP_KEEPALIVE
      #else
        let idle = TCP_KEEPIDLE
      #endif
      try setOption(SOL_SOCKET, SO_KEEPALIVE, to: 1, of: socket)
      try setOption(tcp, idle, to: keepalive.idle.rounded(to: 1_000_000_000), of: socket)
      try setOption(
        tcp, TCP_KEEPINTVL, to: keepalive.interval.rounded(to: 1_000_000_000), of: socket)
      try setOption(tcp, TCP_KEEPCNT, to: Int32(keepalive.count), of: socket)
    }
    if let timeout = options.userTimeout {
      #if canImport(Darwin)
        try setOption(
          tcp, TCP_RXT_CONNDROPTIME, to: timeout.rounded(to: 1_000_000_000), of: socket)
      #else
        try setOption(tcp, TCP_USER_TIMEOUT, to: timeout.rounded(to: 1_000_000), of: socket)
      #endif
    }
  }
}

extension TimeSpan {
  /// In whole units of so many nanoseconds, rounded up: 0 would turn the option off.
  fileprivate func rounded(to unit: Int64) -> Int32 {
    let whole = nanoseconds / unit
    return Int32(clamping: nanoseconds % unit > 0 ? whole + 1 : whole)
  }
}
