public import ConnectionFSM
import Synchronization

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// An event loop on a thread of its own, for sockets: epoll on Linux, kqueue on Apple systems.
///
/// A turn of the loop serves, in this order: sockets that are ready, deadlines that had come when
/// the turn began, then the work that was given to it. So after a long sleep what has arrived is
/// read before any deadline is judged.
///
/// **Threads.** ``now``, ``isCurrent``, ``execute(_:)``, ``enqueue(_:)`` and ``stop()`` may be
/// called from anywhere. ``arm(_:at:)``, and everything of the streams that live on this loop, may
/// be called on the loop only; a call from elsewhere is a programming error, which traps. Handlers,
/// observers and work must not block: while one does, nothing else on this loop happens.
///
/// **Lifetime.** The thread keeps the loop alive until ``stop()``. The loop retains a deadline
/// handler while it is armed, and a stream never. One loop serves thousands of connections.
public final class SocketEventLoop: EventLoop, @unchecked Sendable {
  // Unchecked: everything below the line is touched by the loop's thread alone.
  private let poller: Poller
  private let origin = System.continuousTime()
  private let queue = WorkQueue()
  private let loopThread = Atomic<UInt>(0)
  private let thread = Mutex<SystemThread?>(nil)
  // ----
  // Without the dynamic checks, which cost more than the loop itself: nobody is called while one of
  // these is being changed, and what a change lets go of does not come back to it.
  @exclusivity(unchecked) private var deadlines = DeadlineHeap()
  /// When the kernel's timer will be raised. Never later than the earliest deadline once a turn
  /// begins, often earlier: a deadline that moves back, as most do, costs no system call.
  @exclusivity(unchecked) private var timerRaisedAt = Int64.max
  @exclusivity(unchecked) private var registrations = RegistrationTable()
  @exclusivity(unchecked) private var batch: [Work] = []

  /// Batches of work run in one turn before sockets and deadlines are looked at again.
  private static let batchesPerTurn = 64

  /// Starts the thread.
  /// - Throws: ``LoopError`` when the system has no descriptor or thread left.
  public init() throws(LoopError) {
    poller = try Poller()
    do {
      // Held while the thread starts, so that a `stop` from elsewhere finds the handle set.
      try thread.withLock { (thread) throws(Errno) in
        thread = try SystemThread.start("socket-loop") { self.run() }
      }
    } catch {
      throw LoopError(error)
    }
  }

  private static let sharedLoop = Mutex<SocketEventLoop?>(nil)

  /// The loop for all who bring none of their own; made at the first call, and never stopped:
  /// ``stop()`` does nothing to it. One thread serves thousands of connections.
  /// - Throws: ``LoopError`` when the system has no descriptor or thread left.
  public static func shared() throws(LoopError) -> SocketEventLoop {
    try sharedLoop.withLock { (shared) throws(LoopError) in
      if let shared { return shared }
      let loop = try SocketEventLoop()
      shared = loop
      return loop
    }
  }

  deinit {
    // The thread has ended, or is about to, since it holds the loop; nobody has joined it.
    thread.withLock { $0 }?.detach()
  }

  /// Nanoseconds since the loop was made, with the time that the system slept.
  public var now: Instant { Instant(nanoseconds: System.continuousTime() - origin) }

  /// Whether the caller runs on this loop.
  public var isCurrent: Bool {
    loopThread.load(ordering: .relaxed) == System.currentThread
  }

  /// Runs the work on the loop, in one order with the jobs of tasks that prefer this loop.
  /// - Returns: False once the loop has stopped; the work is let go without being run.
  @discardableResult
  public func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    queue.append(.closure(work), fromLoop: isCurrent, wake: poller.wake)
  }

  /// Runs a task's job on the loop; on the default executor once the loop has stopped, because a
  /// job that is dropped would leave its task waiting for ever.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if !queue.append(.job(job), fromLoop: isCurrent, wake: poller.wake) {
      globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }
  }

  public func arm(_ handler: any DeadlineHandler, at deadline: Instant?) {
    expectLoop()
    if let deadline {
      deadlines.arm(handler, at: deadline.nanoseconds)
    } else {
      deadlines.disarm(handler)
    }
  }

  /// Ends the loop and waits until its thread is gone; on the loop itself it cannot wait, and the
  /// thread ends after the present turn. Repeated calls do no harm.
  ///
  /// Work given before is still run. Then sockets that are open on this loop are closed, of which
  /// their observers hear nothing, and deadline handlers are let go. Close connections first: one
  /// that still lives is cut without a word, and messages in it are never told their end.
  public func stop() {
    // Others rely on it.
    guard Self.sharedLoop.withLock({ $0 !== self }) else { return }
    queue.stop(wake: poller.wake)
    guard !isCurrent else { return }
    // Whoever comes second waits here until the first has joined.
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  func expectLoop() {
    precondition(isCurrent, "to be called on its event loop; use execute(_:) to get there")
  }
}

