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
    _ = book.note(job, on: loop)
    append(ReadyWork(.job(job), on: loop))
  }

  /// A job from another thread fails the run, and is not run: its task may be in the middle of what
  /// the simulation does. After a run that left nothing, a loop may still be an actor's executor,
  /// and the actor goes on elsewhere.
  func enqueueForeign(_ job: UnownedJob) {
    if escapes.note(.job(Runtime.taskID(of: job))) == .endedWell {
      globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }
  }

  /// Takes a job that prefers no loop: it runs on the loop where its task was made.
  func capture(_ job: UnownedJob) {
    guard stage != .ended else { return enqueueForeign(job) }
    if book.helpers(contain: job) { return append(ReadyWork(.job(job), on: presentLoop)) }
    append(ReadyWork(.job(job), on: entered(job)))
  }

  /// Takes a job of the main actor.
  func enqueueMain(_ job: UnownedJob) {
    guard isCurrent, stage != .ended else { return enqueueForeign(job) }
    append(ReadyWork(.mainJob(job), on: entered(job)))
  }

  /// Enters the task of a job that came without a loop.
  private func entered(_ job: UnownedJob) -> SimulatedEventLoop {
    guard let (record, isNew) = book.note(job, on: presentLoop) else { return presentLoop }
    if isNew, record.object != nil, !Runtime.prefersExecutor(job) {
      capturedTasks += 1
      book.captured(job)
      CapturedTasks.add(job, of: self)
      if unstructured == .refused {
        _ = escapes.note(.other(.unstructured(task: record.description)))
      }
    }
    return record.loop
  }

  /// On whose behalf something runs; between two pieces of work the main loop.
  var presentLoop: SimulatedEventLoop { runningLoop ?? loops[0] }

  /// Takes the job by which a sleep on a system clock ends.
  func wake(
    _ job: UnownedJob, after delay: TimeSpan?, on loop: SimulatedEventLoop, isSuspending: Bool
  ) {
    guard isCurrent, stage != .ended else { return enqueueForeign(job) }
    guard stage == .running else { return }
    guard let delay, SystemClocks.areVirtual else {
      _ = escapes.note(.other(.systemSleep(task: book.currentName())))
      return
    }
    book.addHelper(job)
    let now = isSuspending ? loop.suspendingNow : loop.now
    schedule(
      Alarm(
        .job(job), on: loop, at: now + delay, actor: loop.number, isSuspending: isSuspending))
  }

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
