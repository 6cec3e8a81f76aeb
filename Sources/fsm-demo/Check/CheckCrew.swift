import Dispatch
import Foundation
import NetSim
import Synchronization

/// Threads that share out the stories of some seeds.
///
/// Each takes some seeds in a row whenever it has none left, and keeps books of its own; what those
/// add up to does not depend on who took which.
final class CheckCrew: Sendable {
  private struct Books {
    /// The first seed that nobody has taken; nil if there is none.
    var next: UInt64?
    var reports: [CheckSummary] = []
  }

  private let profile: CheckProfile
  private let seeds: ClosedRange<UInt64>
  private let jobs: Int
  /// How many seeds one takes at a time: enough that nobody waits for the books, few enough that
  /// all are busy to the end.
  private let pieceSize: UInt64
  /// Whether one story that fails is enough.
  private let stopsAtFailure: Bool
  private let books: Mutex<Books>
  private let done = Atomic<Int>(0)
  private let failed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  init(
    _ profile: CheckProfile, seeds: ClosedRange<UInt64>, jobs: Int, stopsAtFailure: Bool
  ) {
    self.stopsAtFailure = stopsAtFailure
    self.profile = profile
    self.seeds = seeds
    self.jobs = jobs
    pieceSize = max(16, (seeds.upperBound - seeds.lowerBound) / 4096)
    books = Mutex(Books(next: seeds.lowerBound))
  }

  /// How far they are.
  var progress: CheckProgress {
    CheckProgress(
      done: done.load(ordering: .relaxed), of: Int(seeds.upperBound - seeds.lowerBound) + 1,
      failed: failed.load(ordering: .relaxed))
  }

  /// Runs the stories, to the end or until they are stopped.
  /// - Parameter observe: Hears ten times a second that they are at work.
  func run(_ observe: () -> Void) -> CheckSummary {
    let ends = DispatchSemaphore(value: 0)
    for _ in 0..<jobs {
      let thread = Thread { [self] in
        work()
        ends.signal()
      }
      // What threads have by themselves differs between systems.
      thread.stackSize = 4 << 20
      thread.start()
    }
    for _ in 0..<jobs {
      while ends.wait(timeout: .now() + .milliseconds(100)) == .timedOut { observe() }
    }
    var summary = CheckSummary(profile: profile.name)
    for report in books.withLock({ $0.reports }) {
      do { try summary.merge(report) } catch { preconditionFailure("seeds taken twice: \(error)") }
    }
    return summary
  }

  /// Lets everybody finish the story that runs, and no more.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  private func work() {
    var check = Check(profile)
    while let piece = nextPiece() {
      for seed in piece {
        if isStopped.load(ordering: .relaxed) { break }
        let failure = check.run(seed: seed)
        done.add(1, ordering: .relaxed)
        guard failure != nil else { continue }
        failed.add(1, ordering: .relaxed)
        if stopsAtFailure { stop() }
      }
    }
    let report = check.report
    books.withLock { $0.reports.append(report) }
  }

  private func nextPiece() -> ClosedRange<UInt64>? {
    if isStopped.load(ordering: .relaxed) { return nil }
    return books.withLock { books in
      guard let first = books.next else { return nil }
      let last = seeds.upperBound - first < pieceSize ? seeds.upperBound : first + pieceSize - 1
      books.next = last == seeds.upperBound ? nil : last + 1
      return first...last
    }
  }
}
