import ConnectionFSM
import Synchronization
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A blocking POSIX socket of the other side; used by one thread at a time.
struct Peer: Sendable {
  let descriptor: Int32

  /// Up to so many bytes; fewer at the end.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while bytes.count < count {
      let got = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0)
      if got <= 0 { break }
      bytes += buffer[..<got]
    }
    return bytes
  }

  func readToEnd() -> [UInt8] { read(.max) }

  func write(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    var offset = 0
    while offset < bytes.count {
      let sent = bytes[offset...].withUnsafeBytes {
        #if canImport(Darwin)
          send(descriptor, $0.baseAddress, $0.count, 0)
        #else
          send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        #endif
      }
      if sent <= 0 { return }
      offset += sent
    }
  }

  func write(_ text: String) { write(text.utf8) }

  func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Echoes until the end.
  func echo() {
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      let got = recv(descriptor, &buffer, buffer.count, 0)
      if got <= 0 { return }
      write(buffer[..<got])
    }
  }

  /// Makes the coming close a reset (RST) instead of an orderly end.
  func resetOnClose() {
    setOption(SO_LINGER, linger(l_onoff: 1, l_linger: 0))
  }

  func setOption<Value>(_ name: Int32, _ value: Value) {
    _ = withUnsafePointer(to: value) {
      setsockopt(descriptor, SOL_SOCKET, name, $0, socklen_t(MemoryLayout<Value>.size))
    }
  }

  func option(_ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, level, name, &value, &length)
    return value
  }

  func close() {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }

  static func unbound(isIPv6: Bool) -> Peer {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    return Peer(descriptor: socket(isIPv6 ? AF_INET6 : AF_INET, type, 0))
  }

  /// A stream socket bound to a free port of 127.0.0.1 or ::1.
  static func bound(_ host: String) -> (peer: Peer, port: UInt16) {
    let isIPv6 = host.contains(":")
    let peer = unbound(isIPv6: isIPv6)
    guard withLoopback(isIPv6, port: 0, { bind(peer.descriptor, $0, $1) }) == 0 else {
      fatalError("no port of \(host) could be bound, errno \(errno)")
    }
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    _ = withUnsafeMutableBytes(of: &address) {
      $0.withMemoryRebound(to: sockaddr.self) {
        getsockname(peer.descriptor, $0.baseAddress!, &length)
      }
    }
    // The port of both families lies at the same place.
    return (peer, UInt16(bigEndian: address.sin6_port))
  }

  /// A blocking client socket, connected.
  static func connected(to endpoint: Endpoint) -> Peer {
    let isIPv6 = endpoint.host.contains(":")
    let peer = unbound(isIPv6: isIPv6)
    guard
      withLoopback(isIPv6, port: endpoint.port, { connect(peer.descriptor, $0, $1) }) == 0
    else { fatalError("\(endpoint) could not be dialled, errno \(errno)") }
    return peer
  }

  static func withLoopback<Result>(
    _ isIPv6: Bool, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    func pass<Address>(_ address: Address) -> Result {
      withUnsafeBytes(of: address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) {
          body($0.baseAddress!, socklen_t(MemoryLayout<Address>.size))
        }
      }
    }
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      return pass(address)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return pass(address)
  }
}

/// A TCP server on a loopback address and a free port; each connection is served on a thread.
final class TestServer: Sendable {
  let host: String
  let port: UInt16
  var endpoint: Endpoint { Endpoint(host: host, port: port) }

  private let listener: Peer
  private let isStopping = Atomic(false)
  private let acceptor = Mutex<SystemThread?>(nil)
  private let servants = Mutex<[SystemThread]>([])

  /// Serves; the connection is closed when the closure returns.
  init(
    _ host: String = "127.0.0.1", _ serve: @escaping @Sendable (Peer) -> Void
  ) throws {
    self.host = host
    (listener, port) = Peer.bound(host)
    listen(listener.descriptor, 512)
    let thread = try SystemThread.start("test-server") { [self] in accept(serve) }
    acceptor.withLock { $0 = thread }
  }

  private func accept(_ serve: @escaping @Sendable (Peer) -> Void) {
    while true {
      #if canImport(Darwin)
        let descriptor = Darwin.accept(listener.descriptor, nil, nil)
      #elseif canImport(Musl)
        let descriptor = Musl.accept(listener.descriptor, nil, nil)
      #else
        let descriptor = Glibc.accept(listener.descriptor, nil, nil)
      #endif
      let peer = Peer(descriptor: descriptor)
      guard descriptor >= 0, !isStopping.load(ordering: .sequentiallyConsistent) else {
        if descriptor >= 0 { peer.close() }
        return
      }
      guard
        let thread = try? SystemThread.start(
          "test-server",
          {
            serve(peer)
            peer.close()
          })
      else { fatalError("no thread for a connection") }
      servants.withLock { $0.append(thread) }
    }
  }

  /// Waits until all connections have been served, and closes everything.
  func stop() {
    isStopping.store(true, ordering: .sequentiallyConsistent)
    let knock = Peer.connected(to: endpoint)
    acceptor.withLock { $0.take() }?.join()
    knock.close()
    listener.close()
    for thread in servants.withLock({ $0 }) { thread.join() }
  }
}

/// A port on which connecting hangs: its queue of waiting connections is full.
struct FullBacklog {
  let endpoint: Endpoint
  private let listener: Peer
  private let filler: Peer

  init(_ host: String = "127.0.0.1") {
    let (listener, port) = Peer.bound(host)
    listen(listener.descriptor, 0)
    self.listener = listener
    endpoint = Endpoint(host: host, port: port)
    filler = Peer.connected(to: endpoint)
  }

  func close() {
    filler.close()
    listener.close()
  }
}

/// A port that is taken and on which nobody listens: connecting is refused.
struct RefusedPort {
  let endpoint: Endpoint
  private let holder: Peer

  init(_ host: String = "127.0.0.1") {
    let (holder, port) = Peer.bound(host)
    self.holder = holder
    endpoint = Endpoint(host: host, port: port)
  }

  func close() { holder.close() }
}
