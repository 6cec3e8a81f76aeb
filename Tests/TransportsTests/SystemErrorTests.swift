import ConnectionFSM
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("I15: errors by symbol")
struct SystemErrorTests {
  @Test("F14, B0.13: every errno of the table has its symbol and its class")
  func errnoTable() {
    let table: [(Int32, SystemError, FailureClass)] = [
      (ECONNREFUSED, .connectionRefused, .transient), (ETIMEDOUT, .timedOut, .transient),
      (EHOSTUNREACH, .hostUnreachable, .transient), (EHOSTDOWN, .hostDown, .transient),
      (ENETUNREACH, .networkUnreachable, .network), (ENETDOWN, .networkDown, .network),
      (ENETRESET, .networkReset, .transient), (ECONNRESET, .connectionReset, .transient),
      (ECONNABORTED, .connectionAborted, .transient), (EPIPE, .brokenPipe, .transient),
      (ESHUTDOWN, .brokenPipe, .transient), (ENOTCONN, .notConnected, .transient),
      (EADDRNOTAVAIL, .addressNotAvailable, .transient), (EADDRINUSE, .addressInUse, .transient),
      (EMFILE, .tooManyOpenFiles, .transient), (ENFILE, .tooManyOpenFiles, .transient),
      (ENOBUFS, .noBufferSpace, .transient), (ENOMEM, .noBufferSpace, .transient),
      (EACCES, .accessDenied, .terminal), (EPERM, .accessDenied, .terminal),
      (EAFNOSUPPORT, .addressFamilyNotSupported, .terminal),
      (EPROTONOSUPPORT, .internalFault, .terminal), (EINVAL, .internalFault, .terminal),
      (ENOTSOCK, .internalFault, .terminal), (EBADF, .internalFault, .terminal),
      (EISCONN, .internalFault, .terminal), (EPROTO, .protocolFailure, .transient),
      (EMSGSIZE, .other, .transient), (ECANCELED, .other, .transient),
    ]
    for (number, symbol, failureClass) in table {
      #expect(SystemError(errno: number) == symbol)
      #expect(Errno(number).cause.failureClass == failureClass)
    }
  }

  @Test("I7: every number has a symbol, and one nobody knows is retried")
  func totality() {
    for number in Int32(-300)...300 { _ = SystemError(errno: number) }
    for number in [Int32.min, 0, 4095, .max] {
      #expect(SystemError(errno: number) == .other)
      #expect(Cause(resolverCode: number == 0 ? 4095 : number, errno: 0).failureClass == .transient)
    }
  }

  @Test("F14: every answer of getaddrinfo has its symbol, EAI_SYSTEM that of errno")
  func resolverTable() {
    let table: [(Int32, ResolutionError)] = [
      (EAI_AGAIN, .temporaryFailure), (EAI_NONAME, .unknownName), (EAI_FAIL, .permanentFailure),
      (EAI_MEMORY, .outOfMemory), (EAI_FAMILY, .misconfigured), (EAI_SOCKTYPE, .misconfigured),
      (EAI_SERVICE, .misconfigured), (EAI_BADFLAGS, .misconfigured),
      (EAI_OVERFLOW, .misconfigured),
    ]
    for (code, symbol) in table {
      #expect(Cause(resolverCode: code, errno: ENETDOWN) == .resolution(symbol))
    }
    #expect(Cause(resolverCode: EAI_SYSTEM, errno: ENETDOWN) == .system(.networkDown))
    // Asked for one family, a host or a system that has none of it is no misuse.
    for family in AddressFamily.allCases {
      #expect(
        Cause(resolverCode: EAI_FAMILY, errno: 0, family: family) == .resolution(.unknownName))
    }
    #if os(Linux)
      // EAI_NODATA and EAI_ADDRFAMILY, which the C headers hide.
      #expect(Cause(resolverCode: -5, errno: 0) == .resolution(.unknownName))
      #expect(Cause(resolverCode: -9, errno: 0) == .resolution(.misconfigured))
      #expect(
        Cause(resolverCode: -9, errno: 0, family: .version6) == .resolution(.unknownName))
    #endif
  }

  @Test("binding to a source address that no interface has is EADDRNOTAVAIL")
  func addressNotAvailable() {
    let peer = Peer.unbound(isIPv6: false)
    defer { peer.close() }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    // 192.0.2.1, of the block for documentation (RFC 5737): on no interface, and nothing is sent.
    address.sin_addr.s_addr = UInt32(0xC000_0201).bigEndian
    let result = withUnsafeBytes(of: address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        bind(peer.descriptor, $0.baseAddress!, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(result == -1 && SystemError(errno: errno) == .addressNotAvailable)
  }

  @Test("a socket that TCP's simultaneous open connected to itself counts as refused")
  func connectedToItself() {
    let (peer, port) = Peer.bound("127.0.0.1")
    defer { peer.close() }
    let result = Peer.withLoopback(false, port: port) { connect(peer.descriptor, $0, $1) }
    #expect(result == 0)
    #expect(System.connectError(peer.descriptor) == Errno(ECONNREFUSED))
  }

  @Test("a loop that cannot be made says what is missing")
  func loopError() {
    #expect(LoopError(Errno(EMFILE)).description.contains("ulimit -n"))
    #expect(LoopError(Errno(EAGAIN)).description.contains("one thread"))
  }
}
