#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Which simulation the calling thread runs, if any: several may run at the same time, each on a
/// thread of its own.
enum CurrentSimulation {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, nil)
    precondition(result == 0, "no thread-specific storage is left in this process")
    return key
  }()

  static var value: VirtualTime? {
    pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs the body as this simulation's thread.
  static func with<Value>(_ time: VirtualTime, _ body: () throws -> Value) rethrows -> Value {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(time).toOpaque())
    defer { pthread_setspecific(key, outer) }
    return try withExtendedLifetime(time, body)
  }
}
