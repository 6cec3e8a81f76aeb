import ConnectionFSM
import Synchronization

/// An event loop in virtual time that runs only when the test says so.
final class ManualLoop: EventLoop {
  private struct State {
    var now = Instant.origin
    var work: [@Sendable () -> Void] = []
    var jobs: [UnownedJob] = []
    var hasStopped = false
  }

  private let state = Mutex(State())
  // Touched only from work on the loop, which the test's own thread runs.
  private nonisolated(unsafe) var deadlines: [(handler: any DeadlineHandler, at: Instant)] = []

  var now: Instant { state.withLock { $0.now } }

  /// How many handlers are armed.
  var armed: Int { deadlines.count }

  @discardableResult
  func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if !state.hasStopped { state.work.append(work) }
      return !state.hasStopped
    }
  }

  /// Refuses everything from now on.
  func stop() { state.withLock { $0.hasStopped = true } }

  /// Lets go of all that is armed, as a loop does that has stopped.
  func forgetDeadlines() {
    let handlers = deadlines
    deadlines = []
    withExtendedLifetime(handlers) {}
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  func arm(_ handler: any DeadlineHandler, at deadline: Instant?) {
    deadlines.removeAll { $0.handler === handler }
    if let deadline { deadlines.append((handler, deadline)) }
  }

  /// Runs what is ready now, and what that makes ready.
  func settle() {
    while true {
      let work = state.withLock { state -> [@Sendable () -> Void] in
        defer { state.work = [] }
        return state.work
      }
      if work.isEmpty { return }
      for piece in work { piece() }
    }
  }

  /// Lets time pass, with every deadline on its way.
  func advance(by span: TimeSpan) {
    settle()
    let end = now + span
    while let next = deadlines.map(\.at).min(), next <= end {
      state.withLock { $0.now = max($0.now, next) }
      guard let place = deadlines.firstIndex(where: { $0.at == next }) else { break }
      let handler = deadlines.remove(at: place).handler
      handler.deadlineReached()
      settle()
    }
    state.withLock { $0.now = end }
  }
}
