public import ConnectionFSM

/// Why a simulation could not go on, or ended with something left. May grow.
public enum VirtualTimeError: Error, Sendable {
  /// The body has not ended, and nothing is left that could happen: everything waits for something
  /// that never comes, or that comes from outside of the simulation.
  case stuck(at: Instant, Leftovers)
  /// The body has ended, and what it began has not.
  case leaked(at: Instant, Leftovers)
  /// Something left the simulation or came into it from another thread, so that its order is no
  /// longer the simulation's.
  case escaped(at: Instant, [Escape])
  /// The body has not ended when the virtual time was up.
  case timeLimit(at: Instant, Leftovers)
  /// More jobs, work and deadlines at one instant than are allowed: something goes on for ever
  /// without letting time pass. Names what ran last.
  case endless(at: Instant, count: Int, task: String)
}

/// What is left of a simulation.
public struct Leftovers: Sendable {
  /// Tasks that have not ended, in the order of creation: those that sleep are among them. A task
  /// that another one waits for in structured concurrency is not listed beside it.
  public var tasks: [String] = []
  /// Who sleeps on a simulated clock, and until when on that clock.
  public var sleepers: [Waiting] = []
  /// The types of the deadline handlers that are armed, and for when on their loop's clock.
  public var handlers: [Waiting] = []

  /// Somebody who waits for an instant.
  public struct Waiting: Sendable {
    /// A task, or the type of a deadline handler.
    public let name: String
    /// When the wait ends.
    public let until: Instant
  }

  var isEmpty: Bool { tasks.isEmpty && sleepers.isEmpty && handlers.isEmpty }
}

/// Something that left a simulation, or came into it from another thread. May grow.
public enum Escape: Equatable, Sendable {
  /// A task was resumed or started by another thread: by a callback of Dispatch, for instance.
  case foreignJob(task: String)
  /// Another thread gave work to a simulated loop.
  case foreignWork
  /// Another thread armed a deadline of a handler of this type, or disarmed it.
  case foreignDeadline(handler: String)
  /// Code outside of the simulation sleeps on a simulated clock, or a task that does was cancelled
  /// from another thread.
  case foreignSleep
  /// Another thread made a device, put one to sleep or woke one.
  case foreignDevice
  /// A task was made without a preference for a loop, and the run was told to allow none.
  case unstructured(task: String)
  /// A task sleeps on a clock of the system with a tolerance, which cannot be made virtual.
  case tolerantSleep(task: String)
}

/// What becomes of tasks in a simulation that prefer no loop: `Task { }` and `Task.detached`,
/// unless they are given an executor preference.
public enum UnstructuredTasks: Sendable {
  /// They run in the simulation, on the loop where they were made.
  case captured
  /// The first one fails the run.
  case refused
}

extension Escape: CustomStringConvertible {
  public var description: String {
    switch self {
    case .foreignJob(let task): "\(task) was resumed by another thread"
    case .foreignWork: "another thread gave work to a simulated loop"
    case .foreignDeadline(let handler): "another thread armed \(handler) on a simulated loop"
    case .foreignSleep: "another thread used a simulated clock to sleep, or ended such a sleep"
    case .foreignDevice: "another thread made a simulated device, put it to sleep or woke it"
    case .tolerantSleep(let task):
      "\(task) sleeps on a clock of the system with a tolerance: leave it out, or use the loop's "
        + "clock"
    case .unstructured(let task):
      "\(task) prefers no loop: make it with executorPreference, or let the run capture it"
    }
  }
}

extension Leftovers: CustomStringConvertible {
  public var description: String {
    var parts: [String] = []
    if !tasks.isEmpty { parts.append("tasks: " + tasks.joined(separator: "; ")) }
    if !sleepers.isEmpty { parts.append("asleep: " + Self.list(sleepers)) }
    if !handlers.isEmpty { parts.append("armed: " + Self.list(handlers)) }
    return parts.isEmpty ? "nothing that is known by name" : parts.joined(separator: " · ")
  }

  private static func list(_ waiting: [Waiting]) -> String {
    waiting.map { "\($0.name) until \($0.until.inSeconds)" }.joined(separator: "; ")
  }
}

extension VirtualTimeError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stuck(let instant, let left):
      "stuck at \(instant.inSeconds): the body has not ended and nothing is left that could "
        + "happen; what waits, \(left)"
    case .leaked(let instant, let left):
      "leaked: the body ended at \(instant.inSeconds) and left behind, \(left)"
    case .escaped(let instant, let escapes):
      "escaped at \(instant.inSeconds): "
        + escapes.map { String(describing: $0) }.joined(separator: "; ")
    case .timeLimit(let instant, let left):
      "the time limit has come at \(instant.inSeconds) and the body has not ended; what waits, "
        + "\(left)"
    case .endless(let instant, let count, let task):
      "more than \(count) jobs at \(instant.inSeconds) and no end; the last one was of \(task)"
    }
  }
}

extension Instant {
  /// In seconds, with as many decimals as there are.
  var inSeconds: String {
    let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
    var decimals = String(String(1_000_000_000 + rest).dropFirst())
    while decimals.hasSuffix("0") { decimals.removeLast() }
    let sign = nanoseconds < 0 ? "-" : ""
    return sign + String(seconds) + (decimals.isEmpty ? "" : "." + decimals) + " s"
  }
}
