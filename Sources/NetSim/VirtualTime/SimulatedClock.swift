public import ConnectionFSM

/// A clock of a simulated device. A task that sleeps on it waits in the simulation's one heap, so
/// that an hour passes at once and always in the same order.
///
/// Give it to code that takes `any Clock<Duration>` or is generic over its clock.
public struct SimulatedClock: Clock {
  let loop: SimulatedEventLoop
  let isSuspending: Bool

  /// The time on this clock: nanoseconds since the simulation began, as the device counts them.
  public var now: Instant { isSuspending ? loop.suspendingNow : loop.now }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until that instant; the tolerance is not used. A deadline that has passed
  /// lets everything run that is ready now.
  /// - Throws: `CancellationError` as soon as the task is cancelled, and at once when the
  ///   simulation has ended or the task does not run in it.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let sleeper = Sleeper(loop: loop)
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        sleeper.sleep(until: deadline, isSuspending: isSuspending, continuation)
      }
    } onCancel: {
      sleeper.cancel()
    }
  }
}

/// A task that sleeps on a simulated clock.
final class Sleeper: @unchecked Sendable {
  // Unchecked: touched by the simulation's thread alone; each way in asks for it.
  private let loop: SimulatedEventLoop
  private var continuation: UnsafeContinuation<Void, any Error>?
  private var alarm: Alarm?
  private var isCancelled = false
  private var task: TaskRecord?

  init(loop: SimulatedEventLoop) { self.loop = loop }

  func sleep(
    until deadline: Instant, isSuspending: Bool,
    _ continuation: UnsafeContinuation<Void, any Error>
  ) {
    guard loop.time.admits(.foreignSleep), loop.time.stage == .running, !isCancelled else {
      continuation.resume(throwing: CancellationError())
      return
    }
    self.continuation = continuation
    task = loop.time.currentTask()
    let alarm = Alarm(
      .sleeper(self), on: loop, at: deadline, actor: loop.number, isSuspending: isSuspending)
    self.alarm = alarm
    loop.time.schedule(alarm)
  }

  /// What the task is called.
  var name: String { task?.description ?? "no task" }

  /// The time has come.
  func wake() {
    alarm = nil
    continuation.take()?.resume()
  }

  func cancel() {
    guard loop.time.admits(.foreignSleep) else { return }
    isCancelled = true
    if let alarm = alarm.take() { loop.time.empty(alarm) }
    continuation.take()?.resume(throwing: CancellationError())
  }
}