// MARK: The thread

extension SocketEventLoop {
  private func run() {
    loopThread.store(System.currentThread, ordering: .relaxed)
    while true {
      let next = queue.nextTurn()
      if next == .ends { break }
      #if canImport(ObjectiveC)
        autoreleasepool { turn(blocking: next == .waits) }
      #else
        turn(blocking: next == .waits)
      #endif
    }
    finish()
  }

  private func turn(blocking: Bool) {
    if let earliest = deadlines.earliest, earliest < timerRaisedAt {
      timerRaisedAt = earliest
      let (time, overflow) = origin.addingReportingOverflow(earliest)
      poller.setTimer(at: overflow ? (earliest < 0 ? .min : .max) : time)
    }
    let count = poller.wait(blocking: blocking, sockets: registrations.count)
    // Read before any handler runs: what comes due while they do waits for the next turn, in which
    // what arrived meanwhile is read first. The clock is not read in vain.
    var due: Instant?
    for index in 0..<count where poller.event(index).token == Poller.timerToken { due = now }
    for index in 0..<count { serve(poller.event(index)) }
    if let due {
      timerRaisedAt = .max
      deadlines.collectDue(by: due.nanoseconds)
      while let handler = deadlines.popDue() { handler.deadlineReached() }
    }
    runWork()
  }

  private func serve(_ event: (token: UInt64, ready: Interest)) {
    guard event.token != Poller.wakeToken, event.token != Poller.timerToken else { return }
    let registration = Registration(token: event.token)
    // Gone when a handler before it in this same turn closed it.
    registrations.handler(of: registration)?.descriptorReady(registration, for: event.ready)
  }

  private func runWork() {
    for _ in 0..<Self.batchesPerTurn {
      queue.take(into: &batch)
      guard !batch.isEmpty else { return }
      for work in batch { run(work) }
      // What a burst needed is not kept for ever.
      batch.removeAll(keepingCapacity: batch.count <= 4096)
    }
  }

  private func run(_ work: Work) {
    switch work {
    case .closure(let closure): closure()
    case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private func finish() {
    // What was accepted is run; from here on nothing is accepted.
    for work in queue.end() { run(work) }
    for registration in registrations.registrations {
      let handler = registrations.handler(of: registration)
      close(registration)
      handler?.loopStopped()
    }
    // Let go outside of the access: a handler's deinit may call arm.
    let handlers = deadlines
    deadlines = DeadlineHeap()
    withExtendedLifetime(handlers) {}
    poller.close()
    loopThread.store(0, ordering: .relaxed)
  }
}

// MARK: Sockets

extension SocketEventLoop {
  /// Takes a socket over and watches it.
  /// - Throws: What the kernel answered; the socket is closed then.
  func register(
    _ descriptor: consuming Descriptor, for interest: Interest, _ handler: any DescriptorHandler
  ) throws(Errno) -> Registration {
    expectLoop()
    let registration = registrations.add(descriptor, handler)
    do {
      try setInterest(interest, of: registration)
    } catch {
      close(registration)
      throw error
    }
    return registration
  }

  /// Changes what a socket waits for; a registration that has ended is left alone.
  func setInterest(_ interest: Interest, of registration: Registration) throws(Errno) {
    guard let socket = registrations.socket(of: registration) else { return }
    try poller.change(
      socket.descriptor, from: socket.interest, to: interest, token: registration.token)
    registrations.setInterest(interest, of: registration)
  }

  /// Forgets a socket and closes it. From any thread: elsewhere than on the loop it happens there
  /// soon.
  func close(_ registration: Registration) {
    guard isCurrent else {
      execute { self.close(registration) }
      return
    }
    try? setInterest([], of: registration)
    _ = registrations.remove(registration)
  }
}
