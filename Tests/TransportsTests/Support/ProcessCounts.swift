#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What this process holds, seen from outside the package.
enum ProcessCounts {
  /// Open TCP sockets. Not every descriptor: other tests of this process start programs meanwhile,
  /// with pipes and socket pairs of their own.
  static var sockets: Int {
    #if canImport(Darwin)
      let descriptors = entries(of: "/dev/fd")
    #else
      let descriptors = entries(of: "/proc/self/fd")
    #endif
    return descriptors.compactMap { Int32($0) }.count { descriptor in
      var address = sockaddr()
      var length = socklen_t(MemoryLayout<sockaddr>.size)
      guard getsockname(descriptor, &address, &length) == 0 else { return false }
      return [AF_INET, AF_INET6].contains(Int32(address.sa_family))
    }
  }

  /// Timers, of which each loop holds one; Linux only. The system's own libraries may hold a few.
  static var timers: Int {
    entries(of: "/proc/self/fd").count { descriptor in
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/self/fd/\(descriptor)", &target, 63)
      return count > 0 && target.starts(with: "anon_inode:[timerfd]".utf8CString.dropLast())
    }
  }

  /// Threads of the loops and the resolver; Linux only.
  static var threads: Int {
    entries(of: "/proc/self/task").count { thread in
      guard let file = fopen("/proc/self/task/\(thread)/comm", "r") else { return false }
      defer { fclose(file) }
      var name = [CChar](repeating: 0, count: 32)
      guard fgets(&name, 32, file) != nil else { return false }
      return name.starts(with: "socket-".utf8CString.dropLast())
    }
  }

  private static func entries(of path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
