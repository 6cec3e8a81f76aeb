import Foundation

/// What this process holds and takes; Linux's /proc, zero elsewhere.
enum ProcessFacts {
  /// Says why, and ends.
  static func fail(_ reason: String) -> Never {
    print("crowd-bench: \(reason)")
    fflush(nil)
    exit(EXIT_FAILURE)
  }

  /// Lets it have as many descriptors as it may.
  static func raiseDescriptorLimit() {
    var limit = rlimit()
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    // Refused only where the hard limit is more than the system gives: the soft one stays then.
    _ = setrlimit(kind, &limit)
  }

  static var residentBytes: Int { status("VmRSS:") }

  static var peakResidentBytes: Int { status("VmHWM:") }

  /// Open TCP sockets; Foundation keeps sockets of other kinds.
  static var sockets: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { Int32($0) }.count { descriptor in
      var address = sockaddr()
      var length = socklen_t(MemoryLayout<sockaddr>.size)
      guard getsockname(descriptor, &address, &length) == 0,
        Int32(address.sa_family) == AF_INET
      else { return false }
      var noDelay: Int32 = 0
      length = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, &length) == 0
    }
  }

  private static func status(_ field: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
    let kibibytes = line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0
    return kibibytes << 10
  }
}
