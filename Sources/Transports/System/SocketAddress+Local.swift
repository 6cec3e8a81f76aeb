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

extension SocketAddress {
  /// Where to dial a peer from: that numeric address, if it is of the peer's family, or the
  /// interface's of that name. With port 0, which is any.
  /// - Throws: EAFNOSUPPORT for a numeric address of the other family, EADDRNOTAVAIL when there is
  ///   no such interface, or it has no address of the family.
  static func local(_ name: String, for peer: SocketAddress) throws(Errno) -> SocketAddress {
    if case .addresses(let addresses) = Resolution(host: name, port: 0, numeric: true) {
      guard let address = addresses.first(where: { $0.family == peer.family }) else {
        throw Errno(EAFNOSUPPORT)
      }
      return address
    }
    // Binding to an address needs no privilege; binding to the interface itself does on Linux.
    let candidates = ofInterface(name).filter { $0.family == peer.family }
    let reach = peer.isLinkLocal
    guard let address = candidates.first(where: { $0.isLinkLocal == reach }) ?? candidates.first
    else { throw Errno(EADDRNOTAVAIL) }
    return address
  }

  private static func ofInterface(_ name: String) -> [SocketAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let current = entry {
      entry = current.pointee.ifa_next
      guard let address = current.pointee.ifa_addr, strcmp(current.pointee.ifa_name, name) == 0
      else { continue }
      // The address itself does not say how long it is on Linux.
      switch Int32(address.pointee.sa_family) {
      case AF_INET:
        addresses.append(
          SocketAddress(address, length: socklen_t(MemoryLayout<sockaddr_in>.size)))
      case AF_INET6:
        addresses.append(
          SocketAddress(address, length: socklen_t(MemoryLayout<sockaddr_in6>.size)))
      default: break
      }
    }
    return addresses
  }

  /// Whether it is an IPv6 address that means something on one link alone: fe80::/10.
  private var isLinkLocal: Bool {
    guard family == AF_INET6 else { return false }
    return withPointer { pointer, _ in
      pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
      }
    }
  }
}
