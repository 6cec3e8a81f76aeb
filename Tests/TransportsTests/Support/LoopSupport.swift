import ConnectionFSM
import Synchronization
import Testing
import Transports

/// A value that only one loop's thread touches, carried through `Sendable` closures.
final class Confined<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// What was heard, on whatever thread.
final class Tally: Sendable {
  private let words = Mutex<[String]>([])

  func add(_ word: String) { words.withLock { $0.append(word) } }

  func count(of word: String) -> Int { words.withLock { $0.count { $0 == word } } }

  var all: [String] { words.withLock { $0 } }
}

/// A deadline handler that calls a closure.
final class Alarm: DeadlineHandler, @unchecked Sendable {
  private let action: (Alarm) -> Void

  init(_ action: @escaping (Alarm) -> Void) { self.action = action }

  func deadlineReached() { action(self) }
}

extension EventLoop {
  /// Runs the body on the loop and gives its result back.
  func run<Value>(_ body: @escaping @Sendable () -> Value) async -> Value {
    let confined = Confined<Value?>(nil)
    // The thread sanitizer does not always see that the resumption comes after the work.
    let fence = Mutex(false)
    await withCheckedContinuation { continuation in
      execute {
        confined.value = body()
        fence.withLock { _ in }
        continuation.resume()
      }
    }
    fence.withLock { _ in }
    return confined.value!
  }

  /// Comes back once the loop's clock has moved so far.
  func pause(_ span: TimeSpan) async {
    await withCheckedContinuation { continuation in
      execute { self.arm(Alarm { _ in continuation.resume() }, at: self.now + span) }
    }
  }

  /// Asks on the loop, every millisecond, until the condition holds, or the test's time limit has
  /// cancelled it and so failed it.
  func until(_ condition: @escaping @Sendable () -> Bool) async {
    while await !run(condition), !Task.isCancelled { await pause(.milliseconds(1)) }
  }
}

/// Everything that opens sockets or counts descriptors runs one test after the other.
@Suite(.serialized, .timeLimit(.minutes(2)))
enum RealSockets {}
