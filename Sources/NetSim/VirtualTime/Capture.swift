import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Brings jobs back that leave a simulation: those of tasks that prefer no loop, and those of the
/// main actor.
///
/// The runtime has one hook a process for each. Ours look at the calling thread alone: on one that
/// runs a simulation they give the job to it, and on every other one they do what would have been
/// done without them, so that whatever else runs in the process is left as it is.
enum Capture {
  private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
  private typealias EnqueueHook = @convention(thin) (UnownedJob, UnsafeRawPointer) -> Void
  private typealias MainExecutor = @convention(thin) () -> UnownedSerialExecutor
  private typealias MainExecutorHook =
    @convention(thin) (UnsafeRawPointer) -> UnownedSerialExecutor

  /// Puts the hooks in place. They stay: nothing tells when the last thread has left one.
  static func install() { _ = isInstalled }

  private static let isInstalled: Bool = {
    guard
      let enqueueHook = Runtime.variable("swift_task_enqueueGlobal_hook", as: EnqueueHook?.self),
      let mainExecutorHook = Runtime.variable(
        "swift_task_getMainExecutor_hook", as: MainExecutorHook?.self)
    else { return false }
    formerEnqueueHook.store(
      unsafeBitCast(enqueueHook.pointee, to: UInt.self), ordering: .releasing)
    formerMainExecutorHook.store(
      unsafeBitCast(mainExecutorHook.pointee, to: UInt.self), ordering: .releasing)
    enqueueHook.pointee = capture
    mainExecutorHook.pointee = mainExecutor
    return true
  }()

  // Written once, before the hooks that read them are in place; atomic, since other threads are
  // never told that they are.
  private static let formerEnqueueHook = Atomic<UInt>(0)
  private static let formerMainExecutorHook = Atomic<UInt>(0)

  private static let capture: EnqueueHook = { job, original in
    if let time = CurrentSimulation.value {
      time.capture(job)
    } else if let time = CapturedTasks.owner(of: job) {
      time.enqueueForeign(job)
    } else if let former = unsafeBitCast(
      formerEnqueueHook.load(ordering: .acquiring), to: EnqueueHook?.self)
    {
      former(job, original)
    } else {
      unsafeBitCast(original, to: Enqueue.self)(job)
    }
  }

  private static let mainExecutor: MainExecutorHook = { original in
    if let time = CurrentSimulation.value { return time.mainActor.asUnownedSerialExecutor() }
    if let former = unsafeBitCast(
      formerMainExecutorHook.load(ordering: .acquiring), to: MainExecutorHook?.self)
    {
      return former(original)
    }
    return unsafeBitCast(original, to: MainExecutor.self)()
  }
}

/// The main actor's executor as a simulation's thread sees it.
final class SimulatedMainActor: SerialExecutor, @unchecked Sendable {
  // Unchecked: the simulation, which owns this, is set once and looks at threads itself.
  private unowned let time: VirtualTime

  init(_ time: VirtualTime) { self.time = time }

  func enqueue(_ job: consuming ExecutorJob) { time.enqueueMain(UnownedJob(job)) }
}

/// The tasks that were captured, of every simulation that runs: one that another thread resumes
/// would go on there without a word, since it prefers no loop.
enum CapturedTasks {
  private static let count = Atomic<Int>(0)
  private static let owners = Mutex<[UInt64: VirtualTime]>([:])

  /// The simulation of the job's task. Without a lock while no simulation has captured any.
  static func owner(of job: UnownedJob) -> VirtualTime? {
    guard count.load(ordering: .relaxed) > 0, let id = Runtime.taskID(of: job) else { return nil }
    return owners.withLock { $0[id] }
  }

  static func add(_ job: UnownedJob, of time: VirtualTime) {
    guard let id = Runtime.taskID(of: job) else { return }
    owners.withLock { $0[id] = time }
    count.add(1, ordering: .relaxed)
  }

  static func remove(_ ids: [UInt64]) {
    owners.withLock { owners in
      for id in ids { owners[id] = nil }
    }
    count.subtract(ids.count, ordering: .relaxed)
  }
}
