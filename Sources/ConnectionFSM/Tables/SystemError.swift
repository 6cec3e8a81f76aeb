/// An error of the operating system, by symbol.
///
/// Never by number: 100 is `ENETDOWN` on Linux and `EPROTO` on Darwin (I15, B0.13). The table from
/// numbers to symbols belongs to the transports, which see them.
public enum SystemError: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  case connectionRefused, connectionReset, connectionAborted, timedOut, brokenPipe, notConnected
  case hostUnreachable, hostDown, networkUnreachable, networkDown, networkReset
  case addressNotAvailable, addressInUse, addressFamilyNotSupported
  case tooManyOpenFiles, noBufferSpace
  case accessDenied, protocolFailure, internalFault
  /// An errno without a row of its own: transient with a bounded budget (I15).
  case other
}

/// Why a host name was not resolved: the classes of `getaddrinfo` (RFC 3493 section 6.1).
public enum ResolutionError: UInt8, CaseIterable, BitwiseCopyable, Sendable {
  /// The resolver could not answer now (EAI_AGAIN).
  case temporaryFailure
  /// There is no such name, or it has no address (EAI_NONAME, EAI_NODATA). A device that is offline
  /// often reports the same, so it is tried again.
  case unknownName
  /// The resolver refused for good (EAI_FAIL).
  case permanentFailure
  /// The call itself was wrong (EAI_BADFLAGS, EAI_FAMILY, EAI_SERVICE …).
  case misconfigured
  /// The machine ran out of memory (EAI_MEMORY).
  case outOfMemory
}
