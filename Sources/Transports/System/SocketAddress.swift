package import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import CEventLoop
  import Musl
#else
  import CEventLoop
  import Glibc
#endif

/// An address a socket can be connected to, in the operating system's own form.
package struct SocketAddress: Sendable {
  private var storage = sockaddr_storage()
  private var length: socklen_t = 0

  /// Copies an address of the given length.
  init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(
        from: UnsafeRawBufferPointer(start: address, count: Int(self.length)))
    }
  }

  /// Asks a socket for one of its two ends, with `getsockname` or `getpeername`.
  init?(
    of socket: Int32,
    by ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) {
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { addresses in
        addresses.baseAddress.map { ask(socket, $0, &length) } ?? -1
      }
    }
    guard result == 0 else { return nil }
    self.length = length
  }

  /// AF_INET, AF_INET6 …
  package var family: Int32 { Int32(storage.ss_family) }

  /// The port, of an address that has one.
  package var port: UInt16 {
    get {
      withUnsafeBytes(of: storage) {
        UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
      }
    }
    set {
      // sin_port and sin6_port lie at the same place in every system's layout.
      withUnsafeMutableBytes(of: &storage) {
        $0.storeBytes(of: newValue.bigEndian, toByteOffset: 2, as: UInt16.self)
      }
    }
  }

  func withPointer<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}

extension SocketAddress: Equatable {
  package static func == (left: SocketAddress, right: SocketAddress) -> Bool {
    left.length == right.length
      && withUnsafeBytes(of: left.storage) { a in
        withUnsafeBytes(of: right.storage) { b in
          a.prefix(Int(left.length)).elementsEqual(b.prefix(Int(right.length)))
        }
      }
  }
}

/// What a look-up of a host name gave.
package enum Resolution: Equatable, Sendable {
  /// At least one address, in the resolver's order of preference (RFC 6724).
  case addresses([SocketAddress])
  /// There is none.
  case failed(Cause)
}

extension Resolution {
  /// Asks the system's resolver.
  /// - Parameter numeric: The host is an address already, an IPv6 one perhaps with its zone
  ///   (`fe80::1%eth0`). Does not block then; otherwise for as long as the resolver likes, which
  ///   can be half a minute.
  package init(host: String, port: UInt16, numeric: Bool) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    #if canImport(Darwin)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = cel_stream_type
    #endif
    hints.ai_flags = numeric ? Int32(AI_NUMERICHOST) : 0
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    let number = errno
    guard code == 0 else {
      self = .failed(Cause(resolverCode: code, errno: number))
      return
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let current = entry {
      if let pointer = current.pointee.ai_addr {
        var address = SocketAddress(pointer, length: current.pointee.ai_addrlen)
        address.port = port
        addresses.append(address)
      }
      entry = current.pointee.ai_next
    }
    self = addresses.isEmpty ? .failed(.resolution(.unknownName)) : .addresses(addresses)
  }
}
