#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How many descriptors this process may have.
enum DescriptorLimit {
  /// Raises the soft limit as far as it goes.
  /// - Returns: How many that are.
  static func raise() -> Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    guard getrlimit(kind, &limit) == 0 else { return 0 }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    // Refused where the hard limit is more than the system gives: the soft one stays then.
    if setrlimit(kind, &raised) == 0 { limit = raised }
    return Int(clamping: limit.rlim_cur)
  }
}
