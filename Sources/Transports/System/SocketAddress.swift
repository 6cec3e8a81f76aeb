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

  /// The address of a socket in the file system; nil if the path is empty or has more bytes than
  /// ``longestPath``.
  package init?(path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
    storage.ss_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &storage) { storage in
      for (place, byte) in bytes.enumerated() { storage[Self.pathOffset + place] = byte }
    }
    // With the NUL that ends the path.
    length = socklen_t(Self.pathOffset + bytes.count + 1)
    #if canImport(Darwin)
      storage.ss_len = UInt8(length)
    #endif
  }

  /// How many bytes the path of a socket may have: 107 on Linux, 103 on Apple systems.
  package static var longestPath: Int { MemoryLayout<sockaddr_un>.size - pathOffset - 1 }

  // sun_path comes right behind the family in every system's layout.
  private static var pathOffset: Int {
    MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
  }

  /// The path of a socket in the file system; nil for anything else.
  var path: String? {
    guard family == AF_UNIX else { return nil }
    return withUnsafeBytes(of: storage) { bytes in
      let path = bytes[min(Self.pathOffset, Int(length))..<Int(length)].prefix { $0 != 0 }
      return String(decoding: path, as: UTF8.self)
    }
  }

  /// AF_INET, AF_INET6 …
  package var family: Int32 { Int32(storage.ss_family) }

  /// Whether it is the address of a host, not of a path.
  var isOfInternet: Bool { family == AF_INET || family == AF_INET6 }

  /// The port, of an address of the internet.
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
  /// - Parameters:
  ///   - numeric: The host is an address already, an IPv6 one perhaps with its zone
  ///     (`fe80::1%eth0`). Does not block then; otherwise for as long as the resolver likes, which
  ///     can be half a minute.
  ///   - family: Of which addresses; nil is both, one after the other.
  package init(host: String, port: UInt16, numeric: Bool, family: AddressFamily? = nil) {
    var hints = addrinfo()
    hints.ai_family = family?.number ?? AF_UNSPEC
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
      self = .failed(Cause(resolverCode: code, errno: number, family: family))
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

  /// What is left of it for a question about one family.
  package func of(_ family: AddressFamily) -> Resolution {
    guard case .addresses(let all) = self else { return self }
    let some = all.filter { $0.family == family.number }
    return some.isEmpty ? .failed(.resolution(.unknownName)) : .addresses(some)
  }
}

extension AddressFamily {
  /// AF_INET6 or AF_INET.
  var number: Int32 { self == .version6 ? AF_INET6 : AF_INET }
}
