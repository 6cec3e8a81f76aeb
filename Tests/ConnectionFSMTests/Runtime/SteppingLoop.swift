import ConnectionFSM

/// An event loop that runs one piece of work at a time, and when there is none, the next deadline.
///
/// Unchecked: a test's own thread does everything.
final class SteppingLoop: EventLoop, @unchecked Sendable {
  private(set) var now = Instant.origin
  private var work = FIFO<@Sendable () -> Void>()
  private var deadlines: [(handler: any DeadlineHandler, at: Instant)] = []

  /// Whether nothing is ready and nothing armed.
  var isEmpty: Bool { work.isEmpty && deadlines.isEmpty }

  @discardableResult
  func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    self.work.append(work)
    return true
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  func arm(_ handler: any DeadlineHandler, at deadline: Instant?) {
    deadlines.removeAll { $0.handler === handler }
    if let deadline { deadlines.append((handler, deadline)) }
  }

  /// Runs the next piece; false if there is none.
  func step() -> Bool {
    if let piece = work.popFirst() {
      piece()
      return true
    }
    guard let place = deadlines.indices.min(by: { deadlines[$0].at < deadlines[$1].at }) else {
      return false
    }
    let (handler, at) = deadlines.remove(at: place)
    now = max(now, at)
    handler.deadlineReached()
    return true
  }
}
