public import ConnectionFSM

/// The event loop of one simulated device or process, in virtual time.
///
/// Loops of one simulation share its thread, its heap and its line of ready work; each has a clock
/// of its own. Tasks prefer it (`Task(executorPreference: loop)`), actors may have it as their
/// serial executor, and a transport lives on it as on any other `EventLoop`.
///
/// **Order.** Work runs in the order in which it was given, over all loops. At one instant first
/// every deadline and sleeper is served that was armed before, by the number of its loop and then
/// in the order of arming; then all work that is ready; and so on until nothing is left at that
/// instant.
///
/// **Threads.** ``now`` may be read from anywhere. Everything else happens on the simulation's
/// thread: what comes from another one is an escape, see ``VirtualTimeError``.
public final class SimulatedEventLoop: EventLoop, SerialExecutor, @unchecked Sendable {
  // Unchecked: what changes is touched by the simulation's thread alone.

  /// The simulation it belongs to.
  public let time: VirtualTime
  /// Its place among the loops, in order of creation; the main one is 1.
  let number: UInt32
  /// Nanoseconds that its clock counts while a million pass in the world.
  private let rate: Int128

  private var armed: [ObjectIdentifier: Alarm] = [:]
  private var device = Device.awake
  /// How long it slept in all, until it last woke, on its own clock.
  private var slept: Int64 = 0
  private var asleepSince = Instant.origin
  private var wakeAlarm: Alarm?
  private var heldAlarms: [Alarm] = []
  private var heldWork: [ReadyWork] = []

  private enum Device {
    case awake
    case asleep
    /// Awake, but what came due meanwhile is served before the work that waited.
    case waking
  }

  init(time: VirtualTime, number: UInt32, skew: Int32) {
    self.time = time
    self.number = number
    rate = 1_000_000 + Int128(skew)
  }

  /// Runs the work on the loop, behind all that is ready.
  /// - Returns: False once the simulation has ended, and for work from another thread, which fails
  ///   the run: it will not run.
  @discardableResult
  public func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard time.admits(.foreignWork) else { return false }
    time.append(ReadyWork(.closure(work), on: self))
    return true
  }

  /// Runs a task's job on the loop, behind all that is ready.
  public func enqueue(_ job: consuming ExecutorJob) {
    time.enqueue(UnownedJob(job), on: self)
  }

  /// Whether the caller runs on this loop.
  public func isIsolatingCurrentContext() -> Bool? { time.isCurrent && time.runningLoop === self }

  /// Traps unless the caller runs on this loop.
  public func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "to be called on its simulated loop")
  }
}

// MARK: Deadlines

extension SimulatedEventLoop {
  public func arm(_ handler: any DeadlineHandler, at deadline: Instant?) {
    arm(handler, at: deadline, actor: number)
  }

  /// Arms a handler of the device that is served before or after those of the loops: at one instant
  /// a lower actor goes first. Actor 0 is the network, which is no leak when the body has ended.
  package func arm(_ handler: any DeadlineHandler, at deadline: Instant?, actor: UInt32) {
    guard time.admits(.foreignDeadline(handler: String(describing: type(of: handler)))) else {
      return
    }
    let identity = ObjectIdentifier(handler)
    // Let go of at the end: what its deinit does must find everything in order.
    let former = armed.removeValue(forKey: identity)
    if let former { time.empty(former) }
    guard let deadline else { return }
    let alarm = Alarm(.deadline(handler), on: self, at: deadline, actor: actor)
    armed[identity] = alarm
    time.schedule(alarm)
  }

  /// The handler's deadline has come.
  func forget(_ handler: any DeadlineHandler) { armed[ObjectIdentifier(handler)] = nil }
}

// MARK: Clocks

extension SimulatedEventLoop {
  /// Nanoseconds since the simulation began, as this device counts them, with the time it slept.
  public var now: Instant {
    let world = time.now
    guard rate != 1_000_000 else { return world }
    return Instant(nanoseconds: Int64(clamping: Int128(world.nanoseconds) * rate / 1_000_000))
  }

  /// The same without the time it slept.
  var suspendingNow: Instant {
    Instant(nanoseconds: (device == .asleep ? asleepSince : now).nanoseconds - slept)
  }

  /// The device's clock, which goes on while the device sleeps.
  public var clock: SimulatedClock { SimulatedClock(loop: self, isSuspending: false) }

  /// The device's clock that stands still while the device sleeps.
  public var suspendingClock: SimulatedClock { SimulatedClock(loop: self, isSuspending: true) }

  /// The first instant of the world at which the device's clock shows that time.
  func worldTime(of deadline: Instant, isSuspending: Bool) -> Instant {
    let local = Int128(deadline.nanoseconds) + (isSuspending ? Int128(slept) : 0)
    guard rate != 1_000_000, local > 0 else { return Instant(nanoseconds: Int64(clamping: local)) }
    return Instant(nanoseconds: Int64(clamping: (local * 1_000_000 + rate - 1) / rate))
  }
}

// MARK: Sleep

extension SimulatedEventLoop {
  /// The device falls asleep: its tasks, work, deadlines and sleepers wait until ``wake()``, while
  /// other loops go on. What runs at this moment runs on to its next suspension.
  public func sleep() {
    guard time.admits(.foreignDevice), device != .asleep else { return }
    asleepSince = now
    device = .asleep
  }

  /// The device falls asleep, if it is awake, and wakes by itself after a span of the world's time.
  public func sleep(for span: TimeSpan) {
    guard time.admits(.foreignDevice) else { return }
    sleep()
    if let wakeAlarm { time.empty(wakeAlarm) }
    let alarm = Alarm(.wake(self), on: nil, at: time.now + span, actor: number)
    wakeAlarm = alarm
    time.schedule(alarm)
  }

  /// The device wakes: deadlines and sleepers that came due meanwhile are served in order, then the
  /// work that waited.
  public func wake() {
    guard time.admits(.foreignDevice), device == .asleep else { return }
    if let wakeAlarm = wakeAlarm.take() { time.empty(wakeAlarm) }
    slept += now.nanoseconds - asleepSince.nanoseconds
    device = .waking
    let alarms = heldAlarms
    heldAlarms = []
    for alarm in alarms where alarm.action != nil { time.schedule(alarm) }
    time.schedule(Alarm(.resume, on: self, at: now, actor: number))
  }

  /// What waited joins the line.
  func resume() {
    guard device == .waking else { return }
    device = .awake
    let work = heldWork
    heldWork = []
    for piece in work { time.append(piece) }
  }

  /// Keeps what is ready back while the device sleeps.
  func holds(_ work: ReadyWork) -> Bool {
    guard device != .awake else { return false }
    heldWork.append(work)
    return true
  }

  /// Keeps what is due back while the device sleeps.
  func holds(_ alarm: Alarm) -> Bool {
    guard device == .asleep else { return false }
    heldAlarms.append(alarm)
    return true
  }

  /// Wakes at once, without order: the run has failed, and tasks are to clean up.
  func wakeToCleanUp() {
    device = .waking
    resume()
  }

  /// Gives up what came due while the device slept, in order.
  func letGoOfHeldAlarms() -> [Alarm] {
    defer { heldAlarms = [] }
    return heldAlarms.filter { $0.action != nil }
  }

  /// The simulation has ended.
  func letGo() {
    armed = [:]
    heldWork = []
  }
}
