import Synchronization

/// What has left a simulation, or came to it from other threads: noted under a lock, and looked at
/// by the simulation's thread before each piece of work.
final class EscapeNotes: Sendable {
  /// An escape of a job knows the number of its task; only the simulation's thread knows the name.
  enum Arrival: Sendable {
    case job(UInt64?)
    case other(Escape)
  }

  enum Answer {
    case noted
    case endedWell
    case failed
  }

  private struct Notes {
    var answer = Answer.noted
    var arrivals: [Arrival] = []
  }

  private let hasArrivals = Atomic<Bool>(false)
  private let notes = Mutex(Notes())

  /// Whether something has come.
  var isAny: Bool { hasArrivals.load(ordering: .relaxed) }

  /// Notes an arrival, unless the simulation has ended.
  func note(_ arrival: Arrival) -> Answer {
    notes.withLock { notes in
      guard notes.answer == .noted else { return notes.answer }
      // The first few tell enough, and a flood takes no memory.
      if notes.arrivals.count < 16 { notes.arrivals.append(arrival) }
      hasArrivals.store(true, ordering: .relaxed)
      return .noted
    }
  }

  /// What becomes of an arrival now.
  var answer: Answer { notes.withLock { $0.answer } }

  /// What has come so far.
  var arrivals: [Arrival] { notes.withLock { $0.arrivals } }

  /// The simulation has ended.
  func close(failed: Bool) {
    notes.withLock { $0.answer = failed ? .failed : .endedWell }
  }
}
