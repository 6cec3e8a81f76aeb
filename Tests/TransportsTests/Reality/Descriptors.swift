#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How a thread comes to have no descriptor left while the rest of the process does not notice.
enum Descriptors {
  /// Whether the system lets a thread have descriptors of its own, and few enough of them.
  static var canBeExhausted: Bool {
    #if os(Linux)
      var limit = rlimit()
      #if canImport(Musl)
        getrlimit(RLIMIT_NOFILE, &limit)
      #else
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #endif
      return limit.rlim_cur <= 1 << 17
    #else
      return false
    #endif
  }

  /// From now on the thread, and those that it starts, have a table of descriptors of their own.
  static func separate() {
    #if os(Linux)
      // Not in the C library's module for Swift.
      typealias Unshare = @convention(c) (Int32) -> Int32
      let cloneFiles: Int32 = 0x400
      guard let symbol = dlsym(nil, "unshare") else { fatalError("there is no unshare") }
      let result = unsafeBitCast(symbol, to: Unshare.self)(cloneFiles)
      if result != 0 { fatalError("unshare failed, errno \(errno)") }
    #endif
  }

  /// Leaves none.
  static func exhaust() {
    while dup(2) >= 0 {}
  }
}
