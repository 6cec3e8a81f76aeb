import ConnectionFSM
@_spi(ExperimentalScheduling) public import _Concurrency

/// Sleeps on the system's clocks, `Task.sleep(for:)` for instance, of tasks on a simulated loop.
///
/// The runtime asks the executor that it finds the task on (SE-0505, not yet public in Swift 6.3).
@_spi(ExperimentalScheduling)
@available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *)
extension SimulatedEventLoop: SchedulingExecutor {
  public func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
  ) {
    let delay = clock.now.duration(to: instant)
    enqueue(job, after: delay, tolerance: tolerance, clock: clock)
  }

  public func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
  ) {
    time.wake(
      UnownedJob(job), after: (delay as? Duration).map { TimeSpan($0) }, on: self,
      isSuspending: clock is SuspendingClock)
  }
}
