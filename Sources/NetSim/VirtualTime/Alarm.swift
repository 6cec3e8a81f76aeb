import ConnectionFSM

/// Something that is to happen at an instant: one entry of the heap, and whom it concerns.
///
/// It is taken back by being emptied: a heap gives up only its first entry, so an empty alarm stays
/// where it is until its turn comes or the timetable is tidied.
final class Alarm: @unchecked Sendable {
  // Unchecked: touched by the simulation's thread alone.
  enum Action {
    case deadline(any DeadlineHandler)
    case sleeper(Sleeper)
    /// A job by which a sleep on a system's clock ends.
    case job(UnownedJob)
    /// The device wakes by itself.
    case wake(SimulatedEventLoop)
    /// What waited while the device slept goes on.
    case resume
  }

  /// On whose clock, and with whom it waits while the device sleeps; nil for the world's own.
  let loop: SimulatedEventLoop?
  let actor: UInt32
  /// When, on the clock it was asked on.
  let deadline: Instant
  let isSuspending: Bool
  var action: Action?

  init(
    _ action: Action, on loop: SimulatedEventLoop?, at deadline: Instant, actor: UInt32,
    isSuspending: Bool = false
  ) {
    self.action = action
    self.loop = loop
    self.deadline = deadline
    self.actor = actor
    self.isSuspending = isSuspending
  }

  /// When it is due in the world's time, as things stand.
  var due: Instant {
    guard let loop else { return deadline }
    return loop.worldTime(of: deadline, isSuspending: isSuspending)
  }
}

/// The one heap of a simulation, in the order (instant, actor, that actor's sequence).
struct Timetable {
  private var queue = EventQueue<Alarm>()
  /// At least as many entries of the heap are empty, but for those that have left it since.
  private var emptied = 0

  /// How many entries the heap has, emptied ones among them.
  var count: Int { queue.count }

  /// When the next alarm is due, which may have been emptied since.
  var nextInstant: Instant? { queue.nextInstant }

  mutating func schedule(_ alarm: Alarm, at instant: Instant) {
    queue.schedule(alarm, at: instant, by: alarm.actor)
  }

  /// Notes that an alarm was emptied. Once they may be half of the heap they are thrown out, so
  /// that a deadline which is moved a million times takes no memory.
  mutating func noteEmptied() {
    emptied += 1
    guard emptied > 64, emptied > queue.count / 2 else { return }
    var tidy = EventQueue<Alarm>()
    // In the order of the heap, so that equal instants keep theirs.
    while let (instant, alarm) = next() { tidy.schedule(alarm, at: instant, by: alarm.actor) }
    queue = tidy
    emptied = 0
  }

  /// Takes out the next alarm that still means something.
  mutating func next() -> (instant: Instant, alarm: Alarm)? {
    while let (instant, alarm) = queue.pop() {
      if alarm.action != nil { return (instant, alarm) }
    }
    return nil
  }

  /// Takes out everything that is due by then.
  mutating func collectDue(by now: Instant, into batch: inout [Alarm]) {
    while let instant = queue.nextInstant, instant <= now, let (_, alarm) = queue.pop() {
      if alarm.action != nil { batch.append(alarm) }
    }
  }
}
