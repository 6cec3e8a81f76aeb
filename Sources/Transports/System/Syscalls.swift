#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import CEventLoop
  import Musl
#else
  import CEventLoop
  import Glibc
#endif

/// The calls into the operating system that sockets need: each repeats after EINTR, none blocks.
///
/// `read`-like calls answer with a count or a negated errno, because a throw on the path of every
/// byte would cost more than the call's own bookkeeping.
package enum System {
  /// Runs the call until no signal interrupts it; its result, or its negated errno.
  @inline(__always)
  static func call(_ body: () -> Int) -> Int {
    while true {
      let result = body()
      if result != -1 { return result }
      let number = errno
      if number != EINTR { return -Int(number) }
    }
  }

  /// The same, for calls that answer with an `Int32`, throwing what went wrong.
  @discardableResult
  static func check(_ body: () -> Int32) throws(Errno) -> Int32 {
    let result = call { Int(body()) }
    guard result >= 0 else { throw Errno(Int32(-result)) }
    return Int32(result)
  }

  /// Closes; never repeated, since the number is free after EINTR too and may belong to another
  /// thread by then.
  static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }

  // MARK: Clock and threads

  /// Nanoseconds on the monotonic clock that goes on while the system sleeps.
  static func continuousTime() -> Int64 {
    #if canImport(Darwin)
      // mach_continuous_time in nanoseconds.
      Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW))
    #else
      cel_continuous_time()
    #endif
  }

  /// Names the calling thread as a number; never 0.
  @inline(__always)
  static var currentThread: UInt {
    #if canImport(Glibc)
      pthread_self()
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  // MARK: Sockets

  /// Makes a stream socket that does not block, is not inherited, and raises no SIGPIPE.
  static func streamSocket(family: Int32) throws(Errno) -> Descriptor {
    #if canImport(Darwin)
      let socket = Descriptor(try check { Darwin.socket(family, SOCK_STREAM, 0) })
      // Darwin has no flags at creation. A fork between the two calls can inherit the socket.
      try check { fcntl(socket.raw, F_SETFD, FD_CLOEXEC) }
      try check { fcntl(socket.raw, F_SETFL, O_NONBLOCK) }
      try setOption(SOL_SOCKET, SO_NOSIGPIPE, to: 1, of: socket.raw)
    #elseif canImport(Musl)
      let type = cel_stream_type | cel_stream_flags
      let socket = Descriptor(try check { Musl.socket(family, type, 0) })
    #else
      let type = cel_stream_type | cel_stream_flags
      let socket = Descriptor(try check { Glibc.socket(family, type, 0) })
    #endif
    return socket
  }

  static func bind(_ socket: Int32, to address: SocketAddress) throws(Errno) {
    try check {
      address.withPointer { pointer, length in
        #if canImport(Darwin)
          Darwin.bind(socket, pointer, length)
        #elseif canImport(Musl)
          Musl.bind(socket, pointer, length)
        #else
          Glibc.bind(socket, pointer, length)
        #endif
      }
    }
  }

  static func listen(_ socket: Int32) throws(Errno) {
    try check {
      #if canImport(Darwin)
        Darwin.listen(socket, SOMAXCONN)
      #elseif canImport(Musl)
        Musl.listen(socket, SOMAXCONN)
      #else
        Glibc.listen(socket, SOMAXCONN)
      #endif
    }
  }

  /// Takes a connection from the queue of a listening socket, in the form of
  /// ``streamSocket(family:)``.
  static func accept(_ socket: Int32) throws(Errno) -> Descriptor {
    #if canImport(Darwin)
      let accepted = Descriptor(try check { Darwin.accept(socket, nil, nil) })
      try check { fcntl(accepted.raw, F_SETFD, FD_CLOEXEC) }
      try check { fcntl(accepted.raw, F_SETFL, O_NONBLOCK) }
      try setOption(SOL_SOCKET, SO_NOSIGPIPE, to: 1, of: accepted.raw)
    #else
      let accepted = Descriptor(try check { accept4(socket, nil, nil, cel_stream_flags) })
    #endif
    return accepted
  }

  /// Starts to connect; how it went is heard by ``connectError(_:)`` once the socket is writable.
  static func connect(_ socket: Int32, to address: SocketAddress) throws(Errno) {
    let result = address.withPointer { pointer, length in
      #if canImport(Darwin)
        Darwin.connect(socket, pointer, length)
      #elseif canImport(Musl)
        Musl.connect(socket, pointer, length)
      #else
        Glibc.connect(socket, pointer, length)
      #endif
    }
    let number = errno
    // An interrupted connect goes on by itself, as if it had been in progress (POSIX).
    guard result == -1, number != EINPROGRESS, number != EINTR else { return }
    throw Errno(number)
  }

  /// How the attempt of ``connect(_:to:)`` ended; nil when the socket is connected.
  package static func connectError(_ socket: Int32) -> Errno? {
    var number: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    if getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length) == -1 { return Errno(errno) }
    if number != 0 { return Errno(number) }
    guard let peer = SocketAddress(of: socket, by: getpeername) else { return Errno(errno) }
    // A client that dials a port of the ephemeral range on its own host can be given that very port
    // as its source, and TCP's simultaneous open then connects the socket to itself (RFC 9293
    // section 3.5). Nobody listens there.
    return SocketAddress(of: socket, by: getsockname) == peer ? Errno(ECONNREFUSED) : nil
  }

  /// Receives into the buffer: a count, 0 at the end, or a negated errno.
  @inline(__always)
  static func receive(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    call { recv(socket, buffer.baseAddress, buffer.count, 0) }
  }

  /// Sends what is taken now: a count or a negated errno. A broken stream is EPIPE, never a signal.
  @inline(__always)
  static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      call { Darwin.send(socket, bytes.baseAddress, bytes.count, 0) }
    #elseif canImport(Musl)
      call { Musl.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    #else
      call { Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    #endif
  }

  /// Sends FIN behind what was written. ENOTCONN, after a reset, says what a read will say too.
  static func finishWriting(_ socket: Int32) {
    _ = shutdown(socket, Int32(SHUT_WR))
  }

  // MARK: Bytes

  /// The offset of the first such byte, or nil.
  @inline(__always)
  static func firstOffset(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress, let hit = memchr(base, Int32(byte), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(hit) - base
  }
}
