#if THREAD_SANITIZER
  import Transports

  /// See Sources/Transports/System/Mutex+Sanitizer.swift.
  typealias Mutex = Transports.Mutex
#endif
