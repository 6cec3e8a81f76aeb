public import ConnectionFSM
import Synchronization

/// A simulation of async code in virtual time: one thread, one heap of what is to come, one line of
/// what is ready.
///
/// ```swift
/// let text = try VirtualTime.run { loop in
///   try await loop.clock.sleep(for: .seconds(3600))
///   return "an hour later"
/// }
/// ```
///
/// Time stands still while anything is ready, and then jumps to the next instant at which something
/// happens. The same body gives the same order on every run.
public final class VirtualTime: @unchecked Sendable {
  // Unchecked: what changes is touched by the simulation's thread alone, but for what is atomic or
  // behind a lock.

  private let nanoseconds = Atomic<Int64>(0)
  private let limit: Instant
  let jobsPerInstant: Int

  let unstructured: UnstructuredTasks
  let escapes = EscapeNotes()

  var stage = Stage.running
  var loops: [SimulatedEventLoop] = []
  // Unchecked: used for every job, and nothing of the user's is called inside of them.
  @exclusivity(unchecked) var book = TaskBook()
  @exclusivity(unchecked) var timetable = Timetable()
  /// What the timetable held when it was looked through for what is left.
  var alarmsLeft: [Alarm] = []
  /// What is served in this turn.
  var batch: [Alarm] = []
  /// The line of what is ready: taken out from the front, and emptied as a whole.
  @exclusivity(unchecked) var ready: [ReadyWork?] = []
  @exclusivity(unchecked) private var nextReady = 0
  private var countAtInstant = 0
  /// On whose behalf something runs at this moment, and the number of the task that ran last.
  var runningLoop: SimulatedEventLoop?
  private var lastTask: UInt64?
  /// The main actor's executor while this simulation's thread asks for it.
  lazy private(set) var mainActor = SimulatedMainActor(self)
  /// How many tasks that prefer no loop were seen and captured so far; to be asked in the
  /// simulation.
  public internal(set) var capturedTasks = 0
  /// Jobs that came when all was over but the calling thread had not left yet.
  var lateJobs: [UnownedJob] = []

  /// The actor of what the network does: at one instant before everything on the loops.
  package static let network: UInt32 = 0

  enum Stage {
    case running
    /// The run has failed: its tasks are cancelled, and what they do about it is still run.
    case failing
    case ended
  }

  private init(limit: TimeSpan, jobsPerInstant: Int, unstructured: UnstructuredTasks) {
    self.unstructured = unstructured
    self.limit = .origin + limit
    self.jobsPerInstant = jobsPerInstant
  }

  /// How long the simulation has lasted, in the world's time. Callable from anywhere.
  public var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }

  /// Adds a device or process with a clock of its own; to be called in the simulation.
  /// - Parameter skew: By how many millionths its clock is fast, or slow if negative; at least
  ///   -999,999. Crystals are good to about 100.
  public func makeLoop(skew: Int32 = 0) -> SimulatedEventLoop {
    let isAdmitted = admits(.foreignDevice)
    let loop = SimulatedEventLoop(
      time: self, number: isAdmitted ? UInt32(loops.count + 1) : 0, skew: max(skew, -999_999))
    if isAdmitted { loops.append(loop) }
    return loop
  }
}

// MARK: The run

extension VirtualTime {
  /// Runs the body as a task that prefers the main loop, in virtual time, until it has ended; then
  /// runs what is ready at that instant, and sees to it that nothing is left.
  ///
  /// Synchronous: the calling thread is the simulation's thread, so that it may be called from a
  /// test that is async and from one that is not. It waits for nothing in real time.
  ///
  /// - Parameters:
  ///   - limit: How much virtual time the body may take.
  ///   - jobsPerInstant: How many jobs and deadlines may be served without time passing.
  ///   - unstructured: What becomes of tasks that prefer no loop.
  ///   - body: What is simulated. It is given the main loop; ``makeLoop(skew:)`` makes more.
  /// - Returns: What the body returned.
  /// - Throws: What the body threw, else ``VirtualTimeError``.
  public static func run<Value>(
    limit: TimeSpan = .seconds(86_400), jobsPerInstant: Int = 100_000,
    unstructured: UnstructuredTasks = .captured,
    _ body: @escaping (SimulatedEventLoop) async throws -> Value
  ) throws -> Value {
    let time = VirtualTime(
      limit: limit, jobsPerInstant: jobsPerInstant, unstructured: unstructured)
    Capture.install()
    SystemTime.install()
    defer { time.letGo() }
    return try CurrentSimulation.with(time) { try time.run(body) }
  }

  /// What the body ended with. Confined to the simulation's thread like all of it.
  private final class Outcome<Value>: @unchecked Sendable {
    var result: Result<Value, any Error>?
  }

