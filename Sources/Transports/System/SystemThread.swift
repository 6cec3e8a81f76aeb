#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import CEventLoop
  import Musl
#else
  import CEventLoop
  import Glibc
#endif

/// A thread of our own, to be joined or detached exactly once.
package struct SystemThread: @unchecked Sendable {
  // Unchecked: the handle is a pointer on some systems, and never looked into.
  private let handle: pthread_t

  /// Starts a thread; its name, of at most 15 bytes, is what debuggers and `top -H` show.
  package static func start(
    _ name: StaticString, _ body: @escaping @Sendable () -> Void
  ) throws(Errno) -> SystemThread {
    #if canImport(Glibc)
      var handle = pthread_t()
    #else
      var handle: pthread_t?
    #endif
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let error = pthread_create(&handle, nil, runThread, start.toOpaque())
    guard error == 0 else {
      start.release()
      throw Errno(error)
    }
    #if canImport(Glibc)
      return SystemThread(handle: handle)
    #else
      return SystemThread(handle: handle!)  // set by pthread_create whenever it answers 0
    #endif
  }

  /// Lets other threads run.
  package static func yield() { sched_yield() }

  /// Waits until the thread has ended.
  package func join() { pthread_join(handle, nil) }

  /// Lets the thread free itself when it ends.
  package func detach() { pthread_detach(handle) }
}

private final class Start: Sendable {
  let name: StaticString
  let body: @Sendable () -> Void

  init(name: StaticString, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }

  func run() {
    name.withUTF8Buffer { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { characters in
        guard let characters = characters.baseAddress else { return }
        #if canImport(Darwin)
          pthread_setname_np(characters)
        #else
          _ = cel_name_thread(characters)
        #endif
      }
    }
    body()
  }
}

#if canImport(Darwin)
  private func runThread(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Start>.fromOpaque(start).takeRetainedValue().run()
    return nil
  }
#else
  private func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let start else { return nil }
    Unmanaged<Start>.fromOpaque(start).takeRetainedValue().run()
    return nil
  }
#endif
