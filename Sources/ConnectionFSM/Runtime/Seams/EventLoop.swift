/// The one thread of control on which a connection lives: a clock, a timer, and a place to run.
///
/// Everything of one connection (machine, transport, callbacks) runs on one loop, one piece of work
/// after the other, so that nothing in it needs a lock. As a `TaskExecutor` the loop also runs
/// tasks that prefer it, without a hop between threads.
public protocol EventLoop: TaskExecutor {
  /// The time on the loop's monotonic clock, which counts the time asleep where the system can.
  /// Callable from anywhere.
  var now: Instant { get }

  /// Runs the work on the loop, after all that was given before. Callable from anywhere, also from
  /// the loop itself: the work then runs later, never inside the call.
  /// - Returns: False if the loop has stopped: the work will not run.
  @discardableResult
  func execute(_ work: @escaping @Sendable () -> Void) -> Bool

  /// Calls the handler once the deadline has come; replaces the handler's earlier deadline, and nil
  /// takes it away. To be called on the loop. The loop retains the handler while it is armed.
  func arm(_ handler: any DeadlineHandler, at deadline: Instant?)
}

/// Whoever waits for a deadline on an ``EventLoop``.
public protocol DeadlineHandler: AnyObject {
  /// The deadline has come, or the loop is early; the handler arms anew if it wants to be called
  /// again.
  func deadlineReached()
}
