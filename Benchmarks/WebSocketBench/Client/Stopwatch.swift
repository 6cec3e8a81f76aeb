#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What an exchange took, on the wall and of the processor. Used by one thread at a time.
final class Stopwatch: @unchecked Sendable {
  private var began = ContinuousClock.now
  private var processorBegan = Duration.zero
  private(set) var elapsed = Duration.zero
  private(set) var processor = Duration.zero

  func start() {
    processorBegan = Self.processorTime
    began = .now
  }

  func stop() {
    elapsed = began.duration(to: .now)
    processor = Self.processorTime - processorBegan
  }

  private static var processorTime: Duration {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    return .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec))
  }
}
