import Foundation

/// Processor time of this thread: what others do on the same machine counts only as far as they
/// take its caches.
enum Stopwatch {
  /// How many seconds the work took.
  static func seconds<Failure: Error>(
    _ work: () throws(Failure) -> Void
  ) throws(Failure) -> Double {
    let start = now
    try work()
    return now - start
  }

  /// The median of several runs.
  static func median<Failure: Error>(
    of runs: Int, _ run: () throws(Failure) -> Double
  ) throws(Failure) -> Double {
    var times: [Double] = []
    for _ in 0..<runs { times.append(try run()) }
    return times.sorted()[runs / 2]
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
