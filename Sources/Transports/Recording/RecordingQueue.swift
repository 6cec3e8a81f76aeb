import ConnectionFSM
import Dispatch
import Synchronization

/// The way of steps from a connection's loop to the thread that writes them.
///
/// Bounded: while the thread is behind by the limit, steps are counted and dropped. What follows
/// begins with a machine of its own, since the thread does not know what the lost steps did.
final class RecordingQueue: Sendable {
  private enum Work {
    case begin(Machine, after: UInt64, missing: UInt64)
    case step(TraceRecord)
    case tell(@Sendable () -> Void)
  }

  private struct State {
    var waiting: [Work] = []
    var hasBegun = false
    /// Steps that were dropped since the last one that was not.
    var missing: UInt64 = 0
    var isAsleep = false
    var isStopped = false
  }

  private let limit: Int
  private let state = Mutex(State())
  private let wakeUp = DispatchSemaphore(value: 0)

  init(limit: Int) { self.limit = limit }

  /// Starts the thread, which ends after ``stop()``.
  func start(
    _ store: any SegmentStore, byteLimit: Int, countLimit: Int,
    onFailure: @escaping @Sendable (RecordingError) -> Void
  ) throws(RecordingError) {
    // Not on the thread: a folder that is not there is the caller's to know.
    let writer = try SegmentWriter(store, byteLimit: byteLimit, countLimit: countLimit)
    let seed = Mutex<SegmentWriter?>(writer)
    do throws(Errno) {
      let thread = try SystemThread.start("trace-recorder") {
        if let writer = seed.withLock({ $0.take() }) { self.run(writer, store, onFailure) }
      }
      thread.detach()
    } catch {
      throw .system(
        step: "start", path: "a thread", SystemError(errno: error.number), reason: "\(error)")
    }
  }

  func begin(_ machine: Machine) {
    change { state in
      state.hasBegun = true
      state.missing = 0
      state.waiting.append(.begin(machine, after: 0, missing: 0))
    }
  }

  func add(_ record: TraceRecord, _ machine: Machine) {
    change { state in
      // Whoever comes late records what follows.
      if !state.hasBegun || state.missing > 0 {
        if state.hasBegun { state.missing += 1 }
        // Not for a few steps more: each beginning costs a segment.
        guard state.waiting.count <= limit / 2 else { return }
        state.waiting.append(
          .begin(machine, after: record.sequence, missing: state.missing))
        state.hasBegun = true
        state.missing = 0
      } else if state.waiting.count < limit {
        state.waiting.append(.step(record))
      } else {
        state.missing = 1
      }
    }
  }

  /// Calls back once all that came before is written; at once, if nothing is any more.
  func tell(_ completion: @escaping @Sendable () -> Void) {
    let isOver = change { $0.waiting.append(.tell(completion)) }
    if isOver { completion() }
  }

  /// The thread ends once it has written what has come in.
  func stop() { change { $0.isStopped = true } }

  /// - Returns: Whether the recording is over, and nothing was changed.
  @discardableResult
  private func change(_ body: (inout State) -> Void) -> Bool {
    let (wakes, isOver) = state.withLock { state in
      guard !state.isStopped else { return (false, true) }
      body(&state)
      defer { state.isAsleep = false }
      return (state.isAsleep, false)
    }
    if wakes { wakeUp.signal() }
    return isOver
  }

  // MARK: The thread

  private func run(
    _ writer: consuming SegmentWriter, _ store: any SegmentStore,
    _ onFailure: @Sendable (RecordingError) -> Void
  ) {
    var writer = writer
    while let work = next() {
      do throws(RecordingError) {
        try write(work, by: &writer)
      } catch {
        onFailure(error)
        giveUp(work)
        break
      }
    }
    store.end()
  }

  private func write(_ work: [Work], by writer: inout SegmentWriter) throws(RecordingError) {
    var told: [@Sendable () -> Void] = []
    for piece in work {
      switch piece {
      case .begin(let machine, let sequence, let missing):
        try writer.begin(machine, after: sequence, missing: missing)
      case .step(let record): try writer.add(record)
      case .tell(let completion): told.append(completion)
      }
    }
    try writer.flush()
    for completion in told { completion() }
  }

  /// Ends the recording; whoever waits for something to be written is told that it is over.
  private func giveUp(_ failed: [Work]) {
    let rest = state.withLock { state in
      defer { state.waiting = [] }
      state.isStopped = true
      return state.waiting
    }
    for case .tell(let completion) in failed + rest { completion() }
  }

  /// What has come in since the last time, once there is something; nil when there will be nothing.
  private func next() -> [Work]? {
    while true {
      let work: [Work]? = state.withLock { state in
        state.isAsleep = state.waiting.isEmpty && !state.isStopped
        guard !state.isAsleep else { return [] }
        defer { state.waiting = [] }
        return state.waiting.isEmpty ? nil : state.waiting
      }
      guard let work, work.isEmpty else { return work }
      wakeUp.wait()
    }
  }
}
