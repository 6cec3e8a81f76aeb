import ConnectionFSM
import Dispatch
import Synchronization

/// The thread that writes an outbox's file, and the way there from other threads.
///
/// Takes all that has come in while it wrote as the next batch: one write and one fsync for however
/// many messages.
final class OutboxWriter: Sendable {
  typealias Completion = @Sendable (Result<UInt64, OutboxError>) -> Void

  private enum Work {
    case keep(UInt64, Message, Completion)
    /// Only passes through, so that completions come in the order of the calls.
    case refuse(OutboxError, Completion)
    case forget(UInt64)
    case close(@Sendable () -> Void)
  }

  private struct State {
    var waiting: [Work] = []
    /// The length of every message that is kept, or is to be.
    var lengths: [UInt64: Int]
    var bytes: Int
    var nextNumber: UInt64
    /// On its way to the thread.
    var file: OutboxFile?
    var isAsleep = false
    var isStopped = false

    /// Gives up the room of a message; false if it has none.
    mutating func release(_ number: UInt64) -> Bool {
      guard let length = lengths.removeValue(forKey: number) else { return false }
      bytes -= length
      return true
    }
  }

  private let countLimit: Int
  private let byteLimit: Int
  private let state: Mutex<State>
  private let wakeUp = DispatchSemaphore(value: 0)

  init(_ kept: [KeptMessage], nextNumber: UInt64, countLimit: Int, byteLimit: Int) {
    let lengths = kept.map { ($0.number, $0.message.bytes.count) }
    state = Mutex(
      State(
        lengths: Dictionary(uniqueKeysWithValues: lengths),
        bytes: lengths.reduce(0) { $0 + $1.1 }, nextNumber: nextNumber))
    self.countLimit = countLimit
    self.byteLimit = byteLimit
  }

  /// Starts the thread, to which the file belongs from then on.
  func start(on file: OutboxFile) throws(Errno) {
    // Not in the closure, which would hold it open until the thread has ended.
    state.withLock { $0.file = file }
    try SystemThread.start("outbox") { self.run() }.detach()
  }

  func keep(_ message: Message, _ completion: @escaping Completion) {
    change { state in
      let length = message.bytes.count
      if length > byteLimit {
        state.waiting.append(.refuse(.tooLarge, completion))
      } else if state.lengths.count >= countLimit || length > byteLimit - state.bytes {
        state.waiting.append(.refuse(.full, completion))
      } else {
        state.lengths[state.nextNumber] = length
        state.bytes += length
        state.waiting.append(.keep(state.nextNumber, message, completion))
        state.nextNumber += 1
      }
    }
  }

  func forget(_ number: UInt64) {
    change { state in
      // Its room is free at once: whoever sends the next one when one has ended is not refused.
      if state.release(number) { state.waiting.append(.forget(number)) }
    }
  }

  func close(_ completion: @escaping @Sendable () -> Void) {
    change { $0.waiting.append(.close(completion)) }
  }

  /// The thread ends once it has written what has come in.
  func stop() { change { $0.isStopped = true } }

  private func change(_ body: (inout State) -> Void) {
    let wakes = state.withLock { state in
      body(&state)
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if wakes { wakeUp.signal() }
  }

  // MARK: The thread

  private func run() {
    var file = state.withLock { state in
      defer { state.file = nil }
      return state.file
    }
    /// What has ended, but could not be written; it would return with the next process.
    var owed: [UInt64] = []
    while let work = next() {
      var rest = work[...]
      while let first = rest.first {
        if case .close(let completion) = first {
          write([], to: file, owed: &owed)
          file = nil
          completion()
          rest.removeFirst()
        } else {
          let batch = rest.prefix { if case .close = $0 { false } else { true } }
          write(batch, to: file, owed: &owed)
          rest.removeFirst(batch.count)
          file?.compactIfDue(nextNumber: state.withLock(\.nextNumber))
        }
      }
    }
    write([], to: file, owed: &owed)
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

  private func write(_ batch: ArraySlice<Work>, to file: OutboxFile?, owed: inout [UInt64]) {
    var changes = owed.map(OutboxFile.Change.forget)
    for work in batch {
      switch work {
      case .keep(let number, let message, _): changes.append(.keep(number, message))
      case .forget(let number):
        changes.append(.forget(number))
        owed.append(number)
      case .refuse, .close: break
      }
    }
    var failure: OutboxError?
    do throws(FileFailure) {
      guard let file else { return end(batch, .store("it was closed")) }
      try file.write(changes)
      owed = []
    } catch {
      failure = .store(error.reason)
    }
    end(batch, failure)
  }

  /// Tells how the batch has ended, in the order of the calls.
  private func end(_ batch: ArraySlice<Work>, _ failure: OutboxError?) {
    for work in batch {
      switch work {
      case .keep(let number, _, let completion):
        guard let failure else {
          completion(.success(number))
          continue
        }
        state.withLock { _ = $0.release(number) }
        completion(.failure(failure))
      case .refuse(let error, let completion): completion(.failure(error))
      case .forget, .close: break
      }
    }
  }
}
