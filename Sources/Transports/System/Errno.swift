public import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import CEventLoop
  import Musl
#else
  import CEventLoop
  import Glibc
#endif

/// A number of the operating system's error table, on its way to a symbol.
package struct Errno: Error, Equatable {
  /// The number, which means something on this system only.
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  /// Whether it speaks of descriptors or memory, which may be had a little later.
  var isShortage: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number) }

  /// The error as the machine knows it.
  package var cause: Cause { .system(SystemError(errno: number)) }
}

extension SystemError {
  /// The symbol behind an `errno` of this system; total, and what has no row of its own is
  /// ``other``.
  public init(errno number: Int32) {
    self =
      switch number {
      case ECONNREFUSED: .connectionRefused
      case ECONNRESET: .connectionReset
      case ECONNABORTED: .connectionAborted
      case ETIMEDOUT: .timedOut
      // ESHUTDOWN: our own side has finished writing, as EPIPE says on most systems.
      case EPIPE, ESHUTDOWN: .brokenPipe
      case ENOTCONN: .notConnected
      case EHOSTUNREACH: .hostUnreachable
      case EHOSTDOWN: .hostDown
      case ENETUNREACH: .networkUnreachable
      case ENETDOWN: .networkDown
      case ENETRESET: .networkReset
      case EADDRNOTAVAIL: .addressNotAvailable
      case EADDRINUSE: .addressInUse
      case EAFNOSUPPORT: .addressFamilyNotSupported
      case EMFILE, ENFILE: .tooManyOpenFiles
      case ENOBUFS, ENOMEM: .noBufferSpace
      case EACCES, EPERM: .accessDenied
      case EPROTO: .protocolFailure
      case EPROTONOSUPPORT, EINVAL, ENOTSOCK, EBADF, EISCONN: .internalFault
      default: .other
      }
  }
}

extension Cause {
  /// The cause behind an answer of `getaddrinfo` other than 0; total. `errno` is looked at for
  /// EAI_SYSTEM alone.
  /// - Parameter family: The one that was asked for, if only one was. That the host, or this
  ///   system, has none of it is an answer then, and no misuse.
  package init(resolverCode code: Int32, errno number: Int32, family: AddressFamily? = nil) {
    #if canImport(Darwin)
      let noData = EAI_NODATA
      let addressFamily = EAI_ADDRFAMILY
    #else
      let noData = cel_eai_nodata
      let addressFamily = cel_eai_addrfamily
    #endif
    self =
      switch code {
      case EAI_SYSTEM: Errno(number).cause
      case EAI_NONAME, noData: .resolution(.unknownName)
      case addressFamily, EAI_FAMILY: .resolution(family == nil ? .misconfigured : .unknownName)
      case EAI_FAIL: .resolution(.permanentFailure)
      case EAI_MEMORY: .resolution(.outOfMemory)
      case EAI_BADFLAGS, EAI_SOCKTYPE, EAI_SERVICE, EAI_OVERFLOW: .resolution(.misconfigured)
      // EAI_AGAIN, and what no table knows: worth another try (I15).
      default: .resolution(.temporaryFailure)
      }
  }
}