  private func run<Value>(
    _ body: @escaping (SimulatedEventLoop) async throws -> Value
  ) throws -> Value {
    let loop = makeLoop()
    let outcome = Outcome<Value>()
    // The caller's thread runs it while the caller waits, so nothing is shared with anyone.
    nonisolated(unsafe) let body = body
    let task = loop.task("body") {
      do { outcome.result = .success(try await body(loop)) } catch {
        outcome.result = .failure(error)
      }
    }
    do {
      try drive { outcome.result != nil }
      try finish()
    } catch {
      let result = outcome.result
      task.cancel()
      abandon()
      // The body's own error says more than what went wrong because of it.
      if case .failure(let own) = result { throw own }
      throw error
    }
    guard let result = outcome.result else { preconditionFailure("driven until there is one") }
    return try result.get()
  }

  /// Lets time pass until the condition holds and nothing is ready.
  private func drive(until isDone: () -> Bool) throws {
    while true {
      try drainReady()
      if isDone() { return }
      guard let (instant, alarm) = timetable.next() else {
        throw VirtualTimeError.stuck(at: now, leftovers())
      }
      guard instant <= limit else {
        timetable.schedule(alarm, at: instant)
        throw VirtualTimeError.timeLimit(at: now, leftovers())
      }
      if instant > now {
        nanoseconds.store(instant.nanoseconds, ordering: .relaxed)
        countAtInstant = 0
      }
      try serveDue(from: alarm)
    }
  }

  /// Gives what the body began the rest of this instant to end, and looks at what is left.
  private func finish() throws {
    while let instant = timetable.nextInstant, instant <= now, let (_, alarm) = timetable.next() {
      try serveDue(from: alarm)
      try drainReady()
    }
    let left = leftovers()
    guard left.isEmpty else { throw VirtualTimeError.leaked(at: now, left) }
    // What is left of sleeps on system clocks that were cancelled; it only tidies up after them.
    for alarm in alarmsLeft {
      if case .job(let job) = alarm.action { append(ReadyWork(.job(job), on: presentLoop)) }
    }
    try drainReady()
    end(failed: false)
    // One that came while it ended.
    if escapes.isAny { throw escaped() }
  }

  private func drainReady() throws {
    while let work = nextWork() {
      if work.loop.holds(work) { continue }
      try count(on: work.loop)
      perform(work)
    }
    runningLoop = nil
    if escapes.isAny { throw escaped() }
  }

  func nextWork() -> ReadyWork? {
    while nextReady < ready.count {
      nextReady += 1
      if let work = ready[nextReady - 1].take() { return work }
    }
    // What a burst needed is not kept for ever.
    ready.removeAll(keepingCapacity: ready.count <= 4096)
    nextReady = 0
    return nil
  }

  func perform(_ work: ReadyWork) {
    switch work.kind {
    case .job(let job):
      lastTask = Runtime.taskID(of: job)
      job.runSynchronously(on: work.loop.asUnownedTaskExecutor())
    case .mainJob(let job):
      lastTask = Runtime.taskID(of: job)
      job.runSynchronously(
        isolatedTo: mainActor.asUnownedSerialExecutor(),
        taskExecutor: work.loop.asUnownedTaskExecutor())
    case .closure(let closure): closure()
    }
  }

  /// Serves the alarm and all others that are due now. One that is armed meanwhile waits until what
  /// is ready has run.
  private func serveDue(from first: Alarm) throws {
    batch.removeAll(keepingCapacity: true)
    batch.append(first)
    timetable.collectDue(by: now, into: &batch)
    for alarm in batch where alarm.action != nil {
      if let loop = alarm.loop, loop.holds(alarm) { continue }
      // The device has slept meanwhile, and this clock has not counted that.
      if alarm.isSuspending, alarm.due > now {
        schedule(alarm)
        continue
      }
      try count(on: alarm.loop)
      serve(alarm)
    }
    runningLoop = nil
  }

  private func serve(_ alarm: Alarm) {
    guard let action = alarm.action.take() else { return }
    switch action {
    case .deadline(let handler):
      alarm.loop?.forget(handler)
      handler.deadlineReached()
    case .sleeper(let sleeper): sleeper.wake()
    case .job(let job): append(ReadyWork(.job(job), on: presentLoop))
    case .wake(let loop): loop.wake()
    case .resume: alarm.loop?.resume()
    }
  }

  /// Counts what is about to run, and stops what has left the simulation or never lets time pass.
  private func count(on loop: SimulatedEventLoop?) throws {
    if escapes.isAny { throw escaped() }
    guard countAtInstant < jobsPerInstant else {
      let task = lastTask == nil ? "no task" : book.name(ofID: lastTask)
      throw VirtualTimeError.endless(at: now, count: jobsPerInstant, task: task)
    }
    countAtInstant += 1
    runningLoop = loop
  }
}
