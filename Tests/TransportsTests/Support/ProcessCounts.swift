#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What this process holds, seen from outside the package.
enum ProcessCounts {
  /// Open descriptors, the one of the listing among them.
  static var descriptors: Int {
    #if canImport(Darwin)
      entries(of: "/dev/fd").count
    #else
      entries(of: "/proc/self/fd").count
    #endif
  }

  /// Open sockets; Linux only.
  static var sockets: Int {
    entries(of: "/proc/self/fd").count { descriptor in
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/self/fd/\(descriptor)", &target, 63)
      return count > 0 && target.starts(with: "socket:".utf8CString.dropLast())
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
