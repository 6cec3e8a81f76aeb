import Foundation

/// How much memory the process takes.
enum ResidentMemory {
  /// Bytes in memory now; nil where the system does not tell.
  static var bytes: Int? {
    #if canImport(Darwin)
      // Not yet verified on Apple platforms.
      var info = mach_task_basic_info()
      var count = mach_msg_type_number_t(
        MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
      let result = withUnsafeMutablePointer(to: &info) {
        $0.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
          task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
        }
      }
      return result == KERN_SUCCESS ? Int(info.resident_size) : nil
    #else
      // The second field is the resident set in pages (proc(5)).
      guard let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
        let pages = fields.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
      else { return nil }
      return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    #endif
  }
}
