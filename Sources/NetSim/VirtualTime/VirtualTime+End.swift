import ConnectionFSM

extension VirtualTime {
  func escaped() -> VirtualTimeError {
    .escaped(
      at: now,
      escapes.arrivals.map { arrival in
        switch arrival {
        case .job(let id): .foreignJob(task: book.name(ofID: id))
        case .other(let escape): escape
        }
      })
  }

  func leftovers() -> Leftovers {
    var left = Leftovers()
    takeAlarms()
    left.tasks = book.unended().map(\.description)
    for alarm in alarmsLeft where alarm.actor != Self.network {
      switch alarm.action {
      case .sleeper(let sleeper):
        left.sleepers.append(Leftovers.Waiting(name: sleeper.name, until: alarm.deadline))
      case .deadline(let handler):
        let name = String(describing: type(of: handler))
        left.handlers.append(Leftovers.Waiting(name: name, until: alarm.deadline))
      case .job, .wake, .resume, nil: break
      }
    }
    return left
  }

  private func takeAlarms() {
    while let (_, alarm) = timetable.next() { alarmsLeft.append(alarm) }
    for loop in loops { alarmsLeft += loop.letGoOfHeldAlarms() }
  }

  /// Ends a failed run: the body has been cancelled, and what it does about it is run, within
  /// bounds; then every sleep that is left ends as if cancelled, and so on. Tasks that wait for
  /// anything else wait for ever.
  func abandon() {
    guard stage == .running else { return }
    stage = .failing
    takeAlarms()
    for loop in loops { loop.wakeToCleanUp() }
    runBounded()
    takeAlarms()
    for alarm in alarmsLeft {
      if case .sleeper(let sleeper) = alarm.action { sleeper.cancel() }
    }
    runBounded()
    end(failed: true)
  }

  private func runBounded() {
    var count = 0
    while count < jobsPerInstant, let work = nextWork() {
      count += 1
      runningLoop = work.loop
      perform(work)
    }
    runningLoop = nil
  }

  func end(failed: Bool) {
    stage = .ended
    escapes.close(failed: failed)
    takeAlarms()
    // In their order, since what is let go of may do something about it.
    for alarm in alarmsLeft { alarm.action = nil }
    alarmsLeft = []
    ready = []
    for loop in loops { loop.letGo() }
  }

  /// After the thread has left an ended simulation.
  ///
  /// Where nothing was left, what came too late (a task that some `deinit` makes) goes on
  /// elsewhere. After a failure it is dropped; and since tasks may be left that refer to the loops
  /// without holding them, and a job of theirs may come at any time, the simulation and its loops
  /// hold each other for good.
  func letGo() {
    let late = lateJobs
    lateJobs = []
    guard escapes.answer == .endedWell else { return }
    CapturedTasks.remove(book.capturedIDs)
    loops = []
    // What holds the loops, which hold this: the records of tasks, and what was served last.
    book = TaskBook()
    batch = []
    for job in late { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }
}
