#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What the simulation asks of Swift's concurrency runtime that no public interface offers: which
/// task a job belongs to, whether a task has ended, and to be asked where a job goes.
///
/// Looked up by name when the first simulation runs, for simulations alone. What a runtime does not
/// have is done without: tasks then have no numbers, or escapes are not captured. Verified with
/// Swift 6.3 on Linux, not yet on Apple platforms; in an executable that links the runtime
/// statically the names are not to be found.
enum Runtime {
  private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
    #if canImport(Darwin)
      // RTLD_DEFAULT, a cast that C headers hide from Swift.
      return dlsym(UnsafeMutableRawPointer(bitPattern: -2), name)
    #else
      return dlsym(nil, name)
    #endif
  }

  static func function<Function>(_ name: String, as _: Function.Type) -> Function? {
    symbol(name).map { unsafeBitCast($0, to: Function.self) }
  }

  static func variable<Value>(
    _ name: String, as type: Value.Type
  ) -> UnsafeMutablePointer<Value>? {
    symbol(name)?.assumingMemoryBound(to: type)
  }
}

// MARK: Tasks

/// A task as the object that it is for the runtime: enough to hold it weakly.
final class TaskObject {}

extension Runtime {
  private typealias IDOfJob = @convention(thin) (UnownedJob) -> UInt64
  private typealias FlagsOfJob = @convention(thin) (UnownedJob) -> UInt32
  private typealias Escalate = @convention(thin) (UnownedJob, UInt) -> UInt

  private static let idOfJob = function("swift_task_getJobTaskId", as: IDOfJob.self)
  private static let flagsOfJob = function("swift_task_getJobFlags", as: FlagsOfJob.self)
  private static let escalate = function("swift_task_escalate", as: Escalate.self)

  /// The number of the job's task, unique in the process; nil if the job belongs to none.
  static func taskID(of job: UnownedJob) -> UInt64? {
    guard let id = idOfJob?(job), id != 0 else { return nil }
    return id
  }

  /// The task that runs on this thread.
  static var currentTask: UnownedJob? {
    // Both are one pointer to the task, as `swift_task_getCurrent` gives it.
    withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: UnownedJob.self) } }
  }

  /// Whether the task belongs to another one: a child in a group or an `async let`.
  static func isChild(_ task: UnownedJob) -> Bool {
    guard let flagsOfJob else { return true }
    return flagsOfJob(task) & (1 << 24) != 0
  }

  /// Whether the task lies in its parent's memory, as an `async let` does, and can be held by
  /// nobody else: a child, but not one in a group.
  static func isInParent(_ task: UnownedJob) -> Bool {
    guard let flagsOfJob else { return true }
    return flagsOfJob(task) & (1 << 24 | 1 << 26) == 1 << 24
  }

  /// Whether the job is an actor's own, to run the tasks that wait for it.
  static func isActor(_ job: UnownedJob) -> Bool {
    guard let flagsOfJob else { return false }
    return (0xC0...0xC2).contains(flagsOfJob(job) & 0xFF)
  }

  /// Whether the task was made with a preference for an executor.
  static func prefersExecutor(_ task: UnownedJob) -> Bool {
    guard let flagsOfJob else { return true }
    return flagsOfJob(task) & (1 << 29) != 0
  }

  /// The task as an object. Not for an `async let`, which lives in its parent's memory. The runtime
  /// frees a task without a look at who held it weakly, so that each leaves 48 bytes behind.
  static func object(_ task: UnownedJob) -> TaskObject { unsafeBitCast(task, to: TaskObject.self) }

  /// Whether the task is still to end; asked once a task, since the answer is had by raising its
  /// priority, which the runtime does for every task but one that has ended.
  static func isUnended(_ task: TaskObject) -> Bool {
    let job = unsafeBitCast(task, to: UnownedJob.self)
    let highest: UInt = 0x21  // the highest that a task may have: user-interactive
    guard let escalate, UInt(job.priority.rawValue) < highest else { return false }
    return escalate(job, highest) == highest
  }
}
