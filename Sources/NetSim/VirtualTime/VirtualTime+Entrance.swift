package import ConnectionFSM

// How jobs, work and deadlines come in, and from which thread.

extension VirtualTime {
  /// Whether the caller is on the simulation's thread, inside of its run.
  var isCurrent: Bool { CurrentSimulation.value === self }

  /// Whether something may happen to the simulation now. What comes from another thread while it
  /// runs is noted, and fails it.
  func admits(_ escape: @autoclosure () -> Escape) -> Bool {
    guard isCurrent else {
      _ = escapes.note(.other(escape()))
      return false
    }
    return stage != .ended
  }

  /// The next new task is called so.
  func willMakeTask(_ name: String) {
    if isCurrent { book.nextName = name }
  }

  /// Puts something behind all that is ready.
  func append(_ work: ReadyWork) { ready.append(work) }

  /// Takes a job for a loop.
  func enqueue(_ job: UnownedJob, on loop: SimulatedEventLoop) {
    guard isCurrent, stage != .ended else { return enqueueForeign(job) }
    _ = enter(job, on: loop)
    append(ReadyWork(.job(job), on: loop))
  }

  /// Takes a job that left the simulation, and runs it on the loop where its task was made.
  func capture(_ job: UnownedJob) {
    guard stage != .ended else { return enqueueForeign(job) }
    if book.helpers(contain: job) { return append(ReadyWork(.job(job), on: presentLoop)) }
    let record = enter(job, on: presentLoop)
    if let record, !record.isCaptured {
      record.isCaptured = true
      book.captured(job)
      CapturedTasks.add(job, of: self)
    }
    if record == nil, unstructured == .refused, Runtime.isActor(job) {
      // It runs a task that is isolated to the actor and was never seen by itself.
      _ = escapes.note(.other(.unstructured(task: "a task in an actor")))
    }
    append(ReadyWork(.job(job), on: record?.loop ?? presentLoop))
  }

  /// Takes a job of the main actor.
  func enqueueMain(_ job: UnownedJob) {
    guard isCurrent, stage != .ended else { return enqueueForeign(job) }
    append(ReadyWork(.mainJob(job), on: enter(job, on: presentLoop)?.loop ?? presentLoop))
  }

  /// Enters the task of a job into the book; nil if it has none.
  private func enter(_ job: UnownedJob, on loop: SimulatedEventLoop) -> TaskRecord? {
    guard let (record, isNew) = book.note(job, on: loop) else { return nil }
    if isNew, !Runtime.isChild(job), !Runtime.prefersExecutor(job) {
      capturedTasks += 1
      if unstructured == .refused {
        _ = escapes.note(.other(.unstructured(task: record.description)))
      }
    }
    return record
  }

  /// The task that runs on this thread, with its name.
  func currentTask() -> TaskRecord? {
    guard let task = Runtime.currentTask, let record = enter(task, on: presentLoop) else {
      return nil
    }
    record.learnName()
    return record
  }

  /// A job from another thread fails the run, and is not run: its task may be in the middle of what
  /// the simulation does. After a run that left nothing, a loop may still be an actor's executor,
  /// and the actor goes on elsewhere.
  func enqueueForeign(_ job: UnownedJob) {
    guard !isCurrent else { return lateJobs.append(job) }
    if escapes.note(.job(Runtime.taskID(of: job))) == .endedWell {
      globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }
  }

  /// On whose behalf something runs; between two pieces of work the main loop.
  var presentLoop: SimulatedEventLoop { runningLoop ?? loops[0] }

  /// Takes the job by which a sleep on a system clock ends.
  func wake(_ job: UnownedJob, at instant: Instant, isSuspending: Bool) {
    // Once all is over nobody sleeps any more, and a run that fails wakes nobody by time.
    guard stage == .running else { return }
    _ = currentTask()
    book.addHelper(job)
    let loop = presentLoop
    schedule(
      Alarm(.job(job), on: loop, at: instant, actor: loop.number, isSuspending: isSuspending))
  }

  /// A sleep on a system clock that cannot be virtual.
  func refuseSleep() {
    _ = escapes.note(.other(.tolerantSleep(task: currentTask()?.description ?? "a task")))
  }

  /// How many entries the heap has, also those that were taken back and wait to be thrown out.
  package var heapCount: Int { timetable.count }

  /// Puts an alarm where its clock wants it, but not before now.
  func schedule(_ alarm: Alarm) { timetable.schedule(alarm, at: max(now, alarm.due)) }

  /// Takes an alarm back.
  func empty(_ alarm: Alarm) {
    alarm.action = nil
    timetable.noteEmptied()
  }

  /// Arms a handler of the world itself, which no device's sleep holds up; at one instant a lower
  /// actor goes first, see ``network``. Each call adds a deadline: there is none to replace.
  package func arm(_ handler: any DeadlineHandler, at deadline: Instant, actor: UInt32) {
    guard admits(.foreignDeadline(handler: String(describing: type(of: handler)))) else { return }
    schedule(Alarm(.deadline(handler), on: nil, at: deadline, actor: actor))
  }
}
