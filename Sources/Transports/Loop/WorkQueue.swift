import Synchronization

/// One piece of work for a loop.
enum Work: Sendable {
  case closure(@Sendable () -> Void)
  case job(UnownedJob)
}

/// The way into a loop from other threads: closures and jobs of tasks in one order.
///
/// The lock also guards the wake-up: it is written only while the loop is known to be alive, since
/// its descriptor may belong to somebody else right after.
final class WorkQueue: Sendable {
  enum NextTurn {
    /// There is nothing to do: wait for events.
    case waits
    /// There is work: look for events without waiting.
    case polls
    /// The loop was asked to stop.
    case ends
  }

  private enum Phase {
    case running, stopping, stopped
  }

  private struct State {
    var items: [Work] = []
    var phase = Phase.running
    /// The loop waits, or is about to, and nobody has woken it yet.
    var isAsleep = false
  }

  private let state = Mutex(State())

  /// Appends work, and wakes the loop if need be. False when the loop has stopped.
  func append(_ work: Work, fromLoop: Bool, wake: () -> Void) -> Bool {
    state.withLock { state in
      guard state.phase != .stopped else { return false }
      state.items.append(work)
      if state.isAsleep, !fromLoop {
        state.isAsleep = false
        wake()
      }
      return true
    }
  }

  /// Asks the loop to stop.
  func stop(wake: () -> Void) {
    state.withLock { state in
      guard state.phase == .running else { return }
      state.phase = .stopping
      if state.isAsleep {
        state.isAsleep = false
        wake()
      }
    }
  }

  /// What the loop does next. From here on an append wakes it.
  func nextTurn() -> NextTurn {
    state.withLock { state in
      guard state.phase == .running else { return .ends }
      guard state.items.isEmpty else { return .polls }
      state.isAsleep = true
      return .waits
    }
  }

  /// Exchanges what has come in for the given empty array.
  func take(into batch: inout [Work]) {
    state.withLock { state in
      state.isAsleep = false
      swap(&state.items, &batch)
    }
  }

  /// Refuses everything from now on; gives back what came in too late.
  func end() -> [Work] {
    state.withLock { state in
      state.phase = .stopped
      let late = state.items
      state.items = []
      return late
    }
  }
}
